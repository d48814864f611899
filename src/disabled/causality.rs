//! Causes of events, of which there are none.

/// The name of an event. There are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventId {}

/// The event that this thread is in: none.
#[inline(always)]
pub fn current() -> Option<EventId> {
    None
}

/// Names the cause of what this thread does next.
#[inline(always)]
#[must_use = "the cause is named until the guard is dropped"]
pub fn because(cause: EventId) -> Because {
    match cause {}
}

/// A named cause; see [`because`].
#[derive(Debug)]
pub struct Because(());

/// Adds a further reason for an event.
#[inline(always)]
pub fn link(effect: EventId, _cause: EventId) -> bool {
    match effect {}
}
