//! [`Roots`]: the root of every event of a recording, found in one pass.

use metaspy_reader::{Conditions, Event, EventId, Store};

/// Marker for a root that is not found yet.
const UNKNOWN: u32 = u32::MAX;

/// Root of each event in the window: the last event of its chain of causes.
pub struct Roots {
    /// Events in the order of their numbers.
    events: Vec<EventId>,
    /// Index of the root of each event.
    roots: Vec<u32>,
}

impl Roots {
    /// Reads all events, and follows each cause once.
    pub fn of(store: &Store) -> Self {
        let scan = store.scan(Conditions::default());
        let mut read: Vec<Event> = Vec::new();
        let mut causes: Vec<(EventId, Option<EventId>)> = Vec::new();
        for part in 0..scan.parts() {
            read.clear();
            scan.read(part, &mut read);
            causes.extend(read.iter().map(|event| (event.id, event.cause)));
        }
        causes.sort_unstable();
        causes.dedup_by_key(|(event, _)| *event);
        // Indices have 32 bits, which is enough: 4 billion events take 128 GB.
        causes.truncate(UNKNOWN as usize);
        let events: Vec<EventId> = causes.iter().map(|(event, _)| *event).collect();
        let mut roots = vec![UNKNOWN; events.len()];
        let mut chain = Vec::new();
        for first in 0..events.len() {
            let mut at = first;
            while roots[at] == UNKNOWN {
                // Until the end of its chain is found, an event is its own root. So the search also
                // ends in a damaged chain that loops.
                roots[at] = at as u32;
                chain.push(at);
                match causes[at].1.and_then(|cause| events.binary_search(&cause).ok()) {
                    Some(cause) => at = cause,
                    None => break,
                }
            }
            let root = roots[at];
            chain.drain(..).for_each(|at| roots[at] = root);
        }
        Roots { events, roots }
    }

    /// Returns the root of an event, or the event itself if it has no cause in the window; `None`
    /// if the event is not in the window.
    pub fn root(&self, event: EventId) -> Option<EventId> {
        let at = self.events.binary_search(&event).ok()?;
        Some(self.events[self.roots[at] as usize])
    }
}
