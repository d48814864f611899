//! Marks of many events, without a search for each of them.

use metaspy_format::detail::Detail;
use metaspy_format::slot::Mark;

use super::{Polls, add_details, polls_in};
use crate::Store;
use crate::event::{Event, EventId};
use crate::ring::blocks::{Block, MarkSlot, Ring};
use crate::ring::chunk_index::ChunkIndex;

/// Details and polls of all events of a recording, for walks over many of them.
///
/// [`Store::details`] and [`Store::polls`] search the blocks of the time at which an event ended.
/// Here one pass over all blocks notes where marks are that are not in the block of their event: 16
/// bytes for each of these events and blocks.
pub struct AllMarks<'s> {
    store: &'s Store,
    /// Events, and sequences of other blocks with marks about them.
    elsewhere: ChunkIndex<(u64, u64)>,
    /// The tick of the pass, if events may have ended since.
    until: Option<u64>,
}

impl Store {
    /// Returns the details and the polls of all events.
    pub fn all_marks(&self) -> AllMarks<'_> {
        let until = self.is_live().then(|| self.header().last_tick);
        let ring = self.ring();
        let mut elsewhere = ChunkIndex::new();
        elsewhere.read_on(
            ring,
            |chunk, into| blocks_elsewhere(ring, chunk, into),
            |_| true,
            |_, _| true,
        );
        AllMarks { store: self, elsewhere, until }
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
        let id = event.id;
        let ends_before =
            |tick| event.span.is_some_and(|span| event.start.saturating_add(span) < tick);
        if !self.until.is_none_or(ends_before) {
            return self.store.marks_of(event, each);
        }
        let mut sequences = Vec::new();
        for run in self.elsewhere.runs() {
            let from = run.partition_point(|(of, _)| *of < id.raw());
            let own = run[from..].iter().take_while(|(of, _)| *of == id.raw());
            sequences.extend(own.map(|(_, sequence)| *sequence));
        }
        sequences.sort_unstable();
        sequences.dedup();
        for sequence in std::iter::once(id.sequence()).chain(sequences) {
            self.store.marks_in(sequence, id, &mut each);
        }
    }
}

/// Adds the events of other blocks about which the blocks of a chunk have marks.
fn blocks_elsewhere(ring: Ring<'_>, chunk: u64, into: &mut Vec<(u64, u64)>) {
    if ring.summary(chunk).is_some_and(|summary| summary.marks == 0) {
        return;
    }
    let mut block = Block::boxed();
    for place in ring.places_of(chunk) {
        if ring.load(place, &mut block) {
            let sequence = block.head.sequence;
            let of_others = block.marks().filter(|mark| {
                matches!(mark.mark, Mark::Detail | Mark::Polls)
                    && EventId::from_raw(mark.event).is_some_and(|id| id.sequence() != sequence)
            });
            into.extend(of_others.map(|mark| (mark.event, sequence)));
            into.dedup();
        }
    }
}
