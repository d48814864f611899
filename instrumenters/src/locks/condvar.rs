//! A condition variable of the standard library. While a thread waits for it, its mutex is not held.

use std::sync::{self, LockResult, PoisonError, WaitTimeoutResult};
use std::time::Duration;

use super::std::MutexGuard;

/// A [`sync::Condvar`] for a [`Mutex`](super::Mutex). A wait is no event: it ends the hold of the mutex, and another hold
/// begins afterwards.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// A condition variable.
    pub const fn new() -> Self {
        Condvar(sync::Condvar::new())
    }

    /// As the original's.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, sites) = guard.release();
        MutexGuard::again(sites, self.0.wait(guard))
    }

    /// As the original's.
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        let (guard, sites) = guard.release();
        MutexGuard::again(sites, self.0.wait_while(guard, condition))
    }

    /// As the original's.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, sites) = guard.release();
        match self.0.wait_timeout(guard, timeout) {
            Ok((guard, result)) => both(MutexGuard::again(sites, Ok(guard)), result),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                both(MutexGuard::again(sites, Err(PoisonError::new(guard))), result)
            }
        }
    }

    /// As the original's.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// As the original's.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

fn both<G, R>(guard: LockResult<G>, result: R) -> LockResult<(G, R)> {
    match guard {
        Ok(guard) => Ok((guard, result)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
    }
}
