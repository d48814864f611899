//! Marks of many events, without a search for each of them.

use metaspy_format::detail::Detail;
use metaspy_format::slot::Mark;

use super::{Polls, add_details, polls_in};
use crate::Store;
use crate::event::{Event, EventId};
use crate::open::header::EndState;
use crate::ring::blocks::{Block, MarkSlot, Ring};
use crate::ring::chunk_index::ChunkIndex;

/// Nanoseconds before the newest tick of a recording that is still written. A thread may have been
/// interrupted between the end of an event and its marks.
const UNSETTLED_NS: u64 = 1_000_000_000;

/// Details and polls of all events of a recording, for walks over many of them.
///
/// [`Store::details`] and [`Store::polls`] search the blocks of the time at which an event ended.
/// Here one pass over all blocks notes where marks are that are not in the block of their event: 16
/// bytes for each of these events and blocks.
pub struct AllMarks<'s> {
    store: &'s Store,
    elsewhere: ChunkIndex<MarkedBlock>,
    /// The tick from which on ends of events are searched for, in a recording that may still be
    /// written.
    settled: Option<u64>,
}

/// Block with marks about an event of another block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MarkedBlock {
    event: u64,
    sequence: u64,
}

impl Store {
    /// Reads where the details and the polls of all events are.
    pub fn all_marks(&self) -> AllMarks<'_> {
        let may_grow = matches!(self.end_state(), EndState::Live | EndState::Unknown);
        let unsettled = self.time().ticks(UNSETTLED_NS);
        let settled = may_grow.then(|| self.header().last_tick.saturating_sub(unsettled));
        let ring = self.ring();
        let mut elsewhere = ChunkIndex::new();
        elsewhere.read_on(
            ring,
            |chunk, into| blocks_elsewhere(ring, chunk, into),
            |_| true,
            |_, _| true,
        );
        AllMarks { store: self, elsewhere, settled }
    }
}

impl std::fmt::Debug for AllMarks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AllMarks").field("bytes", &self.elsewhere.bytes()).finish_non_exhaustive()
    }
}

impl AllMarks<'_> {
    /// Returns arguments, return value and labels of an event, as [`Store::details`] does.
    pub fn details(&self, event: &Event) -> Vec<Detail> {
        let mut details = Vec::new();
        self.marks_of(event, |mark| add_details(&mut details, mark));
        details
    }

    /// Returns polls and busy time of an async call, or the entries of a span, as [`Store::polls`]
    /// does.
    pub fn polls(&self, event: &Event) -> Option<Polls> {
        let mut polls = None;
        self.marks_of(event, |mark| polls = polls_in(mark).or(polls));
        polls.or_else(|| self.store.entered_once(event))
    }

    fn marks_of(&self, event: &Event, mut each: impl FnMut(&MarkSlot<'_>)) {
        let end = event.span.map(|span| event.start.saturating_add(span));
        if self.settled.is_some_and(|settled| end.is_none_or(|end| end >= settled)) {
            return self.store.marks_of(event, each);
        }
        self.store.marks_in(event.id.sequence(), event.id, &mut each);
        if end.is_none() {
            // As in a search, which needs the time of the end.
            return;
        }
        let mut sequences = Vec::new();
        for run in self.elsewhere.runs() {
            let from = run.partition_point(|marked| marked.event < event.id.raw());
            let own = run[from..].iter().take_while(|marked| marked.event == event.id.raw());
            sequences.extend(own.map(|marked| marked.sequence));
        }
        sequences.sort_unstable();
        sequences.dedup();
        for sequence in sequences {
            self.store.marks_in(sequence, event.id, &mut each);
        }
    }
}

/// Adds the blocks of a chunk that have marks about events of other blocks.
fn blocks_elsewhere(ring: Ring<'_>, chunk: u64, into: &mut Vec<MarkedBlock>) {
    if ring.summary(chunk).is_some_and(|summary| summary.marks == 0) {
        return;
    }
    let mut block = Block::boxed();
    for place in ring.places_of(chunk) {
        if !ring.load(place, &mut block) {
            continue;
        }
        let sequence = block.head.sequence;
        for mark in block.marks().filter(|it| matches!(it.mark, Mark::Detail | Mark::Polls)) {
            let marked = MarkedBlock { event: mark.event, sequence };
            let is_of_other =
                EventId::from_raw(mark.event).is_some_and(|id| id.sequence() != sequence);
            if is_of_other && into.last() != Some(&marked) {
                into.push(marked);
            }
        }
    }
}
