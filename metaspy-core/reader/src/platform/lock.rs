//! Locks that ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guard of the lock, even if another thread panicked with it: the locked values are consistent between any two
/// statements.
#[cfg(not(tsan))]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As above. The thread sanitizer does not see how the standard library waits for a lock, so this version never waits.
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
