//! Futures as events.

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

/// Extension that gives futures events and causes.
pub trait FutureExt: Future + Sized {
    /// Wraps this future as a task with a name. Its cause is this thread's current event.
    #[track_caller]
    fn spied(self, name: &'static str) -> SpiedFuture<Self> {
        SpiedFuture::new(self, task_sites::named(name, Location::caller()))
    }

    /// Wraps this future without making it an event. The cause of its work is this thread's current
    /// event.
    fn carried(self) -> Carried<Self> {
        Carried::with_cause(carried(), self)
    }

    /// Wraps this future without making it an event. The cause of its work is `cause`, for example
    /// the receipt of a message.
    fn caused_by(self, cause: Option<EventId>) -> Carried<Self> {
        Carried::with_cause(Cause::new(cause), self)
    }
}

impl<F: Future> FutureExt for F {}

pin_project! {
    /// Future that is an event from its first poll to its end. Dropping it earlier cancels it.
    ///
    /// Each future is a subject. The argument `waited` is the time from its creation to the first
    /// poll.
    #[must_use = "futures do nothing unless they are polled"]
    pub struct SpiedFuture<F> {
        #[pin]
        future: F,
        // This field follows the future, whose drop is part of the call.
        task: Task,
    }
}

/// State of a task, which has two words if its site is not armed.
struct Task {
    cause: Cause,
    stage: Stage,
}

enum Stage {
    /// The task was created while the site was not armed.
    Created(&'static Site),
    /// The task was created at this time, while the site was armed.
    Timed(Box<(&'static Site, Instant)>),
    /// The first poll was while the site was not armed, so the task is never observed.
    Unobserved,
    Observed(Box<AsyncCall>),
}

impl Stage {
    /// Begins the event at the first poll.
    fn begin(&mut self) {
        let (site, made) = match self {
            Stage::Created(site) => (*site, None),
            Stage::Timed(seen) => (seen.0, Some(seen.1)),
            Stage::Unobserved | Stage::Observed(_) => return,
        };
        *self = if site.is_armed() {
            Stage::Observed(Box::new(call(site, made)))
        } else {
            Stage::Unobserved
        };
    }
}

#[cold]
fn call(site: &'static Site, made: Option<Instant>) -> AsyncCall {
    let Some(waited) = made.map(|made| Waited(made.elapsed())) else { return AsyncCall::new(site) };
    AsyncCall::showing(
        site,
        show(site, Subject::NONE, |reify: &mut Reify<'_>| reify.arg("waited", &waited)),
    )
}

/// Duration with a cheap format, because it is written for each task.
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
        // The clock is not read if the site is not armed.
        let stage = if site.is_armed() {
            Stage::Timed(Box::new((site, Instant::now())))
        } else {
            Stage::Created(site)
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
            Stage::Observed(call) => call.poll(
                task_sites::next_task,
                || this.future.poll(context),
                |_, _| Outcome::Returned,
            ),
            _ => this.future.poll(context),
        }
    }
}

impl<F: fmt::Debug> fmt::Debug for SpiedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SpiedFuture").field(&self.future).finish()
    }
}
