//! Locks that ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex, even if another thread panicked while it held it: the locked values are
/// consistent between any two statements.
#[cfg(not(tsan))]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the mutex without waiting in the standard library, because the thread sanitizer does not
/// see such a wait.
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
