//! Sealing: a file that is closed says what it holds, so that what is gone from it later is missed.

use std::sync::atomic::Ordering;

use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::Log;
use crate::store::Sealed;

impl Log {
    /// Writes down what is there. Nothing of it leaves any more: a log that is stopped folds nothing.
    pub(super) fn seal(&self) {
        if self.file.is_none() {
            return;
        }
        // No round may be under way that began before the log was stopped.
        let _collecting = lock(&self.collecting);
        let Some(held) = Sealed::count(self.region.words()) else { return };
        self.word(sb::SEALED_EVENTS).store(held.events, Ordering::Relaxed);
        self.word(sb::SEALED_COUNTED).store(held.counted, Ordering::Relaxed);
        self.word(sb::SEALED_BLOCKS).store(held.blocks, Ordering::Release);
    }
}
