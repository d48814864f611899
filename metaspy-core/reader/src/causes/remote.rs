//! Causes that cross processes: what was sent, and what came from elsewhere.

use crate::Store;
use crate::event::{Event, EventId};
use crate::scan::blocks::Ring;
use metaspy_format::slot::{Commit, Mark};
use metaspy_format::{SLOT_WORDS, header, span, superblock as sb};

/// A cause in another process, as W3C `traceparent` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// The trace that it belongs to.
    pub trace: u128,
    /// The event, as the number of a span.
    pub span: u64,
}

/// An event was told to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The event, as the number of a span.
    pub span: u64,
    /// When, in ticks.
    pub tick: u64,
}

impl Store {
    /// What another process named as the cause of an event; `None` if its cause is in this recording, or it has none.
    pub fn remote_cause(&self, event: &Event) -> Option<Remote> {
        self.remote(event.cause?)
    }

    /// The cause in another process that is noted at this place.
    pub(crate) fn remote(&self, id: EventId) -> Option<Remote> {
        self.ring().remote(id)
    }

    /// When an event was told to other processes, while its lane was in it.
    pub fn sent(&self, id: EventId) -> Vec<Sent> {
        self.event_marks(id).sent
    }

    /// The event that this recording's process told others under this number, if it is in the window.
    pub fn event_of_span(&self, span: u64) -> Option<Event> {
        self.event(self.ring().of_span(span)?)
    }
}

impl Ring<'_> {
    /// The cause in another process that is noted in this slot.
    pub fn remote(self, id: EventId) -> Option<Remote> {
        let place = header::place(id.sequence(), self.layout.blocks);
        if id.slot() == 0 || place >= self.places() {
            return None;
        }
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        if sequence != id.sequence() || !self.belongs(sequence, place) {
            return None;
        }
        let at = id.slot() * SLOT_WORDS;
        let commit = Commit::unpack(words.acquire(at));
        let remote = Remote { trace: span::trace(words.get(at + 1), words.get(at + 3)), span: words.get(at + 2) };
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        let whole = words.get(header::SEQUENCE) == sequence
            && commit.lap == header::lap_byte(sequence, self.layout.blocks)
            && Mark::from_site(commit.site) == Some(Mark::Remote);
        whole.then_some(remote)
    }

    /// The id that stands behind the number of a span, whether there is such an event or not.
    pub fn of_span(self, number: u64) -> Option<EventId> {
        match self.words.get(sb::SPAN_WORD) {
            0 => None,
            word => EventId::from_raw(span::event(number, word)),
        }
    }
}
