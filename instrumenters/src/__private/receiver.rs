//! Whom a call without a `subject` is about: what the receiver says, else the place where it is.
//!
//! `(&Receiver(it)).subject_or(place)` is one of three methods, of which the compiler takes the first that there is: of
//! receivers that say who they are without ado, of those that must be asked with care, and of all others.

use metaspy_core::{Identify, Key, ObjectId, Owner, Subject};

use crate::__private::place_of::{self, PlaceOf};
use crate::__private::subject::subject;
use crate::{Spied, Watched};

/// A receiver.
pub struct Receiver<'a, T: ?Sized>(pub &'a T);

/// Values whose [`Identify::identify`] does not panic and calls nothing that could be observed: it needs no care.
/// `#[derive(Identify)]` makes such.
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
    /// What the value says.
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }

    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or(&self, _: &PlaceOf) -> Subject {
        self.0.identify()
    }

    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or_place(&self) -> Subject {
        self.0.identify()
    }

    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or_none(&self) -> Subject {
        self.0.identify()
    }
}

/// Values that say who they are, in code that may panic or call observed methods.
pub trait GuardedIdentity {
    /// What the value says.
    fn identity(&self) -> Subject;
    /// What the receiver says.
    fn subject_or(&self, _: &PlaceOf) -> Subject;
    /// What the receiver says.
    fn subject_or_place(&self) -> Subject;
    /// What the receiver says.
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

/// Receivers that do not say who they are.
pub trait AddressIdentity {
    /// Where it is, by the places of its type.
    fn subject_or(&self, place: &PlaceOf) -> Subject;
    /// Where it is, whatever its type is.
    fn subject_or_place(&self) -> Subject;
    /// Nobody: it was moved into the call.
    fn subject_or_none(&self) -> Subject;
}

impl<T: ?Sized> AddressIdentity for &Receiver<'_, T> {
    #[inline(always)]
    fn subject_or(&self, place: &PlaceOf) -> Subject {
        place.of(self.0)
    }

    #[inline(always)]
    fn subject_or_place(&self) -> Subject {
        place_of::of_any(self.0)
    }

    #[inline(always)]
    fn subject_or_none(&self) -> Subject {
        Subject::NONE
    }
}
