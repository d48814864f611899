//! Causes that cross processes.

use crate::Store;
use crate::event::{Event, EventId};
use crate::ring::blocks::Ring;
use metaspy_format::slot::{Commit, Mark};
use metaspy_format::{SLOT_WORDS, header, span, superblock as sb};

/// Cause in another process, in the numbers of W3C `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// Number of the trace.
    pub trace: u128,
    /// Number of the span, which stands for the event.
    pub span: u64,
}

/// Part of a trace in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTrace {
    /// Number of the trace.
    pub trace: u128,
    /// First event of the chain of causes in this process; `None` if it left the window.
    pub entry: Option<EventId>,
}

/// Maximum number of causes that are followed to the entry of a trace.
const DEPTH_MAX: usize = 4096;

impl Store {
    /// Returns the cause of an event in another process. `None` if the cause is in this recording,
    /// or if there is none.
    pub fn remote_cause(&self, event: &Event) -> Option<Remote> {
        self.remote(event.cause?)
    }

    /// Returns the cause in another process that this slot notes.
    pub(crate) fn remote(&self, id: EventId) -> Option<Remote> {
        self.ring().remote(id)
    }

    /// Returns the event for which this recording's process sent this span, if it is in the window.
    pub fn event_of_span(&self, span: u64) -> Option<Event> {
        self.event(self.ring().of_span(span)?)
    }
}

impl Ring<'_> {
    /// Returns the cause in another process that this slot notes.
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
        let remote = Remote {
            trace: span::trace(words.get(at + 1), words.get(at + 3)),
            span: words.get(at + 2),
        };
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        let whole = words.get(header::SEQUENCE) == sequence
            && commit.lap == header::lap_byte(sequence, self.layout.blocks)
            && Mark::from_site(commit.site) == Some(Mark::Remote);
        whole.then_some(remote)
    }

    /// Returns the trace of an event: the one of its first cause in another process, otherwise the
    /// one that begins with its root.
    pub fn trace_of(self, event: EventId) -> LocalTrace {
        let word = self.words.get(sb::TRACE_WORD);
        let mut at = event;
        for _ in 0..DEPTH_MAX {
            let Some((_, slot)) = self.peek(at) else { break };
            let Some(cause) = EventId::from_raw(slot.cause) else {
                return LocalTrace { trace: span::trace_of_root(at.raw(), word), entry: Some(at) };
            };
            if let Some(remote) = self.remote(cause) {
                return LocalTrace { trace: remote.trace, entry: Some(at) };
            }
            at = cause;
        }
        // The root has left the window: such events share the recording's trace.
        LocalTrace { trace: span::trace_of_root(0, word), entry: None }
    }

    /// Returns the id for the number of a span. There may be no event with this id.
    pub fn of_span(self, number: u64) -> Option<EventId> {
        match self.words.get(sb::SPAN_WORD) {
            0 => None,
            word => EventId::from_raw(span::event(number, word)),
        }
    }
}
