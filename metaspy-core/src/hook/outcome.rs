//! The outcome of a call from its returned value.

use std::task::Poll;

use crate::event::Outcome;

/// The outcome of a call, read from its return value.
pub trait OutcomeOf {
    /// *Succeeded* or *failed*.
    fn outcome(&self) -> Outcome;
}

impl<T, E> OutcomeOf for Result<T, E> {
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        if self.is_ok() { Outcome::Succeeded } else { Outcome::Failed }
    }
}

impl<T> OutcomeOf for Option<T> {
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        if self.is_some() { Outcome::Succeeded } else { Outcome::Failed }
    }
}

impl<T: OutcomeOf> OutcomeOf for Poll<T> {
    #[inline(always)]
    fn outcome(&self) -> Outcome {
        match self {
            Poll::Ready(value) => value.outcome(),
            Poll::Pending => Outcome::Returned,
        }
    }
}
