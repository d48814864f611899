//! The collector's state between two rounds.

use crate::recorder::keep::Keeper;
use crate::recorder::live_events::LiveEvents;

/// Blocks kept ready for a program that emits little: 64, room for 8,000 events.
pub(super) const FEW: u64 = 64;

/// The collector's state between two rounds.
pub(crate) struct CollectorState {
    /// Blocks that should be ready.
    pub target: u64,
    /// Blocks taken up to the last round.
    pub taken: u64,
    /// Chunks without a summary that the last round found full or partly used.
    pub unsummarised: Vec<u64>,
    /// The first chunk that no round has checked.
    pub next_chunk: u64,
    pub calibrated_ns: u64,
    pub named_ns: u64,
    /// True if the recording states that its budget was spent.
    pub reported_spent: bool,
    /// Finds the events that are kept, if there are rules.
    pub keeper: Option<Box<Keeper>>,
    /// Reads events for subscribers; `None` without any. It is large, and the state stays as long
    /// as the log.
    pub feed: Option<Box<LiveEvents>>,
}

impl CollectorState {
    pub fn new() -> Self {
        CollectorState {
            target: FEW,
            taken: 0,
            unsummarised: Vec::new(),
            next_chunk: 0,
            calibrated_ns: 0,
            named_ns: 0,
            reported_spent: false,
            keeper: None,
            feed: None,
        }
    }
}
