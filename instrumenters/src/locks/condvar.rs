//! A condition of the standard library: while a thread waits for it, the mutex is not held.

use std::sync::{self, LockResult, PoisonError, WaitTimeoutResult};
use std::time::Duration;

use super::mutex::MutexGuard;

/// A [`std::sync::Condvar`] for a [`Mutex`](super::Mutex) that is watched. Its waiting is no event of its own: the holding
/// of the mutex ends with it, and another one begins afterwards.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// A condition that nobody waits for.
    pub const fn new() -> Self {
        Condvar(sync::Condvar::new())
    }

    /// As the original's.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, lock) = guard.release();
        MutexGuard::again(lock, self.0.wait(guard))
    }

    /// As the original's.
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        let (guard, lock) = guard.release();
        MutexGuard::again(lock, self.0.wait_while(guard, condition))
    }

    /// As the original's.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, lock) = guard.release();
        match self.0.wait_timeout(guard, timeout) {
            Ok((guard, result)) => both(MutexGuard::again(lock, Ok(guard)), result),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                both(MutexGuard::again(lock, Err(PoisonError::new(guard))), result)
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
