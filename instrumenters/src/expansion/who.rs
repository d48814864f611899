//! Whom a call without a `subject` is about: what the receiver says, else the place where it is.
//!
//! The compiler prefers the methods of [`Who`] itself, which exist for receivers with an identity, to those of
//! [`WithoutIdentity`].

use metaspy_core::{Identify, Subject};

use crate::expansion::place_of::{self, PlaceOf};
use crate::expansion::subject;

/// A receiver.
pub struct Who<'a, T: ?Sized>(pub &'a T);

impl<T: Identify + ?Sized> Who<'_, T> {
    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or(&self, _: &PlaceOf) -> Subject {
        subject(|| self.0.identify())
    }

    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or_place(&self) -> Subject {
        subject(|| self.0.identify())
    }

    /// What the receiver says.
    #[inline(always)]
    pub fn subject_or_none(&self) -> Subject {
        subject(|| self.0.identify())
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

impl<T: ?Sized> WithoutIdentity for Who<'_, T> {
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
