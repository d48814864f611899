//! Growing: memory is allocated and made present before a lane may touch it.

use std::sync::atomic::Ordering;

use crate::format::{BLOCK_BYTES, CHUNK_BLOCKS, CHUNK_BYTES, superblock as sb};
use crate::platform::map;
use crate::recorder::log::Log;
use crate::recorder::round::Round;

/// Blocks allocated at a time: 4 MiB.
const STEP: u64 = 16 * CHUNK_BLOCKS as u64;

impl Log {
    /// Allocates ahead of the lanes, and makes pages present ahead of them. True if there is more to do at once.
    pub(super) fn grow(&self, round: &mut Round) -> bool {
        // Nobody takes a block any more, and a file that was cut to what was used stays as it is.
        if self.is_stopped() {
            return false;
        }
        let fresh = self.word(sb::FRESH).load(Ordering::Acquire);
        let grown = self.word(sb::GROWN).load(Ordering::Relaxed);
        // A file grows by large steps, and well before it must: the disk may take its time.
        let margin = if self.file.is_some() { STEP } else { 0 };
        let ahead = (fresh + (round.target * 2).max(margin)).min(self.layout.blocks);
        if let Some((path, file)) = &self.file
            && grown < ahead
            && !self.is_short()
        {
            let step = STEP.max(round.target).min(self.layout.blocks - grown).next_multiple_of(CHUNK_BLOCKS as u64);
            let step = step.min(self.layout.blocks - grown);
            let offset = self.layout.chunks.offset as u64 + grown * BLOCK_BYTES as u64;
            let bytes = step * BLOCK_BYTES as u64;
            match map::allocate(file, offset, bytes).and_then(|()| self.populate(grown, step)) {
                Ok(()) => {
                    self.present.store(grown + step, Ordering::Relaxed);
                    self.word(sb::GROWN).store(grown + step, Ordering::Release);
                    return true;
                }
                Err(error) => {
                    self.short.store(true, Ordering::Release);
                    let mebibytes = (grown * BLOCK_BYTES as u64) >> 20;
                    self.note(&format!(
                        "{} stays at {mebibytes} MiB of events: {error}. Make room, or ask for a smaller budget.",
                        path.display()
                    ));
                }
            }
        } else if self.file.is_none() && self.present.load(Ordering::Relaxed) < ahead {
            let from = self.present.load(Ordering::Relaxed).max(fresh);
            let step = (ahead - from).min(CHUNK_BLOCKS as u64 * 4);
            // Memory comes when it is touched; making it present beforehand only spares the hook the wait.
            let _ = self.populate(from, step);
            self.present.store(from + step, Ordering::Relaxed);
            return from + step < ahead;
        }
        false
    }

    /// Cuts a file to what was used of it, while the collector is kept from it. The lanes may still be taking a block each; there is room for that.
    pub(super) fn trim(&self) {
        let Some((_, file)) = &self.file else { return };
        let used = self.word(sb::FRESH).load(Ordering::Acquire) + self.word(sb::LANES_USED).load(Ordering::Acquire);
        let kept = (used + 1).next_multiple_of(CHUNK_BLOCKS as u64);
        if kept < self.word(sb::GROWN).load(Ordering::Acquire).max(self.layout.blocks) {
            self.word(sb::GROWN).fetch_min(kept, Ordering::AcqRel);
            // A file that stays longer than it need be is no fault.
            let _ = file.set_len(self.layout.chunks.offset as u64 + kept * BLOCK_BYTES as u64);
        }
    }

    /// Makes the pages of `blocks` blocks from `place` on present.
    pub(super) fn populate(&self, place: u64, blocks: u64) -> std::io::Result<()> {
        let Some(map) = self.region.map() else { return Ok(()) };
        let offset = self.layout.chunks.offset + place as usize * BLOCK_BYTES;
        map::populate(map, offset, blocks as usize * BLOCK_BYTES)
    }

    /// Whether the log could not get all the room that it was promised.
    pub(super) fn is_short(&self) -> bool {
        self.short.load(Ordering::Acquire)
    }
}

const _: () = assert!(STEP as usize * BLOCK_BYTES == 16 * CHUNK_BYTES);
