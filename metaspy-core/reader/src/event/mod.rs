//! SpyEvents, as they are read from a recording.

pub(crate) mod details;
pub(crate) mod rank;
pub(crate) mod time;
pub(crate) mod timeline;

use metaspy_format::slot;
pub use metaspy_format::{EventId, LaneId};
pub use metaspy_probe::Outcome;
use metaspy_probe::{SiteId, Subject};

/// An event, as it is read from a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id, which is its place.
    pub id: EventId,
    /// Where in the code.
    pub site: SiteId,
    /// To whom; `None` if the event is about nobody.
    pub subject: Option<Subject>,
    /// The named reason, else the nearest recorded event around it; `None` = a root.
    pub cause: Option<EventId>,
    /// On which thread it began.
    pub lane: LaneId,
    /// In which epoch it began.
    pub epoch: u32,
    /// When it began, in ticks; [`Store::time_ns`](crate::Store::time_ns) makes ns of it. Of an event that was not timed,
    /// when its lane last looked at the clock.
    pub start: u64,
    /// How long it took, in ticks; `None` while it runs, and where it was not timed.
    pub span: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The meta level: 0 is the application, above that metaspy's own code and handlers.
    pub level: u8,
    /// Whether start and span were measured.
    pub timed: bool,
    /// Bit 0: details were written at its start. Bit 1: at its end.
    pub details: u8,
}

impl Event {
    /// True if details or other marks were written when it ended.
    pub(crate) fn has_details_at_end(&self) -> bool {
        slot::has_details_at_end(self.details)
    }

    /// Whether it had not ended when it was read.
    pub fn is_running(&self) -> bool {
        self.outcome == Outcome::Running
    }
}
