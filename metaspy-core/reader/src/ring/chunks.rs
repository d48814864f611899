//! Chunks and their summaries, which a reader consults before it touches the events of a large
//! recording.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

use crate::ring::blocks::{Head, Ring};
use metaspy_format::header;
use metaspy_format::profile::bits;
pub use metaspy_format::summary::Summary;
use metaspy_format::summary::{STAMP, SUMMARY_WORDS, bit, stamp};

/// Number of times after which all chunks are divided into blocks, if some are out of order.
const ROUNDS: usize = 4;

/// Chunk with events, and its time.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    pub index: u64,
    /// Earliest possible start of its events.
    pub first: u64,
    /// Latest possible start of its events; `u64::MAX` while the chunk is being filled.
    pub last: u64,
    /// Summary of its contents; `None` while the chunk is being filled or emptied.
    pub summary: Option<Summary>,
}

impl Chunk {
    /// Returns false if the chunk has no block of this lane.
    pub(crate) fn may_hold_lane(&self, lane: u32) -> bool {
        self.summary.is_none_or(|summary| summary.lanes & bit(lane) != 0)
    }

    /// Returns false if the chunk has no marks.
    pub fn may_hold_marks(&self) -> bool {
        self.summary.is_none_or(|summary| summary.marks != 0)
    }
}

/// Part of the window in which the blocks of each lane are in their own order.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A chunk that a single lap filled, and whose lanes took its blocks behind those of the units
    /// before.
    Chunk(Chunk),
    /// A block of another chunk.
    Block(Head),
}

impl Unit {
    /// Returns the earliest possible start of its events.
    pub fn first(&self) -> u64 {
        match self {
            Unit::Chunk(chunk) => chunk.first,
            Unit::Block(head) => head.base,
        }
    }

    /// Returns the latest possible start of its events; `u64::MAX` if unknown.
    pub fn last(&self) -> u64 {
        match self {
            Unit::Chunk(chunk) => chunk.last,
            Unit::Block(_) => u64::MAX,
        }
    }

    /// Returns the places of its blocks.
    pub fn places(&self, ring: Ring<'_>) -> Range<u64> {
        match self {
            Unit::Chunk(chunk) => ring.places_of(chunk.index),
            Unit::Block(head) => head.place..head.place + 1,
        }
    }

    /// Returns the filter of its lanes, and its smallest and largest sequence.
    fn lanes_and_sequences(&self, ring: Ring<'_>) -> (u64, u64, u64) {
        match self {
            Unit::Chunk(chunk) => {
                let lanes = chunk.summary.map_or(u64::MAX, |summary| summary.lanes);
                let before = (ring.places_of(chunk.index).count() as u64).saturating_sub(1);
                // A chunk that is filled again meanwhile is of no order.
                let newest = ring.newest_of_last_place(chunk);
                newest.map_or((lanes, 0, u64::MAX), |newest| {
                    (lanes, newest.saturating_sub(before), newest)
                })
            }
            Unit::Block(head) => (bit(head.lane), head.sequence, head.sequence),
        }
    }

    /// Returns false if the unit has no block of this lane.
    pub(crate) fn may_hold_lane(&self, lane: u32) -> bool {
        match self {
            Unit::Chunk(chunk) => chunk.may_hold_lane(lane),
            Unit::Block(head) => head.lane == lane,
        }
    }
}

impl Ring<'_> {
    /// Returns the summary of a chunk, if it is valid.
    pub fn summary(self, chunk: u64) -> Option<Summary> {
        let at = usize::try_from(chunk).ok()?.checked_mul(SUMMARY_WORDS)?;
        let words = self.layout.summaries.of(self.words).slice(at, SUMMARY_WORDS);
        let stamp = words.acquire(STAMP);
        if stamp == 0 {
            return None;
        }
        let mut summary = [stamp; SUMMARY_WORDS];
        for word in (0..SUMMARY_WORDS).filter(|&word| word != STAMP) {
            summary[word] = words.get(word);
        }
        fence(Ordering::Acquire);
        (words.get(STAMP) == stamp).then(|| Summary::unpack(summary))
    }

    /// Returns the number of chunks that may have events.
    pub(crate) fn chunk_count(self) -> u64 {
        self.layout.chunks(self.words)
    }

    /// Returns all chunks with events, in the order of their first block.
    ///
    /// Reads the summaries, and the headers of chunks without a summary.
    pub fn chunks(self) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> =
            (0..self.chunk_count()).filter_map(|index| self.chunk(index)).collect();
        // A ring is two rising runs, so a stable sort of nearly sorted input is fast.
        chunks.sort_by_key(|chunk| (chunk.first, chunk.index));
        chunks
    }

    /// Returns the window in order of time: the blocks of each lane come in their own order.
    pub fn units(self) -> Vec<Unit> {
        self.units_with(|_| true)
    }

    /// Returns the units of the window that these chunks have, as [`Ring::units`] does.
    pub(crate) fn units_with(self, wanted: impl Fn(&Chunk) -> bool) -> Vec<Unit> {
        let mut units = Vec::new();
        for chunk in self.chunks().into_iter().filter(wanted) {
            if self.is_of_one_lap(&chunk) {
                units.push(Unit::Chunk(chunk))
            } else {
                units.extend(self.blocks_of(&chunk))
            }
        }
        // What is divided may come behind another chunk.
        for round in 1.. {
            units.sort_by_cached_key(|unit| (unit.first(), unit.lanes_and_sequences(self).1));
            let divided = self.out_of_order(&units);
            if divided.is_empty() {
                break;
            }
            let is_divided = |chunk: &Chunk| round == ROUNDS || divided.contains(&chunk.index);
            let divide = |unit| match unit {
                Unit::Chunk(chunk) if is_divided(&chunk) => self.blocks_of(&chunk).collect(),
                unit => vec![unit],
            };
            units = units.into_iter().flat_map(divide).collect();
        }
        units
    }

    fn blocks_of(self, chunk: &Chunk) -> impl Iterator<Item = Unit> {
        self.places_of(chunk.index).filter_map(move |place| self.head(place)).map(Unit::Block)
    }

    /// Returns true if a single lap filled the chunk, so that its blocks are in the order of their
    /// places. A lane that takes an older block than its last one begins a lap later in it, so
    /// neighbours may be of any laps.
    fn is_of_one_lap(self, chunk: &Chunk) -> bool {
        let Some(newest) = self.newest_of_last_place(chunk) else { return false };
        let is_first = newest / self.layout.blocks <= 1;
        let sequence = |place| self.block(place).acquire(header::SEQUENCE);
        is_first
            || (0..)
                .zip(self.places_of(chunk.index).rev())
                .all(|(before, place)| sequence(place).checked_add(before) == Some(newest))
    }

    /// Returns the sequence of the last block of a chunk, if it is the newest one of its summary.
    fn newest_of_last_place(self, chunk: &Chunk) -> Option<u64> {
        let sequence = self.block(self.places_of(chunk.index).last()?).acquire(header::SEQUENCE);
        (chunk.summary?.stamp == stamp(sequence)).then_some(sequence)
    }

    /// Returns the chunks that have a lane's blocks before older ones, or behind newer ones, of
    /// other units. A chunk comes at its first block, and a lane may take one of the others much
    /// later.
    fn out_of_order(self, units: &[Unit]) -> HashSet<u64> {
        let spans: Vec<_> = units.iter().map(|unit| unit.lanes_and_sequences(self)).collect();
        let lanes = |filter| bits(filter).map(|lane| lane as usize);
        let mut found = HashSet::new();
        let mut note = |at: usize| {
            if let Unit::Chunk(chunk) = units[at] {
                found.insert(chunk.index);
            }
        };
        let mut newest_before = [0; 64];
        for (at, &(filter, oldest, newest)) in spans.iter().enumerate() {
            for lane in lanes(filter) {
                if newest_before[lane] > oldest {
                    note(at);
                }
                newest_before[lane] = newest_before[lane].max(newest);
            }
        }
        let mut oldest_behind = [u64::MAX; 64];
        for (at, &(filter, oldest, newest)) in spans.iter().enumerate().rev() {
            for lane in lanes(filter) {
                if oldest_behind[lane] < newest {
                    note(at);
                }
                oldest_behind[lane] = oldest_behind[lane].min(oldest);
            }
        }
        found
    }

    fn chunk(self, index: u64) -> Option<Chunk> {
        match self.summary(index) {
            Some(summary) => {
                // A chunk with marks only has no last event.
                let last = summary.last.max(summary.first);
                Some(Chunk { index, first: summary.first, last, summary: Some(summary) })
            }
            None => {
                let bases = self.places_of(index).filter_map(|place| Some(self.head(place)?.base));
                Some(Chunk { index, first: bases.min()?, last: u64::MAX, summary: None })
            }
        }
    }
}
