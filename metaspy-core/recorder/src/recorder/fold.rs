//! Folds the oldest blocks into the tallies, and makes their places ready again: the collector
//! ahead of the lanes, and a lane that finds no block ready.
//!
//! A lane folds its own oldest block in a bounded step of 127 events, when it needs a block and
//! none is ready. Otherwise events are lost while the collector is slower than the lanes, and with
//! more busy threads than processors it always is.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::format::Policy;
use crate::format::slot_set::SlotSet;
use crate::format::{BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, header, summary, superblock as sb};
use crate::platform::lock::{lock, try_lock, try_lock_soon};
use crate::platform::processor;
use crate::recorder::collector_state::CollectorState;
use crate::recorder::folder::Folder;
use crate::recorder::log::{Log, State};
use crate::recorder::protocol::{claim_full, retract};

/// Blocks whose pages the collector populates at once.
const BATCH: usize = 32;
/// Places that are tried for one block. More than that in a row are held by idle lanes, or ready.
const TRIES: u64 = 256;
/// The longest wait for folds in progress, when a log is closed.
const PATIENCE: Duration = Duration::from_secs(1);

/// A place whose block was folded.
pub(super) struct Freed {
    place: u64,
    /// Its next sequence.
    sequence: u64,
}

impl Log {
    /// Frees up to `want` blocks for later, oldest first. Returns the number of freed blocks.
    pub(super) fn fold_ahead(&self, round: &mut CollectorState, want: usize) -> usize {
        let mut freed = Vec::with_capacity(BATCH);
        let mut count = 0;
        while count < want && !self.is_stopped() {
            let mut folder = lock(&self.folders[0]);
            while freed.len() < BATCH.min(want - count)
                && let Some(place) = self.claim_oldest(|_| true)
            {
                if let Some(feed) = &mut round.feed {
                    feed.finish(self, place);
                }
                match &mut round.keeper {
                    Some(keeper) => keeper.fold(self, &mut folder, place, &mut freed),
                    None => freed.extend(self.fold(&mut folder, place)),
                }
            }
            self.word(sb::FOLDED).store(folder.folded(), Ordering::Relaxed);
            drop(folder);
            if freed.is_empty() {
                break;
            }
            count += freed.len();
            self.make_ready(&mut freed);
        }
        count
    }

    /// Frees the oldest block for a lane: a bounded step. Returns the place's next sequence. `None`
    /// if nothing may be folded now, or if every block belongs to a lane that fills it.
    pub(super) fn fold_for(&self, lane: u32) -> Option<u64> {
        let is_growing =
            self.word(sb::GROWN).load(Ordering::Relaxed) < self.layout.blocks && !self.is_short();
        let must_stay =
            self.leases.load(Ordering::Relaxed) != 0 || self.is_watched.load(Ordering::Relaxed);
        if self.policy != Policy::KeepNewest || is_growing || must_stay {
            return None;
        }
        let mut folder = self.free_folder(processor::current().unwrap_or(lane as usize))?;
        // A log that was stopped before its folders were locked is folded no more.
        if self.is_stopped() {
            return None;
        }
        let place = self.claim_oldest(|place| {
            self.kept_places.asked().is_none_or(|kept| !kept.is_wanted(place))
        })?;
        if !folder.can_name(self.tables(), self.block(place)) {
            // The event that needs a block is lost, but counted by name. Folded, up to 127 others
            // would be counted without one.
            self.set_state(place, State::Full);
            return None;
        }
        Some(self.fold(&mut folder, place)?.sequence)
    }

    /// A folder that no other thread uses. The first choice is the one whose rows are in the cache
    /// of this processor, so there are about as many tables of rows as processors. Without room for
    /// the rows of more subjects it is the collector's, whose table is the largest.
    fn free_folder(&self, processor: usize) -> Option<MutexGuard<'_, Folder>> {
        let (collectors, shared) = self.folders.split_first()?;
        let choices = (0..shared.len()).map(|step| &shared[(processor + step) % shared.len()]);
        let found = choices
            .filter_map(try_lock)
            .find_map(|mut folder| folder.begin(self.tables()).then_some(folder));
        match found {
            Some(folder) if !folder.is_cramped(self.tables()) => Some(folder),
            // Another thread that folds is done soon, unless it loses its processor.
            cramped => try_lock_soon(collectors).or(cramped),
        }
    }

    /// A folder that no other thread uses, to merge rows with. `None` if nothing may be folded now.
    pub(super) fn folder_to_merge(&self) -> Option<MutexGuard<'_, Folder>> {
        let folder = self.folders.iter().rev().find_map(try_lock)?;
        (!self.is_stopped() && self.leases.load(Ordering::Relaxed) == 0).then_some(folder)
    }

    /// Waits until no lane folds, for a log that was stopped. A thread that stands still in the
    /// middle of a fold, as in a debugger, does not keep the process from ending.
    pub(super) fn await_folds(&self) {
        let began = Instant::now();
        while !self.folders.iter().all(|folder| try_lock(folder).is_some())
            && began.elapsed() < PATIENCE
        {
            std::thread::yield_now();
        }
    }

    /// Claims the next full block in the order of places. Places that a lane fills, and those that
    /// are ready, are skipped.
    ///
    /// A claimed place that may not be folded is full again.
    fn claim_oldest(&self, may_fold: impl Fn(u64) -> bool) -> Option<u64> {
        let grown = self.word(sb::GROWN).load(Ordering::Relaxed).max(1);
        let kept = self.kept_places.asked().map_or(0, |places| places.blocks());
        (0..(TRIES + kept).min(grown)).find_map(|_| {
            let place = self.hand.fetch_add(1, Ordering::Relaxed) % grown;
            let chunk = place / CHUNK_BLOCKS as u64;
            let state = &self.own_words.states[place as usize];
            if !claim_full(
                state,
                State::Full as u64,
                State::Folding as u64,
                &self.summarising,
                1 + chunk,
            ) {
                return None;
            }
            let may_fold = may_fold(place);
            if !may_fold {
                self.set_state(place, State::Full);
            }
            may_fold.then_some(place)
        })
    }

    /// Claims a block that keeps events. Only the collector does, so it is not being folded.
    pub(super) fn claim_kept(&self, place: u64) -> bool {
        let state = &self.own_words.states[place as usize];
        let chunk = 1 + place / CHUNK_BLOCKS as u64;
        claim_full(state, State::Kept as u64, State::Folding as u64, &self.summarising, chunk)
    }

    /// Folds all events of a claimed block but those that are kept.
    pub(super) fn fold_others(&self, folder: &mut Folder, place: u64, kept: SlotSet) {
        self.take_back_summary(place / CHUNK_BLOCKS as u64);
        folder.fold_others(self.tables(), self.block(place), kept);
    }

    /// Folds a claimed block and empties it. `None` if the file was truncated, and the block is
    /// gone.
    pub(super) fn fold(&self, folder: &mut Folder, place: u64) -> Option<Freed> {
        self.take_back_summary(place / CHUNK_BLOCKS as u64);
        let cells = self.block(place);
        let sequence = cells[header::SEQUENCE].load(Ordering::Relaxed);
        if sequence < self.layout.blocks || header::place(sequence, self.layout.blocks) != place {
            return None;
        }
        if let Some(places) = self.kept_places.asked()
            && !places.fold(place)
        {
            self.count(sb::KEPT_UNSEEN, 1);
        }
        let holds_text = folder.fold(self.tables(), cells);
        retract(&cells[header::SEQUENCE]);
        let next = sequence + self.layout.blocks;
        let wraps = header::lap_byte(next, self.layout.blocks) == 1;
        if holds_text || wraps {
            for slot in cells.chunks_exact(SLOT_WORDS).skip(1) {
                slot[0].store(0, Ordering::Relaxed);
            }
        }
        Some(Freed { place, sequence: next })
    }

    /// Makes places ready: their pages are present.
    fn make_ready(&self, freed: &mut Vec<Freed>) {
        for run in freed.chunk_by(|a, b| a.place + 1 == b.place) {
            if self.file.is_some() && self.populate(run[0].place, run.len() as u64).is_err() {
                self.short.store(true, Ordering::Release);
                self.note("The pages of the recording's file are gone, so no more events are stored. Make room on the disk and record again.");
                self.stop();
                return;
            }
        }
        for Freed { place, sequence } in freed.drain(..) {
            self.set_state(place, State::Ready);
            if !self.ready.fill(sequence) {
                // Cannot happen: the ring has room for all freed places. The place stays unused.
                self.set_state(place, State::Empty);
            }
        }
    }

    /// Invalidates the summary of a chunk that loses a block. The collector writes a new one when
    /// the chunk is full again.
    fn take_back_summary(&self, chunk: u64) {
        let word = self.layout.summaries.at + chunk as usize * summary::SUMMARY_WORDS;
        let stamp = &self.cells()[word + summary::STAMP];
        if stamp.load(Ordering::Relaxed) != 0 && stamp.swap(0, Ordering::AcqRel) != 0 {
            self.stale_summaries.add(chunk);
        }
    }

    /// The words of a block.
    pub(super) fn block(&self, place: u64) -> &[AtomicU64] {
        let word = self.layout.block_word(place);
        &self.cells()[word..word + BLOCK_SLOTS * SLOT_WORDS]
    }
}
