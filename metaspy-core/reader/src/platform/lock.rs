//! Taking locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock, whoever panicked while holding it: what is locked here is whole between any two statements.
#[cfg(not(tsan))]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As above. The thread sanitizer does not see how the standard library waits for a lock that somebody holds, so here
/// it never waits.
#[cfg(tsan)]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    use std::sync::TryLockError;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}
