//! Blocks for lanes: first the places that were never used, then those that the collector has made
//! ready, then the oldest full one, which the lane folds itself.
//!
//! Lanes take unused places without the collector, because a program's first burst of events must
//! not depend on how fast another thread wakes up.

use std::sync::atomic::Ordering;

use crate::format::Policy;
use crate::format::superblock as sb;
use crate::format::{SLOT_WORDS, header, slot};
use crate::recorder::log::{Log, State};
use crate::recorder::protocol::publish;

/// A block that a lane has taken.
pub(crate) struct Taken {
    pub sequence: u64,
    /// The first word of its header.
    pub word: usize,
    pub lap: u8,
}

impl Log {
    /// Takes a block for a lane, if one is ready.
    pub(super) fn take(
        &self,
        lane: u32,
        epoch: u32,
        base: u64,
        lost_before: u64,
        after: u64,
    ) -> Option<Taken> {
        if self.is_stopped() {
            return None;
        }
        let ready = self.take_fresh().or_else(|| self.ready.take());
        let sequence = ready.or_else(|| self.make_room(lane));
        if sequence.is_none() && !self.dry.load(Ordering::Relaxed) {
            self.dry.store(true, Ordering::Relaxed);
        }
        self.wake_if_scarce(sequence.is_none());
        let sequence = self.later_than(after, sequence?);
        let place = header::place(sequence, self.layout.blocks);
        self.own_words.states[place as usize].store(State::Held as u8, Ordering::Release);
        let word = self.layout.block_word(place);
        let cells = &self.cells()[word..word + 4];
        cells[header::LANE_EPOCH].store(header::lane_epoch(lane, epoch), Ordering::Relaxed);
        cells[header::BASE].store(base, Ordering::Relaxed);
        cells[header::LOST_BEFORE].store(lost_before, Ordering::Relaxed);
        // The sequence is the block's seqlock: it was 0 until now, and no slot of this lap is
        // written before it.
        publish(&cells[header::SEQUENCE], sequence);
        Some(Taken { sequence, word, lap: header::lap_byte(sequence, self.layout.blocks) })
    }

    /// The sequence of a block in a lane whose last block had the sequence `after`. A lane that
    /// folded a block itself may find an older one ready after it. That one starts a lap later, so
    /// that ids in a lane increase.
    fn later_than(&self, after: u64, sequence: u64) -> u64 {
        if sequence > after {
            return sequence;
        }
        let blocks = self.layout.blocks;
        for slot in self.block(header::place(sequence, blocks)).chunks_exact(SLOT_WORDS).skip(1) {
            slot[0].store(0, Ordering::Relaxed);
        }
        sequence + ((after - sequence) / blocks + 1) * blocks
    }

    /// A block that the lane makes ready itself, because the collector did not.
    #[cold]
    fn make_room(&self, lane: u32) -> Option<u64> {
        // Other lanes may take the new blocks first.
        let grown = std::iter::repeat_with(|| self.grow_for_lane()).take_while(|grown| *grown);
        grown.take(4).find_map(|_| self.take_fresh()).or_else(|| self.fold_for(lane))
    }

    /// A place that was never used, if its memory is allocated.
    fn take_fresh(&self) -> Option<u64> {
        let fresh = self.word(sb::FRESH);
        let mut place = fresh.load(Ordering::Relaxed);
        loop {
            if place >= self.word(sb::GROWN).load(Ordering::Acquire) {
                return None;
            }
            match fresh.compare_exchange_weak(place, place + 1, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return Some(header::sequence(1, place, self.layout.blocks)),
                Err(now) => place = now,
            }
        }
    }

    /// Releases a lane's block. From now on ends in it are written by compare-and-swap only.
    pub(super) fn leave(&self, sequence: u64) {
        let place = header::place(sequence, self.layout.blocks);
        self.own_words.states[place as usize].store(State::Full as u8, Ordering::Release);
    }

    pub(super) fn state(&self, place: u64) -> State {
        match self.own_words.states[place as usize].load(Ordering::Acquire) {
            0 => State::Empty,
            1 => State::Held,
            2 => State::Full,
            3 => State::Ready,
            5 => State::Kept,
            _ => State::Folding,
        }
    }

    pub(super) fn set_state(&self, place: u64, state: State) {
        self.own_words.states[place as usize].store(state as u8, Ordering::Release);
    }

    /// Wakes the collector if blocks run out while it sleeps.
    fn wake_if_scarce(&self, none: bool) {
        let fresh = self.word(sb::FRESH).load(Ordering::Relaxed);
        let unused = self.present.load(Ordering::Relaxed).saturating_sub(fresh);
        let scarce = none || unused + self.ready.ready() < self.scarce.load(Ordering::Relaxed);
        // The collector makes no more blocks ready in a recording whose budget is spent.
        let is_spent = self.policy != Policy::KeepNewest && fresh >= self.layout.blocks;
        if scarce && !is_spent && self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Wakes the collector, once.
    pub(super) fn wake(&self) {
        if self.asleep.swap(false, Ordering::AcqRel)
            && let Some(thread) = self.collector.get()
        {
            thread.unpark();
        }
    }
}

/// The commit word of an event.
#[inline(always)]
pub(super) fn commit(start: u64, site: u32, lap: u8) -> u64 {
    slot::Commit { start, site, lap }.pack()
}
