//! The lock that a process holds on the file that it records into. The system releases it when the process ends,
//! however it ends, and other PID namespaces see it.

use std::fs::{File, TryLockError};

/// Trials of the writer. Another process holds the lock only while it looks.
const TRIALS: usize = 50;

/// Takes the lock until the file is closed. A file system without locks has none.
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

/// True if a process records into the file; `None` if the file system has no locks. It takes the lock for a moment.
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
