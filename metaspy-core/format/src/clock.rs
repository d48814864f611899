//! The clocks that ticks come from.

/// Which clock the ticks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Clock {
    /// Set by a test.
    Manual = 0,
    /// The time stamp counter.
    Counter = 1,
    /// The monotonic clock; a tick is a nanosecond.
    Monotonic = 2,
}
