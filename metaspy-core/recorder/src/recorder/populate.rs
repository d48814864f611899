//! Growth: memory is allocated and populated before a lane may touch it.

use std::sync::atomic::Ordering;

use crate::format::{BLOCK_BYTES, CHUNK_BLOCKS, CHUNK_BYTES, superblock as sb};
use crate::platform::map;
use crate::recorder::collector_state::CollectorState;
use crate::recorder::growing_area;
use crate::recorder::log::Log;

/// Blocks allocated at a time: 4 MiB.
const STEP: u64 = 16 * CHUNK_BLOCKS as u64;

/// Blocks that a lane allocates at a time: 64 KiB.
const LANE_STEP: u64 = 16;

impl Log {
    /// Allocates and populates memory ahead of the lanes. True if there is more to do at once.
    pub(super) fn grow(&self, round: &mut CollectorState) -> bool {
        // A stopped log hands out no blocks, and its trimmed file keeps its size.
        if self.is_stopped() {
            return false;
        }
        self.reserve_profiles();
        let fresh = self.word(sb::FRESH).load(Ordering::Acquire);
        let grown = self.word(sb::GROWN).load(Ordering::Relaxed);
        // A file grows early and by large steps, because the disk may be slow.
        let margin = if self.file.is_some() { STEP } else { 0 };
        let ahead = (fresh + (round.target * 2).max(margin)).min(self.layout.blocks);
        if let Some(file) = &self.file
            && grown < ahead
            && !self.is_short()
        {
            let step = STEP
                .max(round.target)
                .min(self.layout.blocks - grown)
                .next_multiple_of(CHUNK_BLOCKS as u64);
            let step = step.min(self.layout.blocks - grown);
            let (offset, bytes) = self.bytes_of(grown, step);
            let allocated = file.get().and_then(|file| map::allocate(file, offset, bytes));
            match allocated.and_then(|()| self.populate(grown, step)) {
                Ok(()) => {
                    self.present.store(grown + step, Ordering::Relaxed);
                    // A lane may have allocated more meanwhile.
                    self.word(sb::GROWN).fetch_max(grown + step, Ordering::AcqRel);
                    return true;
                }
                Err(error) => {
                    self.short.store(true, Ordering::Release);
                    let mebibytes = (grown * BLOCK_BYTES as u64) >> 20;
                    self.note(&format!(
                        "{} stays at {mebibytes} MiB of events: {error}. Make room, or record with a smaller budget.",
                        file.path().display()
                    ));
                }
            }
        } else if self.file.is_none() && self.present.load(Ordering::Relaxed) < ahead {
            let from = self.present.load(Ordering::Relaxed).max(fresh);
            let step = (ahead - from).min(CHUNK_BLOCKS as u64 * 4);
            // The first access would allocate the memory, too. Populating it earlier saves the hook
            // this wait.
            let _ = self.populate(from, step);
            self.present.store(from + step, Ordering::Relaxed);
            return from + step < ahead;
        }
        false
    }

    /// Allocates the next step of the profile tables before a hook needs it.
    fn reserve_profiles(&self) {
        let used = self.word(sb::PROFILES_USED).load(Ordering::Relaxed) as usize;
        if used > 0 {
            let _ = self
                .profiles
                .reserve((used + growing_area::STEP / 2).min(self.profiles.area.bytes()));
        }
    }

    /// Allocates a few blocks for a lane that finds none, because the lanes are faster than the
    /// collector. Lanes that do this at the same moment allocate the same blocks, which is no harm.
    /// False if there is no room, which the collector reports.
    pub(super) fn grow_for_lane(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let grown = self.word(sb::GROWN).load(Ordering::Acquire);
        if grown >= self.layout.blocks || self.is_short() {
            return false;
        }
        let step = LANE_STEP.min(self.layout.blocks - grown);
        let (offset, bytes) = self.bytes_of(grown, step);
        let reserved = file.get().and_then(|file| map::reserve(file, offset, bytes));
        let is_there = reserved.is_ok_and(|reserved| reserved);
        if is_there {
            self.word(sb::GROWN).fetch_max(grown + step, Ordering::AcqRel);
        }
        is_there
    }

    /// Offset and length of blocks in the file.
    fn bytes_of(&self, place: u64, blocks: u64) -> (u64, u64) {
        (
            self.layout.chunks.offset() as u64 + place * BLOCK_BYTES as u64,
            blocks * BLOCK_BYTES as u64,
        )
    }

    /// Trims a file to its used part. The caller holds the collector's lock.
    pub(super) fn trim(&self) {
        let Some(Ok(file)) = self.file.as_ref().map(|file| file.get()) else { return };
        if self.kept_blocks() < self.layout.blocks {
            // A file that stays too long is no fault.
            let _ = file.set_len(
                self.layout.chunks.offset() as u64 + self.keep_blocks() * BLOCK_BYTES as u64,
            );
        }
    }

    /// Blocks that a closed file has: the used ones, and one for each lane that is taking one.
    pub(super) fn kept_blocks(&self) -> u64 {
        let lanes = self.word(sb::LANES_USED).load(Ordering::Acquire);
        (self.word(sb::FRESH).load(Ordering::Acquire) + lanes + 1).min(self.layout.blocks)
    }

    /// Hands out no more than [`Log::kept_blocks`].
    pub(super) fn keep_blocks(&self) -> u64 {
        let kept = self.kept_blocks();
        self.word(sb::GROWN).fetch_min(kept, Ordering::AcqRel);
        kept
    }

    /// Blocks that lanes have taken for the first time.
    pub(crate) fn used_blocks(&self) -> u64 {
        self.word(sb::FRESH).load(Ordering::Relaxed)
    }

    /// Populates the pages of `blocks` blocks from `place` on.
    pub(super) fn populate(&self, place: u64, blocks: u64) -> std::io::Result<()> {
        let Some(map) = self.region.map() else { return Ok(()) };
        let offset = self.layout.chunks.offset() + place as usize * BLOCK_BYTES;
        map::populate(map, offset, blocks as usize * BLOCK_BYTES)
    }

    /// True if the log could not get its whole budget.
    pub(super) fn is_short(&self) -> bool {
        self.short.load(Ordering::Acquire)
    }
}

const _: () = assert!(STEP as usize * BLOCK_BYTES == 16 * CHUNK_BYTES);
