//! Chunks and their summaries, which a reader consults before it touches the events of a large
//! recording.

use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

use crate::scan::blocks::{Head, Ring};
use metaspy_format::header;
pub use metaspy_format::summary::Summary;
use metaspy_format::summary::{STAMP, SUMMARY_WORDS, bit};

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
    pub fn may_hold_lane(&self, lane: u32) -> bool {
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
    /// A chunk with a summary: a single lap filled all of it.
    Chunk(Chunk),
    /// A block of a chunk without a summary: its neighbours may be of another lap.
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

    /// Returns false if the unit has no block of this lane.
    pub fn may_hold_lane(&self, lane: u32) -> bool {
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
    pub fn chunk_count(self) -> u64 {
        self.layout.chunks(self.words)
    }

    /// Returns all chunks with events, in the order of their first block.
    ///
    /// Reads the summaries, and the headers of chunks without a summary.
    pub fn chunks(self) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = (0..self.chunk_count()).filter_map(|index| self.chunk(index)).collect();
        // A ring is two rising runs, so a stable sort of nearly sorted input is fast.
        chunks.sort_by_key(|chunk| (chunk.first, chunk.index));
        chunks
    }

    /// Returns the window in order of time: the blocks of each lane come in their own order.
    pub fn units(self) -> Vec<Unit> {
        let mut units = Vec::new();
        for chunk in self.chunks() {
            match chunk.summary {
                Some(_) if self.is_of_one_lap(chunk.index) => units.push(Unit::Chunk(chunk)),
                _ => {
                    let heads = self.places_of(chunk.index).filter_map(|place| self.head(place));
                    units.extend(heads.map(Unit::Block));
                }
            }
        }
        units.sort_by_key(Unit::first);
        units
    }

    /// Returns false for the chunk in which the ring wraps around: its first blocks are newer than
    /// its last blocks.
    fn is_of_one_lap(self, chunk: u64) -> bool {
        let places = self.places_of(chunk);
        let sequence = |place: u64| self.block(place).acquire(header::SEQUENCE);
        places.is_empty() || sequence(places.start) <= sequence(places.end - 1)
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
