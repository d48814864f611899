//! Set of tasks with causes.

use std::ops::{Deref, DerefMut};
use std::panic::Location;

use tokio::runtime::Handle;
use tokio::task::{self, AbortHandle, LocalSet};

use super::future::SpiedFuture;
use super::task_sites;
use super::thread::observed;

/// Set of tasks that spawns like [`spawn`](super::spawn()); see [`tokio::task::JoinSet`].
#[derive(Debug)]
pub struct JoinSet<T>(task::JoinSet<T>);

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        JoinSet(task::JoinSet::default())
    }
}

impl<T> JoinSet<T> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns tokio's set.
    pub fn into_inner(self) -> task::JoinSet<T> {
        self.0
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task with a cause, like [`tokio::task::JoinSet::spawn`].
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0
            .spawn(SpiedFuture::new(future, task_sites::for_type::<F>("task", Location::caller())))
    }

    /// Spawns a task with a cause, like [`tokio::task::JoinSet::spawn_on`].
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn_on(
            SpiedFuture::new(future, task_sites::for_type::<F>("task", Location::caller())),
            handle,
        )
    }

    /// Spawns a task with a cause, like [`tokio::task::JoinSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local(SpiedFuture::new(
            future,
            task_sites::for_type::<F>("task", Location::caller()),
        ))
    }

    /// Spawns a task with a cause, like [`tokio::task::JoinSet::spawn_local_on`].
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local_on(
            SpiedFuture::new(future, task_sites::for_type::<F>("task", Location::caller())),
            local_set,
        )
    }

    /// Runs a blocking closure with a cause, like [`tokio::task::JoinSet::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, work: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.0.spawn_blocking(observed(
            work,
            task_sites::for_type::<F>("blocking", Location::caller()),
        ))
    }

    /// Runs a blocking closure with a cause, like [`tokio::task::JoinSet::spawn_blocking_on`].
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, work: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.0.spawn_blocking_on(
            observed(work, task_sites::for_type::<F>("blocking", Location::caller())),
            handle,
        )
    }
}

impl<T> From<task::JoinSet<T>> for JoinSet<T> {
    fn from(set: task::JoinSet<T>) -> Self {
        JoinSet(set)
    }
}

impl<T> Deref for JoinSet<T> {
    type Target = task::JoinSet<T>;

    fn deref(&self) -> &task::JoinSet<T> {
        &self.0
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut task::JoinSet<T> {
        &mut self.0
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        futures.into_iter().for_each(|future| drop(set.spawn(future)));
        set
    }
}
