//! Closing a log. A closed file states its content, so that a reader notices later losses.

use std::sync::atomic::Ordering;

use crate::format::superblock as sb;
use crate::platform::lock::lock_for_long;
use crate::recorder::listener::{self, sync_names};
use crate::recorder::log::Log;
use crate::store::ClosingCounts;

impl Log {
    /// Writes everything that a reader needs, and marks the log as closed. It runs once: a closed
    /// file belongs to its owner, who may have replaced it.
    pub fn close(&self) {
        self.close_with(None);
    }

    /// As [`Log::close`], at the exit of the process with this status.
    pub(crate) fn close_with(&self, exit: Option<u8>) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.word(sb::EXIT)
            .store(exit.map_or(0, |status| 1 + u64::from(status)), Ordering::Relaxed);
        self.stop();
        self.round();
        if let Some(mut keeper) = lock_for_long(&self.collecting).keeper.take() {
            keeper.finish(self);
        }
        self.calibrate();
        sync_names(self);
        self.word(sb::LAST_TICK).store(crate::clock::now(), Ordering::Release);
        self.seal();
        self.read_on();
        listener::round_ended(self);
        let _collecting = lock_for_long(&self.collecting);
        #[cfg(target_os = "linux")]
        let is_packed = self.pack();
        #[cfg(not(target_os = "linux"))]
        let is_packed = false;
        if !is_packed {
            self.trim();
        }
        self.word(sb::STATE).store(sb::STATE_CLOSED, Ordering::Release);
        self.closed.store(true, Ordering::Release);
        if let Some(thread) = self.collector.get() {
            thread.unpark();
        }
    }

    /// Writes how much there is. Nothing leaves after this: a stopped log folds nothing.
    fn seal(&self) {
        if self.file.is_none() {
            return;
        }
        // A round and folds that began before the log was stopped must have ended.
        let _collecting = lock_for_long(&self.collecting);
        self.await_folds();
        let Some(held) = ClosingCounts::count(self.region.words()) else { return };
        self.word(sb::SEALED_EVENTS).store(held.events, Ordering::Relaxed);
        self.word(sb::SEALED_COUNTED).store(held.counted, Ordering::Relaxed);
        self.word(sb::SEALED_BLOCKS).store(held.blocks, Ordering::Release);
    }
}
