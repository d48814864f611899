//! Causes that nesting does not tell: named reasons, and further ones.

use crate::event::EventId;
use crate::format::slot::Mark;
use crate::recorder;

/// The event that this thread is in.
pub fn current() -> Option<EventId> {
    EventId::from_raw(recorder::current_event())
}

/// Names the cause of what this thread does next: until the guard is dropped, events hang under `cause`.
#[must_use = "the cause is named until the guard is dropped"]
pub fn because(cause: EventId) -> Because {
    Because { _current: recorder::Current::enter(cause.raw()) }
}

/// The event that this thread is in, to be named as the cause somewhere else: in another task, on another thread.
pub fn carried() -> Carried {
    Carried::new(current())
}

/// A named cause; see [`because`].
#[derive(Debug)]
pub struct Because {
    _current: recorder::Current,
}

/// Adds a further reason: `effect` happened because of `cause`, too. Any number of reasons can be added while the
/// effect runs. False if there was no room; that is counted.
pub fn link(effect: EventId, cause: EventId) -> bool {
    recorder::mark(Mark::Link, effect.raw(), [cause.raw(), 0], &[]).is_some()
}

/// An event that travels, in a message say: it knows which recording it stands in, as the number of an event means
/// another one in another recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried(u64);

/// An event's number needs fewer bits: a program that makes one each nanosecond takes two years to use them up.
const EVENT_BITS: u32 = 56;

impl Carried {
    /// No event.
    pub const NOTHING: Carried = Carried(0);

    /// An event of the recording that is being written.
    #[inline]
    pub fn new(event: Option<EventId>) -> Self {
        match (event, recorder::current()) {
            (Some(event), Some(log)) => Carried(event.raw() | u64::from(log.number) << EVENT_BITS),
            _ => Carried::NOTHING,
        }
    }

    /// The event; `None` where another recording is being written by now.
    #[inline]
    pub fn event(self) -> Option<EventId> {
        let event = EventId::from_raw(self.0 & ((1 << EVENT_BITS) - 1))?;
        recorder::current().filter(|log| u64::from(log.number) == self.0 >> EVENT_BITS).map(|_| event)
    }

    /// As a number, for a message that is made of bytes. It tells this process's recordings apart, and no others: a
    /// message that other processes may have sent has to say beside it which recording is meant.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// From its number. Any will do, as bytes may say anything: one of another recording is no cause, and one that
    /// names an event that never was reads like one that left the window.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        Carried(bits)
    }

    /// Names it as the cause of what this thread does next, until the guard is dropped; `None` where it is unknown.
    #[inline]
    pub fn because(self) -> Option<Because> {
        self.event().map(because)
    }
}
