//! Causes: the chain up, the index of effects down, links, values that pass from reasons to
//! effects, and causes in other processes.

mod all_links;
pub(crate) mod effects;
pub(crate) mod reasons;
pub(crate) mod remote;
pub(crate) mod roots;

use std::collections::HashSet;

use crate::event::{Event, EventId};
use crate::{Remote, Store};

/// End of a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At a root, an event without a cause.
    Root,
    /// At an event with a cause in another process, whose recording is not open.
    Remote(Remote),
    /// At an event that left the window, or was never recorded.
    Evicted(EventId),
    /// At an event that is its own indirect cause: the recording is damaged.
    Loop(EventId),
}

/// Chain of causes of an event, nearest first.
#[derive(Debug)]
pub struct Ancestors<'a> {
    store: &'a Store,
    next: Option<EventId>,
    /// A cause can be in any lane, so rising ids do not prove that a chain is a loop.
    seen: HashSet<EventId>,
    origin: Origin,
}

impl Store {
    /// Iterates over the causes of an event, nearest first.
    ///
    /// The chain ends at a root, or at an event that left the window; [`Ancestors::origin`] tells
    /// them apart.
    pub fn causes(&self, id: EventId) -> Ancestors<'_> {
        let event = self.ring().find(id);
        Ancestors {
            store: self,
            next: event.and_then(|event| event.cause),
            seen: HashSet::from([id]),
            origin: event.map_or(Origin::Evicted(id), |_| Origin::Root),
        }
    }
}

impl Ancestors<'_> {
    /// Returns the end of the chain. Walks to it if necessary.
    pub fn origin(&mut self) -> Origin {
        self.by_ref().for_each(drop);
        self.origin
    }
}

impl Iterator for Ancestors<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let id = self.next.take()?;
        if !self.seen.insert(id) {
            self.origin = Origin::Loop(id);
            return None;
        }
        let Some(event) = self.store.event(id) else {
            self.origin = self.store.remote(id).map_or(Origin::Evicted(id), Origin::Remote);
            return None;
        };
        self.next = event.cause;
        Some(event)
    }
}
