//! Events by value: the type [`Event`].

pub(crate) mod time;

use metaspy_format::slot;
pub use metaspy_format::{EventId, LaneId, ParseEventIdError};
pub use metaspy_probe::Outcome;
use metaspy_probe::{SiteId, Subject};

/// Event, as it was read from a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Id, which is also the place in the recording.
    pub id: EventId,
    /// Site in the code that emitted the event.
    pub site: SiteId,
    /// Subject; `None` if the event has none.
    pub subject: Option<Subject>,
    /// Named reason, or else the nearest recorded event around it; `None` = a root.
    pub cause: Option<EventId>,
    /// Lane of the thread on which the event began.
    pub lane: LaneId,
    /// Epoch in which the event began.
    pub epoch: u32,
    /// Start, in ticks; [`Store::time_ns`](crate::Store::time_ns) converts them. An event that was
    /// not timed has the last tick that its lane had read before.
    pub start: u64,
    /// Duration, in ticks; `None` while the event runs, and if it was not timed.
    pub span: Option<u64>,
    /// Outcome of the event, or its state while it runs.
    pub outcome: Outcome,
    /// Meta level. 0 is the application; metaspy's own code and handlers are above it.
    pub level: u8,
    /// True if start and duration were measured.
    pub timed: bool,
    /// Bit 0: details were written at the start. Bit 1: at the end.
    pub details: u8,
}

impl Event {
    /// Returns true if details or other marks were written when the event ended.
    pub(crate) fn has_details_at_end(&self) -> bool {
        slot::has_details_at_end(self.details)
    }

    /// Returns true if the event had not ended when it was read.
    pub fn is_running(&self) -> bool {
        self.outcome == Outcome::Running
    }
}
