//! Counts, outcomes and times of calls: the type [`Measure`].

use serde::Serialize;

/// Counts, outcomes and times of calls. Counts and outcomes are exact; times exist for calls that
/// were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Number of calls.
    pub count: u64,
    /// True if further calls may be in the row of others, which subjects share where a table is
    /// full.
    pub at_least: bool,
    /// Number of calls that found no room as events. They are counted by site and subject, without
    /// their time and cause.
    pub lost: u64,
    /// Number of calls with a measured time.
    pub timed: u64,
    /// Number of calls without a length, because they are instants. Instants that left the window
    /// are not included.
    pub instants: u64,
    /// Ticks in which at least one of the timed calls was open, including their callees. A call
    /// inside another call of the same row adds nothing. Calls in several lanes add up. An async
    /// call is open while it is polled.
    pub total_ticks: u64,
    /// True if `total_ticks` may contain some time twice, because calls left the window and their
    /// outer calls are not known.
    pub total_at_most: bool,
    /// Ticks of the async calls, each from its first poll to its end. They overlap where calls wait
    /// side by side.
    pub wall_ticks: u64,
    /// Ticks of the timed calls without the timed events that they called in their lane; `None` if
    /// unknown.
    pub self_ticks: Option<u64>,
    /// Self ticks of the calls in the window: a lower bound of `self_ticks` if some calls have left
    /// it.
    pub window_self_ticks: u64,
    /// Ticks of the longest call.
    pub max_ticks: u64,
    /// Number of calls that returned `Err` or `None`.
    pub failed: u64,
    /// Number of calls that ended in a panic.
    pub panicked: u64,
    /// Number of async calls that were dropped before they were completed.
    pub cancelled: u64,
    /// Number of calls that have not ended.
    pub running: u64,
}

impl Measure {
    /// Adds another measure, without its self time.
    pub(crate) fn add(&mut self, other: &Measure) {
        self.count = self.count.wrapping_add(other.count);
        self.at_least |= other.at_least;
        self.lost = self.lost.wrapping_add(other.lost);
        self.timed = self.timed.wrapping_add(other.timed);
        self.instants = self.instants.wrapping_add(other.instants);
        self.total_ticks = self.total_ticks.wrapping_add(other.total_ticks);
        self.total_at_most |= other.total_at_most;
        self.wall_ticks = self.wall_ticks.wrapping_add(other.wall_ticks);
        self.max_ticks = self.max_ticks.max(other.max_ticks);
        self.failed = self.failed.wrapping_add(other.failed);
        self.panicked = self.panicked.wrapping_add(other.panicked);
        self.cancelled = self.cancelled.wrapping_add(other.cancelled);
        // Late ends count negative until the folded events that they end are added.
        self.running = self.running.wrapping_add(other.running);
    }

    /// Returns the sign before the number of calls.
    pub fn sign(&self) -> &'static str {
        if self.at_least { "≥" } else { "" }
    }

    /// Returns the sign before the total time.
    pub fn total_sign(&self) -> &'static str {
        match (self.is_partly_timed(), self.total_at_most) {
            (false, false) => "",
            (true, false) => "≥",
            (false, true) => "≤",
            (true, true) => "~",
        }
    }

    /// Returns true if the times lack some calls, which were sampled or lost, left the window
    /// untimed, or still run. The times are then lower bounds.
    pub fn is_partly_timed(&self) -> bool {
        self.timed > 0 && (self.at_least || self.timed.saturating_add(self.instants) < self.count)
    }

    /// Returns the measure as it is shown. In a live recording a late end may be read before the
    /// event that it ends.
    pub(crate) fn settled(mut self) -> Self {
        self.running = (self.running as i64).max(0) as u64;
        self
    }
}
