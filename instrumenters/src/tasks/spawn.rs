//! Spawning of tokio's tasks.

use std::panic::Location;

use tokio::task::{self, JoinHandle};

use super::future::SpiedFuture;
use super::task_sites;
use super::thread::observed;

/// Spawns a task with [`tokio::spawn`]. The cause of the task is this thread's current event.
///
/// The task is an event at the site `FUNCTION::task`, named after the function whose future it
/// runs.
///
/// ```
/// use metaspy::prelude::*;
///
/// async fn work() {}
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// let (_, profile) = Profiler::new("tasks").observe(tasks()).profile(|| {
///     runtime.block_on(async { metaspy::tasks::spawn(work()).await })
/// })?;
/// assert_eq!(profile.counts().total(), 1);
/// # Ok::<(), InstallError>(())
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(SpiedFuture::new(future, task_sites::for_type::<F>("task", Location::caller())))
}

/// Spawns a task with [`tokio::task::spawn_local`], with the event and cause of [`spawn`].
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    task::spawn_local(SpiedFuture::new(
        future,
        task_sites::for_type::<F>("task", Location::caller()),
    ))
}

/// Runs a closure with [`tokio::task::spawn_blocking`], with the event and cause of [`spawn`]. The
/// site is `FUNCTION::blocking`.
#[track_caller]
pub fn spawn_blocking<F, R>(work: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    task::spawn_blocking(observed(work, task_sites::for_type::<F>("blocking", Location::caller())))
}
