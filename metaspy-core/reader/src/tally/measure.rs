//! What is counted and measured of calls.

use serde::Serialize;

/// What calls came to: exact counts and outcomes; times where calls were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Calls.
    pub count: u64,
    /// Those that should have been events and found no room: lost in place and time, not in number.
    pub lost: u64,
    /// Calls whose time was measured.
    pub timed: u64,
    /// Calls that have no length, as they are instants; those that left the window are not told apart.
    pub instants: u64,
    /// Ticks of those that were timed, with everything they called.
    pub total_ticks: u64,
    /// Ticks of those without the timed events that they called in their lane; `None` where that is not known.
    pub self_ticks: Option<u64>,
    /// Ticks of the longest.
    pub max_ticks: u64,
    /// Calls that returned an error or nothing.
    pub failed: u64,
    /// Calls that a panic left.
    pub panicked: u64,
    /// Async calls that were dropped before they were done.
    pub cancelled: u64,
    /// Calls that have not ended.
    pub running: u64,
}

impl Measure {
    /// Adds what another measure counted; own time is left out.
    pub(crate) fn add(&mut self, other: &Measure) {
        self.count = self.count.wrapping_add(other.count);
        self.lost = self.lost.wrapping_add(other.lost);
        self.timed = self.timed.wrapping_add(other.timed);
        self.instants = self.instants.wrapping_add(other.instants);
        self.total_ticks = self.total_ticks.wrapping_add(other.total_ticks);
        self.max_ticks = self.max_ticks.max(other.max_ticks);
        self.failed = self.failed.wrapping_add(other.failed);
        self.panicked = self.panicked.wrapping_add(other.panicked);
        self.cancelled = self.cancelled.wrapping_add(other.cancelled);
        // Late ends count below 0 until the folded events that they end are added.
        self.running = self.running.wrapping_add(other.running);
    }

    /// Whether some calls are not in the times: they were sampled or lost, left the window untimed, or still run. The
    /// times are then at least what they say.
    pub fn is_partly_timed(&self) -> bool {
        self.timed > 0 && self.timed.saturating_add(self.instants) < self.count
    }

    /// What is shown: on a live recording a late end may be seen before the event that it ends.
    pub(crate) fn settled(mut self) -> Self {
        self.running = (self.running as i64).max(0) as u64;
        self
    }
}
