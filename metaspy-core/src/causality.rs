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

/// The event that this thread is in, to be named as the cause somewhere else: in another task, on another thread.
pub fn carried() -> Carried {
    Carried { event: log::current_event(), log: log::current().map_or(0, |log| log.number) }
}

/// An event and its recording; see [`carried`].
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    event: u64,
    log: u8,
}

impl Carried {
    /// Names it as the cause of what this thread does next, until the guard is dropped. `None` if there was no event, or
    /// another recording has begun since: there the event is unknown.
    #[inline]
    pub fn because(self) -> Option<Because> {
        let is_known = self.event != 0 && log::current().is_some_and(|log| log.number == self.log);
        is_known.then(|| Because { _current: log::Current::enter(self.event) })
    }

    /// The event.
    pub fn event(self) -> Option<EventId> {
        EventId::from_raw(self.event)
    }
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
