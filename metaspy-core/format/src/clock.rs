//! The clocks that ticks come from.

/// The clock of the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Clock {
    /// A test sets it.
    Manual = 0,
    /// The time stamp counter.
    Counter = 1,
    /// The monotonic clock. A tick is a nanosecond.
    Monotonic = 2,
}
