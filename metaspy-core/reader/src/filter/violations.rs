//! Expectations: what has to hold of every event of a kind, and what misses it.

use crate::Store;
use crate::event::Event;
use crate::event::timeline::{Ahead, Bound, Merge, Step};
use crate::filter::Filter;

/// What misses an expectation; see [`Store::missed`].
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// Events that it is about.
    pub checked: u64,
    /// Those that miss it.
    pub violated: u64,
    /// The oldest of those.
    pub events: Vec<Event>,
    /// Whether all were checked: no chain of causes was too long.
    pub exact: bool,
}

impl Store {
    /// The events that pass the filter `every` and not `holds` as well, and how many passed the first: an expectation, and
    /// what misses it. At most `max` of them are handed out, the oldest first; all are counted.
    ///
    /// Only events in the window can be checked.
    pub fn violations(&self, every: &Filter, holds: &Filter, max: usize) -> Violations {
        let ring = self.ring();
        let (every, holds) = (self.compile(every, 0..=0), self.compile(holds, 0..=3));
        let mut memory = holds.memory();
        let mut merge = Merge::<Ahead>::new(ring, Bound::All, &every);
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
        found.exact = !memory.is_exhausted();
        found
    }
}
