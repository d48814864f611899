//! Expectations: what has to hold of every event of a kind, and what misses it.

use crate::Store;
use crate::event::Event;
use crate::filter::Filter;
use crate::timeline::{Ahead, Bound, Merge, Step};

/// What misses an expectation; see [`Store::missed`].
#[derive(Clone, Debug, Default)]
pub struct Missed {
    /// Events that it is about.
    pub judged: u64,
    /// Those that miss it.
    pub missed: u64,
    /// The oldest of those.
    pub events: Vec<Event>,
    /// Whether all were judged: no chain of causes was too long.
    pub exact: bool,
}

impl Store {
    /// The events that pass the filter `every` and not `holds` as well, and how many passed the first: an expectation, and
    /// what misses it. At most `max` of them are handed out, the oldest first; all are counted.
    ///
    /// Only events in the window can be judged.
    pub fn missed(&self, every: &Filter, holds: &Filter, max: usize) -> Missed {
        let ring = self.ring();
        let (every, holds) = (self.compile(every, 0..=0), self.compile(holds, 0..=3));
        let mut memory = holds.memory();
        let mut merge = Merge::<Ahead>::new(ring, Bound::All, &every);
        let mut missed = Missed::default();
        while let Step::Event(head, slot) = merge.next(usize::MAX) {
            missed.judged += 1;
            if !holds.matches(ring, &head, &slot, &mut memory) {
                missed.missed += 1;
                if missed.events.len() < max {
                    missed.events.push(self.completed(head.event(&slot)));
                }
            }
        }
        missed.exact = !memory.is_exhausted();
        missed
    }
}
