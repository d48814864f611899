//! A future as one event, whoever polls it.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use metaspy_core::causality::{Carried as Cause, carried};
use metaspy_core::hook::{AsyncCall, Reify, show};
use metaspy_core::{EventId, Outcome, Site, Subject};
use pin_project_lite::pin_project;

use super::carry::Carried;
use super::name;

/// Makes events of futures.
pub trait Spy: Future + Sized {
    /// This future as a task with a name. What it does has the event as its cause that it is made in.
    #[track_caller]
    fn spied(self, name: &'static str) -> Spied<Self> {
        Spied::new(self, name::of(name, Location::caller()))
    }

    /// This future, with the cause that it has here, and no event of its own.
    fn carried(self) -> Carried<Self> {
        Carried::by(carried(), self)
    }

    /// This future, with this event as the cause of what it does: the receipt of what it works on, say. It has no event of
    /// its own.
    fn caused_by(self, cause: Option<EventId>) -> Carried<Self> {
        Carried::by(Cause::new(cause), self)
    }
}

impl<F: Future> Spy for F {}

pin_project! {
    /// A future that is an event from its first poll to its end. Dropped before, it was cancelled. Its subject is the
    /// task, each its own; its argument `waited` says how long it waited for its first poll.
    #[must_use = "futures do nothing unless they are polled"]
    pub struct Spied<F> {
        #[pin]
        future: F,
        // Behind the future: what that does when it is dropped is still within the call.
        call: AsyncCall,
        task: Task,
    }
}

/// A task that was made.
struct Task {
    site: &'static Site,
    cause: Cause,
    /// When, until it is polled.
    made: Option<Instant>,
}

impl<F> Spied<F> {
    pub(super) fn new(future: F, site: &'static Site) -> Self {
        // Without the clock while nobody looks.
        let made = site.is_armed().then(Instant::now);
        Spied { future, call: AsyncCall::new(site), task: Task { site, cause: carried(), made } }
    }
}

impl<F: Future> Future for Spied<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _because = this.task.cause.because();
        if let Some(made) = this.task.made.take() {
            let waited = made.elapsed();
            let shown = show(this.task.site, Subject::NONE, |reify: &mut Reify<'_>| reify.arg("waited", &waited));
            *this.call = AsyncCall::showing(this.task.site, shown);
        }
        this.call.poll(name::next_task, || this.future.poll(context), |_, _| Outcome::Returned)
    }
}

impl<F: fmt::Debug> fmt::Debug for Spied<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spied").field(&self.future).finish()
    }
}
