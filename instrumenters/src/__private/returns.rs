//! What a return value tells, where only its type's name is known when the hook is written.
//!
//! `Returned(&value).outcome()` is the method of values that tell how a call went, and where there is none, as in a
//! `QueryResult` that is a list of rows, the one of [`WithoutOutcome`].

use metaspy_core::Outcome;
use metaspy_core::hook::OutcomeOf;

/// A value that was returned.
pub struct Returned<'a, T: ?Sized>(pub &'a T);

impl<T: OutcomeOf + ?Sized> Returned<'_, T> {
    /// How the call ended.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }
}

/// Values that do not tell how the call went.
pub trait WithoutOutcome {
    /// It returned, and that is all.
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        Outcome::Returned
    }
}

impl<T: ?Sized> WithoutOutcome for Returned<'_, T> {}
