//! Whom a call without a `subject` is about: what the receiver says, else the place where it is.
//!
//! `(&Who(it)).subject_or(place)` is one of three methods, of which the compiler takes the first that there is: of
//! receivers that say who they are without ado, of those that must be asked with care, and of all others.

use metaspy_core::{Identify, Key, ObjectId, Owner, Subject};

use crate::expansion::ask::subject;
use crate::expansion::place_of::{self, PlaceOf};
use crate::{Spied, Watched};

/// A receiver.
pub struct Who<'a, T: ?Sized>(pub &'a T);

/// Values whose [`Identify::identify`] does not panic and calls nothing that could be observed: it needs no care.
/// `#[derive(Identify)]` makes such.
pub trait PlainIdentity: Identify {}

impl PlainIdentity for Subject {}
impl PlainIdentity for ObjectId {}
impl<K: Key> PlainIdentity for (&Owner, K) {}
impl<T> PlainIdentity for Spied<T> {}
impl<T> PlainIdentity for Watched<T> {}

macro_rules! plain {
    ($($key:ty),*) => { $(impl PlainIdentity for $key {})* };
}

plain!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);

impl<T: PlainIdentity + ?Sized> Who<'_, T> {
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
pub trait AskedIdentity {
    /// What the value says.
    fn identity(&self) -> Subject;
    /// What the receiver says.
    fn subject_or(&self, _: &PlaceOf) -> Subject;
    /// What the receiver says.
    fn subject_or_place(&self) -> Subject;
    /// What the receiver says.
    fn subject_or_none(&self) -> Subject;
}

impl<T: Identify + ?Sized> AskedIdentity for Who<'_, T> {
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
pub trait WithoutIdentity {
    /// Where it is, by the places of its type.
    fn subject_or(&self, place: &PlaceOf) -> Subject;
    /// Where it is, whatever its type is.
    fn subject_or_place(&self) -> Subject;
    /// Nobody: it was moved into the call.
    fn subject_or_none(&self) -> Subject;
}

impl<T: ?Sized> WithoutIdentity for &Who<'_, T> {
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
