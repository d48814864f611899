//! The outcome of a call by its return value, for macros that see only the name of its type.
//!
//! `Returned(&value).outcome()` is the method of [`OutcomeOf`] types. For all others, such as a `QueryResult` that is a list
//! of rows, it is the method of [`WithoutOutcome`].

use metaspy_core::Outcome;
use metaspy_core::hook::OutcomeOf;

/// A return value.
pub struct Returned<'a, T: ?Sized>(pub &'a T);

impl<T: OutcomeOf + ?Sized> Returned<'_, T> {
    /// The outcome of the call.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }
}

/// Values without an outcome.
pub trait WithoutOutcome {
    /// The call returned.
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        Outcome::Returned
    }
}

impl<T: ?Sized> WithoutOutcome for Returned<'_, T> {}
