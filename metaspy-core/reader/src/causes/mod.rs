//! Why an event happened: the chain of its causes.

pub(crate) mod effects;
pub(crate) mod link_effects;
pub(crate) mod remote;
pub(crate) mod root_cause;

use std::collections::HashSet;

use crate::event::{Event, EventId};
use crate::{Remote, Store};

/// Where a chain of causes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At an event without a cause.
    Root,
    /// At an event that another process caused, whose recording is not open.
    Remote(Remote),
    /// At an event that left the window, or was never recorded.
    Evicted(EventId),
    /// At an event that is its own cause in the end: the recording is damaged.
    Loop(EventId),
}

/// The events that led to one, nearest first.
#[derive(Debug)]
pub struct Ancestors<'a> {
    store: &'a Store,
    next: Option<EventId>,
    /// Causes may stand in any lane, so ids alone do not show that a chain ends.
    seen: HashSet<EventId>,
    origin: Origin,
}

impl Store {
    /// Events that led to `id`, nearest first.
    ///
    /// Ends at a root, or where the store has forgotten the rest: [`Ancestors::origin`] says which.
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
    /// Where the chain ends; walks on to its end if need be.
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
