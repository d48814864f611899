//! What a return value tells, where only its type's name is known when the hook is written.
//!
//! `Told(&value).outcome()` is the method of values that tell how a call went, and where there is none, as in a
//! `QueryResult` that is a list of rows, the one of [`TellsNothing`].

use metaspy_core::Outcome;
use metaspy_core::hook::OutcomeOf;

/// A value that was returned.
pub struct Told<'a, T: ?Sized>(pub &'a T);

impl<T: OutcomeOf + ?Sized> Told<'_, T> {
    /// How the call ended.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }
}

/// Values that do not tell how the call went.
pub trait TellsNothing {
    /// It returned, and that is all.
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        Outcome::Returned
    }
}

impl<T: ?Sized> TellsNothing for Told<'_, T> {}
