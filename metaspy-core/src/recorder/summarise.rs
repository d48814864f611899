//! Writes the summary of a chunk when all of its blocks are full.

use std::sync::atomic::Ordering;

use crate::format::slot::{self, Commit, FIRST_MARK, Mark};
use crate::format::{BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, header, summary, superblock as sb};
use crate::recorder::log::Log;
use crate::recorder::log::State;
use crate::recorder::round::Round;

/// Chunks summarised in one round at most, so that freeing blocks never waits long.
const AT_ONCE: usize = 64;

impl Log {
    /// Writes the summaries of chunks that became full.
    pub(super) fn summarise(&self, round: &mut Round) {
        let fresh = self.word(sb::FRESH).load(Ordering::Acquire) / CHUNK_BLOCKS as u64;
        while round.next_chunk < fresh && round.unsummarised.len() < 4 * AT_ONCE {
            round.unsummarised.push(round.next_chunk);
            round.next_chunk += 1;
        }
        let mut done = 0;
        round.unsummarised.retain(|&chunk| {
            if done == AT_ONCE || !self.is_full(chunk) {
                return true;
            }
            done += 1;
            self.write_summary(chunk);
            false
        });
    }

    fn is_full(&self, chunk: u64) -> bool {
        let first = chunk * CHUNK_BLOCKS as u64;
        (first..first + CHUNK_BLOCKS as u64).all(|place| self.state(place) == State::Full)
    }

    fn write_summary(&self, chunk: u64) {
        let mut sum = Sum { first: u64::MAX, epochs: (u32::MAX, 0), ..Sum::default() };
        let first = chunk * CHUNK_BLOCKS as u64;
        for place in first..first + CHUNK_BLOCKS as u64 {
            self.sum_block(place, &mut sum);
        }
        let word = self.layout.summaries.word() + chunk as usize * summary::SUMMARY_WORDS;
        let cells = &self.cells()[word..word + summary::SUMMARY_WORDS];
        cells[summary::FIRST_TICK].store(sum.first, Ordering::Relaxed);
        cells[summary::LAST_TICK].store(sum.last, Ordering::Relaxed);
        cells[summary::EVENTS_MARKS].store(sum.events | sum.marks << 32, Ordering::Relaxed);
        cells[summary::SITES].store(sum.sites, Ordering::Relaxed);
        cells[summary::LANES].store(sum.lanes, Ordering::Relaxed);
        let (low, high) = sum.epochs;
        cells[summary::EPOCHS].store(u64::from(low) | u64::from(high) << 32, Ordering::Relaxed);
        cells[summary::RUNNING].store(sum.running, Ordering::Relaxed);
        cells[summary::STAMP].store(sum.stamp | 1, Ordering::Release);
    }

    fn sum_block(&self, place: u64, sum: &mut Sum) {
        let cells = self.block(place);
        let sequence = cells[header::SEQUENCE].load(Ordering::Relaxed);
        let lane_epoch = cells[header::LANE_EPOCH].load(Ordering::Relaxed);
        let base = cells[header::BASE].load(Ordering::Relaxed);
        let lap = header::lap_byte(sequence, self.layout.blocks);
        sum.stamp = sum.stamp.max(sequence << 1);
        sum.first = sum.first.min(base);
        sum.lanes |= summary::bit(lane_epoch as u32);
        let epoch = (lane_epoch >> 32) as u32;
        sum.epochs = (sum.epochs.0.min(epoch), sum.epochs.1.max(epoch));
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
                sum.events += 1;
                sum.sites |= summary::bit(commit.site);
                sum.last = sum.last.max(base + commit.start);
                sum.running += u64::from(slot::is_running(cells[at * SLOT_WORDS + 3].load(Ordering::Relaxed)));
            }
            at += 1;
        }
    }
}

/// A summary being built.
#[derive(Default)]
struct Sum {
    stamp: u64,
    first: u64,
    last: u64,
    events: u64,
    marks: u64,
    sites: u64,
    lanes: u64,
    epochs: (u32, u32),
    running: u64,
}
