//! Folds the oldest blocks into the tallies and makes their places ready again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::Outcome;
use crate::format::layout::FOLD_BLOCKS;
use crate::format::row::{self, OTHERS, ROW_WORDS, Who};
use crate::format::slot::{self, Commit, FIRST_MARK, Flags, Mark, SPAN_MAX};
use crate::format::{BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, header, summary, superblock as sb};
use crate::recorder::journal::Entry;
use crate::recorder::log::{Log, State};
use crate::recorder::protocol::evict;
use crate::recorder::round::Round;
use crate::recorder::scratch::{CUT_MOST, Scratch};

/// Counts of a block that is being folded.
#[derive(Default)]
struct Found {
    events: u64,
    moved: u64,
    /// True if the block holds bytes that a later lap could mistake for a commit word.
    text: bool,
}

impl Log {
    /// Frees up to `want` blocks, oldest first. Returns the number of freed blocks.
    pub(super) fn fold_some(&self, round: &mut Round, want: usize) -> usize {
        let journal = self.layout.journal.len.saturating_sub(sb::journal::HEADER_WORDS);
        let batch = FOLD_BLOCKS.min(journal / (1 + 127 * (1 + ROW_WORDS))).max(1);
        let mut freed = 0;
        while freed < want {
            let places = self.oldest(round, batch.min(want - freed));
            if places.is_empty() {
                break;
            }
            freed += places.len();
            self.fold_batch(round, &places);
        }
        freed
    }

    /// The next full places after the hand. Places that a lane still holds are skipped.
    fn oldest(&self, round: &mut Round, most: usize) -> Vec<u64> {
        let grown = self.word(sb::GROWN).load(Ordering::Relaxed);
        let mut places = Vec::with_capacity(most);
        for _ in 0..grown {
            if places.len() == most {
                break;
            }
            let place = round.hand;
            round.hand = (round.hand + 1) % grown.max(1);
            if self.state(place) == State::Full {
                places.push(place);
            }
        }
        places
    }

    fn fold_batch(&self, round: &mut Round, places: &[u64]) {
        round.scratch.clear();
        let mut found = Found::default();
        let mut texts = Vec::new();
        for &place in places {
            if let Some(feed) = &mut round.feed {
                feed.finish(self, place);
            }
            self.take_back_summary(round, place / CHUNK_BLOCKS as u64);
            let before = std::mem::take(&mut found.text);
            self.fold_block(place, &mut round.scratch, &mut found);
            texts.push(std::mem::replace(&mut found.text, before));
        }
        let rows = self.stage(&round.scratch);
        let sequences: Vec<u64> =
            places.iter().map(|place| self.block(*place)[header::SEQUENCE].load(Ordering::Relaxed)).collect();
        round.fold += 1;
        let entry =
            Entry { number: round.fold, sequences: &sequences, rows: &rows, events: found.events, moved: found.moved };
        self.commit_fold(&entry);
        self.release(places, &sequences, &texts);
    }

    /// Adds the events of a block to the scratch, and moves running ones out of the window.
    fn fold_block(&self, place: u64, scratch: &mut Scratch, found: &mut Found) {
        let cells = self.block(place);
        let sequence = cells[header::SEQUENCE].load(Ordering::Relaxed);
        let epoch = header::epoch(cells[header::LANE_EPOCH].load(Ordering::Relaxed));
        let lap = header::lap_byte(sequence, self.layout.blocks);
        let mut at = 1;
        while at < BLOCK_SLOTS {
            let slot = &cells[at * SLOT_WORDS..(at + 1) * SLOT_WORDS];
            let commit = Commit::unpack(slot[0].load(Ordering::Acquire));
            if commit.lap != lap {
                break;
            }
            at += 1;
            if commit.site >= FIRST_MARK {
                if commit.site == Mark::Detail as u32 {
                    at += slot::detail_slots(commit.start as usize) - 1;
                    found.text = true;
                } else if commit.site == Mark::End as u32 {
                    scratch.add_rest(slot[1].load(Ordering::Relaxed), slot[2].load(Ordering::Relaxed));
                }
                continue;
            }
            found.events += 1;
            let last = evict(&slot[3]);
            let flags = Flags::unpack(last);
            let meta = flags.level != 0;
            let who = Who { site: commit.site, kind: flags.kind, epoch, meta, lost: false };
            let delta = scratch.delta(slot[2].load(Ordering::Relaxed), who.pack());
            let add = &mut delta.add;
            add[0] += 1;
            let is_cut = !slot::is_running(last) && slot::span(last) == SPAN_MAX;
            if slot::is_running(last) {
                found.moved += 1;
                add[row::CANCELLED_RUNNING - row::COUNT] += row::ONE_RUNNING;
            } else {
                let (failed_panicked, cancelled) = row::outcome_words(flags.outcome);
                add[row::FAILED_PANICKED - row::COUNT] += failed_panicked;
                add[row::CANCELLED_RUNNING - row::COUNT] += cancelled;
                // An instant has no duration.
                if flags.timed && flags.outcome != Outcome::Instant {
                    let ticks = slot::span(last);
                    add[row::TIMED - row::COUNT] += 1;
                    add[row::TOTAL - row::COUNT] += ticks;
                    add[row::MAX - row::COUNT] = add[row::MAX - row::COUNT].max(ticks);
                }
            }
            if is_cut && scratch.cut.len() < CUT_MOST {
                let id = sequence * BLOCK_SLOTS as u64 + at as u64 - 1;
                scratch.cut.insert(id, (slot[2].load(Ordering::Relaxed), who.pack()));
            }
        }
    }

    /// The rows after the fold: index and new words. Missing rows are created now, empty.
    fn stage(&self, scratch: &Scratch) -> Vec<(usize, [u64; ROW_WORDS])> {
        let mut rows: Vec<(usize, [u64; ROW_WORDS])> = Vec::with_capacity(scratch.deltas.len());
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for delta in &scratch.deltas {
            // Without a row, not even the site's others row, the events count as folded only.
            let Some((index, is_others)) = self.tally_row(delta.key, delta.who) else { continue };
            let staged = is_others.then(|| shared.get(&index).copied()).flatten();
            let at = staged.unwrap_or_else(|| {
                let cells = self.tally_cells(index);
                rows.push((index, std::array::from_fn(|word| cells[word].load(Ordering::Relaxed))));
                shared.extend(is_others.then_some((index, rows.len() - 1)));
                rows.len() - 1
            });
            for (word, add) in rows[at].1[row::COUNT..].iter_mut().zip(delta.add) {
                *word = word.wrapping_add(add);
            }
            // The maximum is not a sum.
            let before = rows[at].1[row::MAX].wrapping_sub(delta.add[row::MAX - row::COUNT]);
            rows[at].1[row::MAX] = before.max(delta.add[row::MAX - row::COUNT]);
        }
        rows
    }

    /// The row of a subject in the fold table. If the table is full, the others row of its site, and true.
    fn tally_row(&self, key: u64, who: u64) -> Option<(usize, bool)> {
        if let Some(index) = self.probe_tally(key, who, 6) {
            return Some((index, false));
        }
        let others = Who { kind: OTHERS, ..Who::unpack(who) };
        self.count(sb::OTHERS, 1);
        Some((self.probe_tally(0, others.pack(), 8)?, true))
    }

    fn probe_tally(&self, key: u64, who: u64, eighths: usize) -> Option<usize> {
        let rows = self.layout.tally.len / ROW_WORDS;
        let mut index = row::first(key, who, rows.trailing_zeros());
        for _ in 0..rows {
            let cells = self.tally_cells(index);
            let found = cells[row::WHO].load(Ordering::Relaxed);
            if found == who && cells[row::KEY].load(Ordering::Relaxed) == key {
                return Some(index);
            }
            if found == 0 {
                let used = self.word(sb::TALLY_USED).load(Ordering::Relaxed);
                if used as usize * 8 >= rows * eighths {
                    return None;
                }
                // An empty row changes no sum, so it needs no journal.
                cells[row::KEY].store(key, Ordering::Relaxed);
                cells[row::WHO].store(who, Ordering::Release);
                self.word(sb::TALLY_USED).store(used + 1, Ordering::Release);
                return Some(index);
            }
            index = (index + 1) & (rows - 1);
        }
        None
    }

    /// Makes places ready again: their pages are present, and hold nothing that the next lap could mistake for its own.
    fn release(&self, places: &[u64], sequences: &[u64], texts: &[bool]) {
        for run in places.chunk_by(|a, b| a + 1 == *b) {
            if self.file.is_some() && self.populate(run[0], run.len() as u64).is_err() {
                self.short.store(true, Ordering::Release);
                self.note("The pages of the recording's file are gone, so no more events are stored. Make room on the disk and record again.");
                self.stop();
                return;
            }
        }
        for ((&place, &sequence), &text) in places.iter().zip(sequences).zip(texts) {
            let next = sequence + self.layout.blocks;
            let wraps = header::lap_byte(next, self.layout.blocks) == 1;
            if text || wraps {
                for slot in self.block(place).chunks_exact(SLOT_WORDS).skip(1) {
                    slot[0].store(0, Ordering::Relaxed);
                }
            }
            self.set_state(place, State::Ready);
            if !self.ready.fill(next) {
                // Cannot happen: the ring has room for all freed places. The place stays unused.
                self.set_state(place, State::Empty);
            }
        }
    }

    fn take_back_summary(&self, round: &mut Round, chunk: u64) {
        let word = self.layout.summaries.at + chunk as usize * summary::SUMMARY_WORDS;
        let stamp = &self.cells()[word + summary::STAMP];
        if stamp.load(Ordering::Relaxed) != 0 {
            stamp.store(0, Ordering::Release);
            round.unsummarised.push(chunk);
        }
    }

    /// The words of a block.
    pub(super) fn block(&self, place: u64) -> &[AtomicU64] {
        let word = self.layout.block_word(place);
        &self.cells()[word..word + BLOCK_SLOTS * SLOT_WORDS]
    }

    /// The words of a row of the fold table.
    pub(super) fn tally_cells(&self, index: usize) -> &[AtomicU64] {
        let word = self.layout.tally.at + index * ROW_WORDS;
        &self.cells()[word..word + ROW_WORDS]
    }
}
