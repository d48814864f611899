//! [`Event`]: an event by value.

pub(crate) mod details;
pub(crate) mod rank;
pub(crate) mod time;
pub(crate) mod timeline;

use metaspy_format::slot;
pub use metaspy_format::{EventId, LaneId};
pub use metaspy_probe::Outcome;
use metaspy_probe::{SiteId, Subject};

/// An event, as it was read from a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The id, which is also the place in the recording.
    pub id: EventId,
    /// The site of the code.
    pub site: SiteId,
    /// The subject; `None` if the event has none.
    pub subject: Option<Subject>,
    /// The named reason, or else the nearest recorded event around it; `None` = a root.
    pub cause: Option<EventId>,
    /// The lane of the thread on which it began.
    pub lane: LaneId,
    /// The epoch in which it began.
    pub epoch: u32,
    /// The start, in ticks; [`Store::time_ns`](crate::Store::time_ns) converts them. An event that was not timed has
    /// the last tick that its lane had read before.
    pub start: u64,
    /// The duration, in ticks; `None` while it runs, and if it was not timed.
    pub span: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The meta level. 0 is the application; metaspy's own code and handlers are above it.
    pub level: u8,
    /// True if start and duration were measured.
    pub timed: bool,
    /// Bit 0: details were written at the start. Bit 1: at the end.
    pub details: u8,
}

impl Event {
    /// True if details or other marks were written when it ended.
    pub(crate) fn has_details_at_end(&self) -> bool {
        slot::has_details_at_end(self.details)
    }

    /// True if it had not ended when it was read.
    pub fn is_running(&self) -> bool {
        self.outcome == Outcome::Running
    }
}
