//! Pace of reading a live recording again. Reading a large recording takes processor time from the
//! application.

/// Minimum time between two readings.
const REREAD_NS: u64 = 1_000_000_000;

/// Time at which a job was queued last, and its duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    queued_ns: u64,
    took_ns: u64,
}

impl Pace {
    /// Time between two readings, as a multiple of the time that a reading takes.
    pub(super) const FACTOR: u64 = 4;

    pub(super) fn queued_at(self, now_ns: u64) -> Self {
        Pace { queued_ns: now_ns, ..self }
    }

    pub(super) fn answered_at(self, now_ns: u64) -> Self {
        Pace { took_ns: now_ns.saturating_sub(self.queued_ns), ..self }
    }

    /// Returns true if a job that takes at most one `factor`th of the time may be queued again.
    pub(super) fn is_due(self, now_ns: u64, factor: u64) -> bool {
        now_ns.saturating_sub(self.queued_ns) >= REREAD_NS.max(self.took_ns.saturating_mul(factor))
    }
}
