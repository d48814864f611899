//! The epoch of the process.

use std::sync::atomic::{AtomicU32, Ordering};

/// The epoch: it changes whenever a profiler is installed or uninstalled, and a lane that meets a
/// new one continues in a new block.
pub static EPOCH: AtomicU32 = AtomicU32::new(1);

/// The epoch.
#[inline]
pub fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}
