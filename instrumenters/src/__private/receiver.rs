//! The subject of a call without `subject = …`: the receiver's identity, or else its place.
//!
//! `(&Receiver(it)).subject_or(place)` is one of three methods. The compiler takes the first that exists: for receivers
//! with a [`DirectIdentity`], for other receivers that implement [`Identify`], and for all others.

use metaspy_core::hook::{self, AddressIdentity as PlaceOf};
use metaspy_core::{Identify, Key, ObjectId, Owner, Subject};

use crate::__private::subject::subject;
use crate::{Spied, Watched};

/// A receiver.
pub struct Receiver<'a, T: ?Sized>(pub &'a T);

/// Values whose [`Identify::identify`] does not panic and calls no observed function, so it needs no guard.
/// `#[derive(Identify)]` implements it.
pub trait DirectIdentity: Identify {}

impl DirectIdentity for Subject {}
impl DirectIdentity for ObjectId {}
impl<K: Key> DirectIdentity for (&Owner, K) {}
impl<T> DirectIdentity for Spied<T> {}
impl<T> DirectIdentity for Watched<T> {}

macro_rules! plain {
    ($($key:ty),*) => { $(impl DirectIdentity for $key {})* };
}

plain!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);

impl<T: DirectIdentity + ?Sized> Receiver<'_, T> {
    /// The identity of the value.
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }

    /// The identity of the receiver.
    #[inline(always)]
    pub fn subject_or(&self, _: &PlaceOf) -> Subject {
        self.0.identify()
    }

    /// The identity of the receiver.
    #[inline(always)]
    pub fn subject_or_place(&self) -> Subject {
        self.0.identify()
    }

    /// The identity of the receiver.
    #[inline(always)]
    pub fn subject_or_none(&self) -> Subject {
        self.0.identify()
    }
}

/// Values whose [`Identify::identify`] may panic or call observed functions: it runs under a guard.
pub trait GuardedIdentity {
    /// The identity of the value.
    fn identity(&self) -> Subject;
    /// The identity of the receiver.
    fn subject_or(&self, _: &PlaceOf) -> Subject;
    /// The identity of the receiver.
    fn subject_or_place(&self) -> Subject;
    /// The identity of the receiver.
    fn subject_or_none(&self) -> Subject;
}

impl<T: Identify + ?Sized> GuardedIdentity for Receiver<'_, T> {
    #[inline(never)]
    fn identity(&self) -> Subject {
        subject(|| self.0.identify())
    }

    fn subject_or(&self, _: &PlaceOf) -> Subject {
        self.identity()
    }

    fn subject_or_place(&self) -> Subject {
        self.identity()
    }

    fn subject_or_none(&self) -> Subject {
        self.identity()
    }
}

/// Receivers that do not implement [`Identify`].
pub trait AddressIdentity {
    /// The place of the receiver, for one type.
    fn subject_or(&self, place: &PlaceOf) -> Subject;
    /// The place of the receiver, for any type.
    fn subject_or_place(&self) -> Subject;
    /// No subject: the receiver is moved into the call.
    fn subject_or_none(&self) -> Subject;
}

impl<T: ?Sized> AddressIdentity for &Receiver<'_, T> {
    #[inline(always)]
    fn subject_or(&self, place: &PlaceOf) -> Subject {
        place.of(self.0)
    }

    #[inline(always)]
    fn subject_or_place(&self) -> Subject {
        hook::place_of(self.0)
    }

    #[inline(always)]
    fn subject_or_none(&self) -> Subject {
        Subject::NONE
    }
}
