//! Expectations: a condition that each event of a kind must meet, and the events that violate it.

use std::collections::BTreeMap;

use crate::Store;
use crate::event::Event;
use crate::filter::Filter;
use crate::filter::matcher::Memory;
use crate::parallel;
use crate::ring::blocks::{Block, Head, Slot};
use crate::ring::chunks::Chunk;
use crate::timeline::{Key, keyed_events};

/// Events that violate an expectation; see [`Store::violations`].
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// Number of events to which the expectation applies.
    pub checked: u64,
    /// Number of events that violate it.
    pub violated: u64,
    /// Oldest violations, up to the requested maximum.
    pub events: Vec<Event>,
    /// True if every event in the window was decided: no chain of reasons was too long or led out
    /// of the window.
    pub exact: bool,
}

impl Store {
    /// Checks the expectation that all events of the filter `every` also pass `holds`. All
    /// violations are counted, and the oldest `max` are returned.
    ///
    /// Only events in the window can be checked.
    pub fn violations(&self, every: &Filter, holds: &Filter, max: usize) -> Violations {
        let ring = self.ring();
        let every = self.compile(every, 0..=0);
        let holds = self.compile(holds, 0..=3);
        let mut chunks = ring.chunks();
        chunks.retain(|chunk| every.wants_chunk(chunk));
        let checks = || Check {
            memories: [every.memory(self), holds.memory(self)],
            block: Block::boxed(),
            checked: 0,
            violated: 0,
            oldest: BTreeMap::new(),
        };
        let check = |check: &mut Check, chunk: &Chunk| {
            let Check { memories: [of_every, of_holds], block, checked, violated, oldest } = check;
            for place in ring.places_of(chunk.index) {
                if !ring.head(place).is_some_and(|head| every.wants_block(&head))
                    || !ring.load(place, block)
                {
                    continue;
                }
                for (key, slot) in keyed_events(block) {
                    if !every.matches(ring, &block.head, &slot, of_every) {
                        continue;
                    }
                    *checked += 1;
                    if !holds.matches(ring, &block.head, &slot, of_holds) {
                        *violated += 1;
                        keep(oldest, key, (block.head, slot), max);
                    }
                }
            }
        };
        let mut found = Violations { exact: true, ..Violations::default() };
        let mut oldest = BTreeMap::new();
        for part in parallel::each(&chunks, parallel::threads_for(chunks.len()), checks, check) {
            found.checked += part.checked;
            found.violated += part.violated;
            found.exact &= part.memories.iter().all(|memory| !memory.is_incomplete());
            part.oldest.into_iter().for_each(|(key, event)| keep(&mut oldest, key, event, max));
        }
        found.events =
            oldest.into_values().map(|(head, slot)| self.completed(head.event(&slot))).collect();
        found
    }
}

/// The results of one thread's checks.
struct Check {
    /// Those of the filters `every` and `holds`.
    memories: [Memory; 2],
    block: Box<Block>,
    checked: u64,
    violated: u64,
    oldest: BTreeMap<Key, (Head, Slot)>,
}

/// Adds an event, if it is one of the oldest.
fn keep(oldest: &mut BTreeMap<Key, (Head, Slot)>, key: Key, event: (Head, Slot), max: usize) {
    if oldest.len() < max || oldest.last_key_value().is_some_and(|last| key < *last.0) {
        oldest.insert(key, event);
        if oldest.len() > max {
            oldest.pop_last();
        }
    }
}
