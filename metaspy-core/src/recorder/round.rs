//! The collector's state between two rounds.

use crate::recorder::live_events::LiveEvents;
use crate::recorder::scratch::Scratch;

/// Blocks kept ready for a program that emits little: 64, room for 8,000 events.
pub(super) const FEW: u64 = 64;

/// The collector's state between two rounds.
pub(crate) struct Round {
    /// The place that is freed next.
    pub hand: u64,
    /// Blocks that should be ready.
    pub target: u64,
    /// Blocks taken up to the last round.
    pub taken: u64,
    /// Chunks without a summary that the last round found full or partly used.
    pub unsummarised: Vec<u64>,
    /// The first chunk that no round has checked.
    pub next_chunk: u64,
    pub calibrated_ns: u64,
    /// True if the recording states that its budget was spent.
    pub reported_spent: bool,
    pub fold: u64,
    pub scratch: Scratch,
    /// Reads events for subscribers; `None` without any.
    pub feed: Option<LiveEvents>,
}

impl Round {
    pub fn new() -> Self {
        Round {
            hand: 0,
            target: FEW,
            taken: 0,
            unsummarised: Vec::new(),
            next_chunk: 0,
            calibrated_ns: 0,
            reported_spent: false,
            fold: 0,
            scratch: Scratch::new(),
            feed: None,
        }
    }
}
