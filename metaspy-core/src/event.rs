//! SpyEvents: one thing that happened, to whom, when, how it ended, and why.

use std::fmt;
use std::num::NonZeroU64;

use crate::format::BLOCK_SLOTS;
use crate::site::SiteId;
use crate::subject::Subject;

/// The place of an event in its log, and so its name. Never reused; not dense.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(NonZeroU64);

impl EventId {
    /// The id of `slot` in the block with this `sequence`.
    #[inline(always)]
    pub const fn new(sequence: u64, slot: u64) -> Option<Self> {
        Self::from_raw(sequence * BLOCK_SLOTS as u64 + slot)
    }

    /// An id from its number; 0 is none.
    #[inline(always)]
    pub const fn from_raw(raw: u64) -> Option<Self> {
        match NonZeroU64::new(raw) {
            Some(raw) => Some(EventId(raw)),
            None => None,
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0.get()
    }

    /// The sequence of its block.
    #[inline(always)]
    pub const fn sequence(self) -> u64 {
        self.raw() / BLOCK_SLOTS as u64
    }

    /// Its slot in the block, 1 to 127.
    #[inline(always)]
    pub const fn slot(self) -> usize {
        (self.raw() % BLOCK_SLOTS as u64) as usize
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Sequence and slot: `77.3`.
impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sequence(), self.slot())
    }
}

/// How an event ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Outcome {
    /// It has not ended; after a crash, this is where the program was.
    #[default]
    Running = 0,
    /// It returned, and whether that was a success is not known.
    Returned = 1,
    /// It returned `Ok` or `Some`.
    Succeeded = 2,
    /// It returned `Err` or `None`.
    Failed = 3,
    /// A panic left it.
    Panicked = 4,
    /// An async call was dropped before it was done.
    Cancelled = 5,
    /// It has no length: something that happened at one instant.
    Instant = 6,
    /// It ran on when the window went past it; how it ended is in the tallies.
    Moved = 7,
}

impl Outcome {
    /// From its three bits.
    #[inline(always)]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => Outcome::Running,
            1 => Outcome::Returned,
            2 => Outcome::Succeeded,
            3 => Outcome::Failed,
            4 => Outcome::Panicked,
            5 => Outcome::Cancelled,
            6 => Outcome::Instant,
            _ => Outcome::Moved,
        }
    }

    /// The word that screens and filters use.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Running => "running",
            Outcome::Returned => "returned",
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Panicked => "panicked",
            Outcome::Cancelled => "cancelled",
            Outcome::Instant => "instant",
            Outcome::Moved => "moved",
        }
    }
}

/// The events begun on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub u32);

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
    /// When it began, in ticks; [`crate::store::Store::time_ns`] makes ns of it. Of an event that was not timed,
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
    /// Whether it had not ended when it was read.
    pub fn is_running(&self) -> bool {
        self.outcome == Outcome::Running
    }
}
