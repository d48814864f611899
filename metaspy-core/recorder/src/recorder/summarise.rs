//! Writes the summary of a chunk when all of its blocks are full.

use std::sync::atomic::Ordering;

use crate::format::slot::{self, Commit, FIRST_MARK, Mark};
use crate::format::summary::Summary;
use crate::format::{BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, header, summary, superblock as sb};
use crate::recorder::collector_state::CollectorState;
use crate::recorder::log::Log;
use crate::recorder::log::State;
use crate::recorder::protocol::announce_summary;

/// Chunks summarised in one round at most, so that freeing blocks never waits long.
const AT_ONCE: usize = 64;

impl Log {
    /// Writes the summaries of chunks that became full.
    pub(super) fn summarise(&self, round: &mut CollectorState) {
        let fresh = self.word(sb::FRESH).load(Ordering::Acquire) / CHUNK_BLOCKS as u64;
        while round.next_chunk < fresh && round.unsummarised.len() < 4 * AT_ONCE {
            round.unsummarised.push(round.next_chunk);
            round.next_chunk += 1;
        }
        self.stale_summaries.take(&mut round.unsummarised);
        let mut done = 0;
        round.unsummarised.retain(|&chunk| {
            if done == AT_ONCE || !self.is_full(chunk) {
                return true;
            }
            done += 1;
            // A lane that claims a block of this chunk from now on leaves it alone.
            announce_summary(&self.summarising, 1 + chunk);
            let is_full = self.is_full(chunk);
            if is_full {
                self.write_summary(chunk);
            }
            self.summarising.store(0, Ordering::Release);
            !is_full
        });
    }

    fn is_full(&self, chunk: u64) -> bool {
        let first = chunk * CHUNK_BLOCKS as u64;
        (first..first + CHUNK_BLOCKS as u64).all(|place| self.state(place) == State::Full)
    }

    fn write_summary(&self, chunk: u64) {
        let mut sum = Summary::EMPTY;
        let first = chunk * CHUNK_BLOCKS as u64;
        for place in first..first + CHUNK_BLOCKS as u64 {
            self.sum_block(place, &mut sum);
        }
        let word = self.layout.summaries.at + chunk as usize * summary::SUMMARY_WORDS;
        let cells = &self.cells()[word..word + summary::SUMMARY_WORDS];
        let words = sum.pack();
        for word in (0..summary::SUMMARY_WORDS).filter(|&word| word != summary::STAMP) {
            cells[word].store(words[word], Ordering::Relaxed);
        }
        cells[summary::STAMP].store(words[summary::STAMP], Ordering::Release);
    }

    fn sum_block(&self, place: u64, sum: &mut Summary) {
        let cells = self.block(place);
        let sequence = cells[header::SEQUENCE].load(Ordering::Relaxed);
        let lane_epoch = cells[header::LANE_EPOCH].load(Ordering::Relaxed);
        let base = cells[header::BASE].load(Ordering::Relaxed);
        let lap = header::lap_byte(sequence, self.layout.blocks);
        sum.add_block(sequence, header::lane(lane_epoch), header::epoch(lane_epoch), base);
        let mut at = 1;
        while at < BLOCK_SLOTS {
            let commit = Commit::unpack(cells[at * SLOT_WORDS].load(Ordering::Acquire));
            if commit.lap != lap {
                break;
            }
            if commit.site >= FIRST_MARK {
                sum.marks += 1;
                if commit.site == Mark::Detail as u32 {
                    at += slot::detail_slots(commit.start as usize) - 1;
                }
            } else {
                let is_running =
                    slot::is_running(cells[at * SLOT_WORDS + 3].load(Ordering::Relaxed));
                sum.add_event(commit.site, base + commit.start, is_running);
            }
            at += 1;
        }
    }
}
