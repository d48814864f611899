//! The word that settled counts depend on.
//!
//! A method profiler can state that only counting is left, for one object or for all, and the
//! method is then counted at its hook. A call of the profiler costs 40 ns each time, and
//! `TestCoverage` knows a method's receivers and test after a few calls. A thread remembers a
//! thousand objects of settled methods, so those that are called in turn are counted at their hook,
//! too. One word, which all cells are compared with, covers a new test or another set of profilers.
//! Beside a tree or times, the call is then observed by these alone, in a tenth of the time of a
//! call that every profiler sees.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The word that cells are compared with at sites that method profilers are interested in: a
/// settled site is valid until this word changes. It is never a word of a row, which has its
/// highest bit set, and is larger than [`NO_CELL`](metaspy_probe::NO_CELL) and all other words of a
/// site. The bit [`CACHED`](crate::recorder::CACHED) is free.
pub(super) static SETTLED: AtomicU64 = AtomicU64::new(u64::MAX / 8 + 1);

/// The word as it is now.
pub(crate) fn settled() -> u64 {
    SETTLED.load(Acquire)
}

/// Invalidates all settled sites. Called after the change has been stored.
pub(crate) fn unsettle() {
    SETTLED.fetch_add(1, Release);
}
