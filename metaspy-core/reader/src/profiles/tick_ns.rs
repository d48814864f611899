//! Length of a tick.

use crate::Store;

/// Nanoseconds per tick, as a ratio.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TickNs {
    ticks: u64,
    ns: u64,
}

impl TickNs {
    /// Measures the length over a long span.
    pub fn of(store: &Store) -> Self {
        let ticks = 1 << 40;
        TickNs { ticks, ns: store.span_ns(ticks) }
    }

    pub fn ns(self, ticks: u64) -> u64 {
        match self.ticks {
            0 => ticks,
            per => (u128::from(ticks) * u128::from(self.ns) / u128::from(per)).min(u64::MAX.into())
                as u64,
        }
    }
}
