//! Condition variable of the standard library. A waiting thread does not hold its mutex.

use std::sync::{self, LockResult, PoisonError, WaitTimeoutResult};
use std::time::Duration;

use super::std::MutexGuard;

/// Condition variable for a [`Mutex`](super::Mutex); see [`sync::Condvar`].
///
/// A wait is not an event. It ends the hold of the mutex, and another hold begins afterwards.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Condvar(sync::Condvar::new())
    }

    /// Waits like [`sync::Condvar::wait`].
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, sites) = guard.release();
        MutexGuard::again(sites, self.0.wait(guard))
    }

    /// Waits like [`sync::Condvar::wait_while`].
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        let (guard, sites) = guard.release();
        MutexGuard::again(sites, self.0.wait_while(guard, condition))
    }

    /// Waits like [`sync::Condvar::wait_timeout`].
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

    /// Wakes a waiting thread, like [`sync::Condvar::notify_one`].
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads, like [`sync::Condvar::notify_all`].
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
