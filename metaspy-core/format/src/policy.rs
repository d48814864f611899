//! The policy of a full recording.

use serde::Serialize;

/// What happens when the budget of a recording is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Policy {
    /// The oldest events are folded into the tallies: a flight recorder.
    #[default]
    KeepNewest = 0,
    /// No more events are stored; calls are still counted.
    KeepOldest = 1,
    /// The file grows up to the budget, as far as the disk has room. After that no more events are stored; calls are
    /// still counted.
    Grow = 2,
}
