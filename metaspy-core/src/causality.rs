//! Causes that nesting does not tell: named reasons, and further ones.

use crate::event::EventId;
use crate::format::slot::Mark;
use crate::log;

/// The event that this thread is in.
pub fn current() -> Option<EventId> {
    EventId::from_raw(log::current_event())
}

/// Names the cause of what this thread does next: until the guard is dropped, events hang under `cause`.
#[must_use = "the cause is named until the guard is dropped"]
pub fn because(cause: EventId) -> Because {
    Because { _current: log::Current::enter(cause.raw()) }
}

/// A named cause; see [`because`].
#[derive(Debug)]
pub struct Because {
    _current: log::Current,
}

/// Adds a further reason: `effect` happened because of `cause`, too. Any number of reasons can be added while the
/// effect runs. False if there was no room; that is counted.
pub fn link(effect: EventId, cause: EventId) -> bool {
    log::mark(Mark::Link, effect.raw(), [cause.raw(), 0], &[]).is_some()
}
