//! A future as one event, whoever polls it.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use metaspy_core::causality::{Carried as Cause, carried};
use metaspy_core::hook::{AsyncCall, Reify, show};
use metaspy_core::{EventId, Outcome, Site, Subject};
use pin_project_lite::pin_project;

use super::carry::Carried;
use super::task_sites;

/// Makes events of futures.
pub trait FutureExt: Future + Sized {
    /// This future as a task with a name. What it does has the event as its cause that it is made in.
    #[track_caller]
    fn spied(self, name: &'static str) -> SpiedFuture<Self> {
        SpiedFuture::new(self, task_sites::of(name, Location::caller()))
    }

    /// This future, with the cause that it has here, and no event of its own.
    fn carried(self) -> Carried<Self> {
        Carried::with_cause(carried(), self)
    }

    /// This future, with this event as the cause of what it does: the receipt of what it works on, say. It has no event of
    /// its own.
    fn caused_by(self, cause: Option<EventId>) -> Carried<Self> {
        Carried::with_cause(Cause::new(cause), self)
    }
}

impl<F: Future> FutureExt for F {}

pin_project! {
    /// A future that is an event from its first poll to its end. Dropped before, it was cancelled. Its subject is the
    /// task, each its own; its argument `waited` says how long it waited for its first poll.
    #[must_use = "futures do nothing unless they are polled"]
    pub struct SpiedFuture<F> {
        #[pin]
        future: F,
        // Behind the future: what that does when it is dropped is still within the call.
        task: Task,
    }
}

/// A task that was made: two words, and what it needs besides if somebody looks.
struct Task {
    cause: Cause,
    stage: Stage,
}

enum Stage {
    /// It was made while nobody looked.
    Made(&'static Site),
    /// It was made then, while somebody did.
    Seen(Box<(&'static Site, Instant)>),
    /// It was polled while nobody looked: it is never looked at.
    Unobserved,
    Observed(Box<AsyncCall>),
}

impl Stage {
    /// It is polled for the first time.
    fn begin(&mut self) {
        let (site, made) = match self {
            Stage::Made(site) => (*site, None),
            Stage::Seen(seen) => (seen.0, Some(seen.1)),
            Stage::Unobserved | Stage::Observed(_) => return,
        };
        *self = match site.is_armed() {
            true => Stage::Observed(Box::new(call(site, made))),
            false => Stage::Unobserved,
        };
    }
}

#[cold]
fn call(site: &'static Site, made: Option<Instant>) -> AsyncCall {
    let Some(waited) = made.map(|made| Waited(made.elapsed())) else { return AsyncCall::new(site) };
    AsyncCall::showing(site, show(site, Subject::NONE, |reify: &mut Reify<'_>| reify.arg("waited", &waited)))
}

/// Formatted with little: it is written for each task.
struct Waited(Duration);

impl fmt::Debug for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        write!(f, "{}.{} µs", ns / 1_000, ns % 1_000 / 100)
    }
}

impl<F> SpiedFuture<F> {
    #[inline]
    pub(super) fn new(future: F, site: &'static Site) -> Self {
        // Without the clock while nobody looks.
        let stage = match site.is_armed() {
            true => Stage::Seen(Box::new((site, Instant::now()))),
            false => Stage::Made(site),
        };
        SpiedFuture { future, task: Task { cause: carried(), stage } }
    }
}

impl<F: Future> Future for SpiedFuture<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _because = this.task.cause.because();
        this.task.stage.begin();
        match &mut this.task.stage {
            Stage::Observed(call) => {
                call.poll(task_sites::next_task, || this.future.poll(context), |_, _| Outcome::Returned)
            }
            _ => this.future.poll(context),
        }
    }
}

impl<F: fmt::Debug> fmt::Debug for SpiedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SpiedFuture").field(&self.future).finish()
    }
}
