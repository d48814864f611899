//! Differences between systems, one small module each. Measurements are made on Linux on x86-64;
//! other systems use a portable fallback behind the same interface.

pub mod clock;
pub mod exit;
pub(crate) mod fork;
pub mod fork_gate;
pub(crate) mod last_thread;
pub mod lasting_pages;
pub mod own_pages;
pub mod page_vec;
#[cfg(unix)]
pub mod peer;
pub mod process;
pub mod processor;
pub mod program;
pub mod readers;
pub(crate) mod saving;
pub mod signal_mask;
mod switch;
pub mod thread_end;
pub(crate) mod thread_word;
pub mod tick;
pub(crate) mod uncounted_thread;
mod warn;

pub use metaspy_reader::platform::{library, map, random, truncation};
pub use switch::switch;
pub use warn::warn;

/// Locks. A fork waits for those of [`lock::lock`]; those of [`lock::lock_for_long`] may be held
/// while code of the program runs or a recording is read, and protect values that a forked child
/// does not use.
pub mod lock {
    use std::sync::{Mutex, MutexGuard, TryLockError};

    pub use super::fork_gate::{Locked, lock};
    pub use metaspy_reader::platform::lock::lock as lock_for_long;

    /// Tries of [`try_lock_soon`]: about as long as a block takes to be folded, some µs.
    const TRIES: usize = 200;

    /// Locks without waiting. A panic of a holder leaves nothing half done here that a kill would
    /// not leave as well.
    pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        match mutex.try_lock() {
            Ok(locked) => Some(locked),
            Err(TryLockError::Poisoned(locked)) => Some(locked.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Locks a mutex that other threads hold only for a moment. Returns `None` if the holder has
    /// lost its processor.
    pub(crate) fn try_lock_soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        (0..TRIES).find_map(|_| {
            let locked = try_lock(mutex);
            if locked.is_none() {
                std::hint::spin_loop();
            }
            locked
        })
    }
}
