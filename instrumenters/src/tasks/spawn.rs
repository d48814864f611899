//! Tasks of tokio.

use std::panic::Location;

use tokio::task::{self, JoinHandle};

use super::future::SpiedFuture;
use super::task_sites;
use super::thread::observed;

/// As [`tokio::spawn`]: what the task does has the event as its cause that this thread is in now. The task is an event at
/// the site `FUNCTION::task`, after the function whose future it runs.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(SpiedFuture::new(future, task_sites::of_type::<F>("task", Location::caller())))
}

/// As [`tokio::task::spawn_local`], likewise.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    task::spawn_local(SpiedFuture::new(future, task_sites::of_type::<F>("task", Location::caller())))
}

/// As [`tokio::task::spawn_blocking`], likewise; the site is `FUNCTION::blocking`.
#[track_caller]
pub fn spawn_blocking<F, R>(work: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    task::spawn_blocking(observed(work, task_sites::of_type::<F>("blocking", Location::caller())))
}
