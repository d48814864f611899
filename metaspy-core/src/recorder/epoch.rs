//! The epoch of the process.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::format::arena::Entry;
use crate::format::superblock as sb;
use crate::recorder::arena::Draft;
use crate::recorder::log::current;

/// The epoch: it changes whenever a profiler is installed or uninstalled, and a lane that meets a new one continues in
/// a new block.
pub(crate) static EPOCH: AtomicU32 = AtomicU32::new(1);

/// The epoch.
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// Begins a new epoch, and writes the reason into the recording.
pub(crate) fn next_epoch(why: &str) -> u32 {
    let epoch = EPOCH.fetch_add(1, Ordering::AcqRel) + 1;
    if let Some(log) = current() {
        log.word(sb::EPOCH).store(u64::from(epoch), Ordering::Release);
        log.append(Draft::new(Entry::Epoch, epoch).word(crate::clock::now()).text(why));
    }
    epoch
}
