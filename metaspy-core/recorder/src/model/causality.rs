//! Causes beyond nesting: named causes and links.
//!
//! A carried cause knows its recording, and is dropped if another recording has begun. The bare id
//! would not do: an id is a place, in another recording it may be another event's, and tasks
//! outlive recordings. In the next file of a rotation it is a cause that readers do not find,
//! so its effects are no roots, and numbers by cause are not exact.

use crate::event::EventId;
use crate::format::slot::Mark;
use crate::recorder;

/// The current event of this thread.
pub fn current() -> Option<EventId> {
    EventId::from_raw(recorder::current_event())
}

/// Names the cause of this thread's next events. Until the guard is dropped, `cause` is their
/// cause.
#[must_use = "the cause is named until the guard is dropped"]
pub fn because(cause: EventId) -> Because {
    Because { _current: recorder::Current::name(cause.raw()) }
}

/// The current event of this thread, to be named as the cause in another task or thread.
pub fn carried() -> Carried {
    Carried::new(current())
}

/// A named cause; see [`because`].
#[derive(Debug)]
pub struct Because {
    _current: recorder::Current,
}

/// Adds a link: `cause` is a further reason of `effect`. Any number of links can be added while the
/// effect runs. False if there was no room; the recording counts such links.
pub fn link(effect: EventId, cause: EventId) -> bool {
    recorder::mark(Mark::Link, effect.raw(), [cause.raw(), 0], &[]).is_some()
}

/// An event together with its recording, to be carried in a message. The number of an event alone
/// may name another event in another recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried(u64);

/// Bits of the event's number, as in [`Lean`](metaspy_probe::Lean). The others are of the number of
/// its recording: a cause that waits while exactly 65,536 recordings follow each other is taken for
/// one of the last.
const EVENT_BITS: u32 = 48;

impl Carried {
    /// No event.
    pub const NOTHING: Carried = Carried(0);

    /// An event of the current recording.
    #[inline]
    pub fn new(event: Option<EventId>) -> Self {
        match (event, recorder::current()) {
            (Some(event), Some(log)) if event.raw() >> EVENT_BITS == 0 => {
                Carried(event.raw() | log.serial << EVENT_BITS)
            }
            _ => Carried::NOTHING,
        }
    }

    /// The event. `None` if another recording has begun since. If that is a later file of a
    /// rotation, it is an event that is not in this file.
    #[inline]
    pub fn event(self) -> Option<EventId> {
        let earlier = || EventId::from_raw(recorder::earlier_cause(recorder::current()?));
        self.event_here().or_else(|| EventId::from_raw(self.0).and_then(|_| earlier()))
    }

    /// The event, in the current recording.
    #[inline]
    #[doc(hidden)]
    pub fn event_here(self) -> Option<EventId> {
        let event = EventId::from_raw(self.0 & ((1 << EVENT_BITS) - 1))?;
        recorder::current()
            .filter(|log| log.serial << EVENT_BITS == self.0 & !((1 << EVENT_BITS) - 1))
            .map(|_| event)
    }

    /// As a number, for a message of bytes. The number identifies a recording within this process
    /// only. A message that another process may have sent must carry the identity of its recording
    /// as well.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// From its number. Every number is accepted: one of another recording is no cause, and one
    /// without an event reads like an event that has left the window.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        Carried(bits)
    }

    /// Names it as the cause of this thread's next events until the guard is dropped. `None` if it
    /// is unknown.
    #[inline]
    pub fn because(self) -> Option<Because> {
        self.event().map(because)
    }
}
