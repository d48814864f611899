//! Threads with causes.

use std::io;
use std::panic::Location;
use std::thread::{self, JoinHandle};

use metaspy_core::causality::carried;
use metaspy_core::hook::{Call, enter};
use metaspy_core::{Outcome, Site};

use super::task_sites;

/// Spawns a thread with [`std::thread::spawn`]. Its cause is this thread's current event, and it is
/// an event at the site `FUNCTION::thread`.
#[track_caller]
pub fn spawn<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    thread::spawn(observed(work, task_sites::for_type::<F>("thread", Location::caller())))
}

/// Spawns a thread with [`std::thread::Builder::spawn`], with the event and cause of [`spawn`].
#[track_caller]
pub fn build<F, T>(builder: thread::Builder, work: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    builder.spawn(observed(work, task_sites::for_type::<F>("thread", Location::caller())))
}

/// Wraps a closure as an event, on whatever thread it runs. Its cause is this thread's current
/// event.
pub(super) fn observed<R>(work: impl FnOnce() -> R, site: &'static Site) -> impl FnOnce() -> R {
    let cause = carried();
    move || {
        let _because = cause.because();
        let call =
            if site.is_armed() { enter(site, task_sites::next_task()) } else { Call::inert() };
        let value = work();
        call.done(Outcome::Returned);
        value
    }
}
