//! Expectations: a condition that each event of a kind must meet, and the events that violate it.

use crate::Store;
use crate::event::Event;
use crate::event::timeline::{Ahead, Bound, Merge, Step};
use crate::filter::Filter;

/// Events that violate an expectation; see [`Store::violations`].
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// Number of events to which the expectation applies.
    pub checked: u64,
    /// Number of events that violate it.
    pub violated: u64,
    /// Oldest violations, up to the requested maximum.
    pub events: Vec<Event>,
    /// True if every event in the window was decided: no chain of reasons was too long or led out of the window.
    pub exact: bool,
}

impl Store {
    /// Checks the expectation that all events of the filter `every` also pass `holds`. All violations are counted, and
    /// the oldest `max` are returned.
    ///
    /// Only events in the window can be checked.
    pub fn violations(&self, every: &Filter, holds: &Filter, max: usize) -> Violations {
        let ring = self.ring();
        let (every, holds) = (self.compile(every, 0..=0), self.compile(holds, 0..=3));
        let mut memory = holds.memory(self);
        let mut merge = Merge::<Ahead>::new(self, Bound::All, &every);
        let mut found = Violations::default();
        while let Step::Event(head, slot) = merge.next(usize::MAX) {
            found.checked += 1;
            if !holds.matches(ring, &head, &slot, &mut memory) {
                found.violated += 1;
                if found.events.len() < max {
                    found.events.push(self.completed(head.event(&slot)));
                }
            }
        }
        found.exact = !memory.is_incomplete() && !merge.is_incomplete();
        found
    }
}
