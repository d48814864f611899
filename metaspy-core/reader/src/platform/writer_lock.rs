//! Lock that a process holds on the file that it records into. The system releases it when the
//! process ends for any reason, and other PID namespaces see it.

use std::fs::{File, TryLockError};

/// Maximum number of attempts of the writer. Other processes hold the lock only for a moment.
const TRIALS: usize = 50;

/// Takes the lock until the file is closed. Does nothing if the file system has no locks.
pub fn take(file: &File) {
    for _ in 0..TRIALS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}

/// Releases the lock of a recording that was closed.
pub fn release(file: &File) {
    // A file system without locks has nothing to release.
    let _ = file.unlock();
}

/// Returns true if a process records into the file; `None` if the file system has no locks. It
/// takes the lock for a moment.
pub fn is_taken(file: &File) -> Option<bool> {
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            Some(false)
        }
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}
