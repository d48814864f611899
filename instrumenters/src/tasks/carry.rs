//! Transport of a cause to other threads, without an event.

use std::pin::Pin;
use std::task::{Context, Poll};

use metaspy_core::causality::{self, carried};
use pin_project_lite::pin_project;

/// Wraps a closure, so that the cause of its work is this thread's current event, on whatever
/// thread it runs.
pub fn carry<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let cause = carried();
    move || {
        let _because = cause.because();
        work()
    }
}

pin_project! {
    /// Future whose work has a fixed cause, on whatever thread it is polled.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are polled"]
    pub struct Carried<F> {
        #[pin]
        future: F,
        cause: causality::Carried,
    }
}

impl<F> Carried<F> {
    pub(super) fn with_cause(cause: causality::Carried, future: F) -> Self {
        Carried { future, cause }
    }
}

impl<F: Future> Future for Carried<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _because = this.cause.because();
        this.future.poll(context)
    }
}
