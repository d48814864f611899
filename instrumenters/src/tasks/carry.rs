//! The cause, and nothing else.

use std::pin::Pin;
use std::task::{Context, Poll};

use metaspy_core::causality::{self, carried};
use pin_project_lite::pin_project;

/// Work that has the event as its cause that this thread is in now, on whatever thread it is done.
pub fn carry<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let cause = carried();
    move || {
        let _because = cause.because();
        work()
    }
}

pin_project! {
    /// A future whose work has an event as its cause that was named when it was made, on whatever thread it is polled.
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
