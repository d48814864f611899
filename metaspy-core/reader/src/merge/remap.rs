//! Inputs of a merge, and the numbers that their sites, kinds, lanes, epochs and ids get in the
//! merged recording.

use std::collections::HashMap;

use crate::Store;
use crate::event::EventId;
use crate::merge::clock::ClockLine;
use crate::merge::kept::Kept;
use crate::ring::blocks::Ring;
use metaspy_format::row::OTHERS;
use metaspy_format::slot::EARLIER;
use metaspy_format::{BLOCK_SLOTS, header};
use metaspy_probe::{KindId, Subject};

/// Input with its part of the merged recording.
pub(super) struct Input {
    pub store: Store,
    /// First place in the merged recording, where a chunk begins.
    pub place: u64,
    /// Number of places to read.
    pub places: u64,
    /// Number of places in the merged recording, if all blocks are copied.
    pub reserved: u64,
    /// Part of the recording that is copied; `None` = all of it.
    pub kept: Option<Kept>,
    /// First lane in the merged recording.
    pub lane: u32,
    pub lanes: u32,
    /// Number to add to epochs.
    pub epoch: u32,
    pub line: ClockLine,
    /// Tick at which the merged recording begins, in nanoseconds of the common clock.
    pub origin: i128,
    /// Merged numbers of sites, by their own numbers; 0 = the recording does not name the site.
    pub sites: Vec<u32>,
    /// Merged number of all sites without a name.
    pub nameless: u32,
    pub kinds: HashMap<u16, u16>,
    /// Merged numbers of the rules that say which events are kept, by their own numbers.
    pub keeps: HashMap<u32, u32>,
    /// True if a cause of an event is in another process.
    pub has_remote: bool,
}

/// Number of places in the merged recording. The last place is never filled.
#[derive(Clone, Copy)]
pub(super) struct MergedRing {
    pub blocks: u64,
}

impl MergedRing {
    /// Returns the sequence of a place in a lap; `None` if the lap is out of range.
    pub fn sequence(self, lap: u64, place: u64) -> Option<u64> {
        let most = u64::MAX / BLOCK_SLOTS as u64 - self.blocks;
        lap.checked_mul(self.blocks).map(|first| first + place).filter(|&sequence| sequence < most)
    }
}

impl Input {
    /// Returns the number of its places in the merged recording.
    pub(crate) fn copied_places(&self) -> u64 {
        self.kept.as_ref().map_or(self.reserved, Kept::blocks)
    }

    pub fn ring(&self) -> Ring<'_> {
        self.store.ring()
    }

    /// Returns the merged tick of a tick; never 0.
    pub fn tick(&self, tick: u64) -> u64 {
        (self.line.ns(tick) - self.origin).clamp(1, i128::from(u64::MAX / 4)) as u64
    }

    /// Returns the merged duration of `ticks` ticks from `from` on.
    pub fn span(&self, from: u64, ticks: u64) -> u64 {
        self.tick(from.saturating_add(ticks)).saturating_sub(self.tick(from))
    }

    /// Returns the merged duration of ticks that belong to many calls.
    pub fn sum(&self, ticks: u64) -> u64 {
        self.store.span_ns(ticks)
    }

    /// Returns the merged sequence of a block.
    pub fn sequence(&self, sequence: u64, whole: MergedRing) -> Option<u64> {
        let blocks = self.store.layout().blocks;
        let place = header::place(sequence, blocks);
        let there = match &self.kept {
            Some(kept) => kept.place(place),
            None => (place < self.places).then_some(place),
        };
        let place = there.map_or(whole.blocks - 1, |place| self.place + place);
        whole.sequence(sequence / blocks, place)
    }

    /// Returns the merged id of an event. The event need not exist. 0 stays 0.
    pub fn id(&self, id: u64, whole: MergedRing) -> u64 {
        let slots = BLOCK_SLOTS as u64;
        if id == EARLIER {
            return id;
        }
        if id < slots * self.store.layout().blocks {
            // No valid id is this small: the recording is damaged, and this becomes a root.
            return 0;
        }
        // If the lap is out of range, use an id that never existed.
        let sequence = self.sequence(id / slots, whole).unwrap_or(2 * whole.blocks - 1);
        sequence * slots + id % slots
    }

    pub fn site(&self, site: u32) -> u32 {
        match self.sites.get(site as usize) {
            Some(&number) if number != 0 => number,
            _ => self.nameless,
        }
    }

    pub fn kind(&self, kind: u16) -> u16 {
        match kind {
            0 | OTHERS => kind,
            kind => self.kinds.get(&kind).copied().unwrap_or(NAMELESS_KIND),
        }
    }

    pub fn subject(&self, subject: Subject) -> Subject {
        Subject::new(KindId(self.kind(subject.kind.0)), subject.key)
    }
}

/// Kind of subjects whose kind the recording does not name.
pub(super) const NAMELESS_KIND: u16 = OTHERS - 1;

/// Finds the input and the event for the span of a cause in another process, if it is among the
/// inputs.
pub(super) fn find_sender(inputs: &[Input], span: u64) -> Option<(usize, EventId)> {
    (inputs.iter().enumerate()).find_map(|(at, input)| {
        let id = input.ring().of_span(span)?;
        input.ring().peek(id).map(|_| (at, id))
    })
}
