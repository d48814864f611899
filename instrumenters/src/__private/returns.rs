//! Outcome of a call by its return value, for macros that only see the name of its type.
//!
//! `Returned(&value).outcome()` is the method of [`OutcomeOf`] types. For all others, such as a
//! `QueryResult` that is a list of rows, it is the method of [`WithoutOutcome`].

use metaspy_core::Outcome;
use metaspy_core::hook::OutcomeOf;

/// Return value, whose type selects the method that finds the outcome.
pub struct Returned<'a, T: ?Sized>(pub &'a T);

impl<T: OutcomeOf + ?Sized> Returned<'_, T> {
    /// Returns the outcome that the value shows.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }
}

/// Fallback for values that show no outcome.
pub trait WithoutOutcome {
    /// Returns [`Outcome::Returned`], because the value shows no other outcome.
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        Outcome::Returned
    }
}

impl<T: ?Sized> WithoutOutcome for Returned<'_, T> {}
