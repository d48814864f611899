//! One input, and the numbers that its sites, kinds, lanes, epochs and ids get in the merged recording.

use std::collections::HashMap;

use crate::Store;
use crate::event::EventId;
use crate::merge::clock::ClockLine;
use crate::merge::kept::Kept;
use crate::scan::blocks::Ring;
use metaspy_format::row::OTHERS;
use metaspy_format::slot::EARLIER;
use metaspy_format::{BLOCK_SLOTS, header};
use metaspy_probe::{KindId, Subject};

/// A recording and its part of the merged one.
pub(super) struct Input {
    pub store: Store,
    /// The first place in the merged recording; a chunk begins there.
    pub place: u64,
    /// Places to read.
    pub places: u64,
    /// Places in the merged recording, if all of it is copied.
    pub reserved: u64,
    /// The part of it that is copied; `None` = all.
    pub kept: Option<Kept>,
    /// The first lane.
    pub lane: u32,
    pub lanes: u32,
    /// The number to add to epochs.
    pub epoch: u32,
    pub line: ClockLine,
    /// The tick at which the merged recording begins, in nanoseconds of the common clock.
    pub origin: i128,
    /// Merged numbers of sites, by their own numbers; 0 = the recording does not name the site.
    pub sites: Vec<u32>,
    /// The merged number of all sites without a name.
    pub nameless: u32,
    pub kinds: HashMap<u16, u16>,
    /// True if a cause of an event is in another process.
    pub has_remote: bool,
}

/// The number of places in the merged recording. The last one is never filled.
#[derive(Clone, Copy)]
pub(super) struct MergedRing {
    pub blocks: u64,
}

impl MergedRing {
    /// The sequence of a place in a lap; `None` if the lap is out of range.
    pub fn sequence(self, lap: u64, place: u64) -> Option<u64> {
        let most = u64::MAX / BLOCK_SLOTS as u64 - self.blocks;
        lap.checked_mul(self.blocks).map(|first| first + place).filter(|&sequence| sequence < most)
    }
}

impl Input {
    /// The number of its places in the merged recording.
    pub fn copied_places(&self) -> u64 {
        self.kept.as_ref().map_or(self.reserved, Kept::blocks)
    }

    pub fn ring(&self) -> Ring<'_> {
        self.store.ring()
    }

    /// The merged tick of a tick; never 0.
    pub fn tick(&self, tick: u64) -> u64 {
        (self.line.ns(tick) - self.origin).clamp(1, i128::from(u64::MAX / 4)) as u64
    }

    /// The merged duration of `ticks` ticks from `from` on.
    pub fn span(&self, from: u64, ticks: u64) -> u64 {
        self.tick(from.saturating_add(ticks)).saturating_sub(self.tick(from))
    }

    /// The merged duration of ticks that belong to many calls.
    pub fn sum(&self, ticks: u64) -> u64 {
        self.store.span_ns(ticks)
    }

    /// The merged sequence of a block.
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

    /// The merged id of an event. The event need not exist. 0 stays 0.
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

/// The kind of subjects whose kind the recording does not name.
pub(super) const NAMELESS_KIND: u16 = OTHERS - 1;

/// The input and the event for the span of a cause in another process, if it is among the inputs.
pub(super) fn find_sender(inputs: &[Input], span: u64) -> Option<(usize, EventId)> {
    (inputs.iter().enumerate()).find_map(|(at, input)| {
        let id = input.ring().of_span(span)?;
        input.ring().peek(id).map(|_| (at, id))
    })
}
