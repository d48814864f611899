//! One summary per chunk, all of them side by side: opening a recording reads these and nothing else.
//!
//! A summary is written when every block of its chunk is full, and taken back (its stamp becomes 0) before the first
//! of them is reused.

use metaspy_probe::hash::bucket;

/// 64-bit words of a summary.
pub const SUMMARY_WORDS: usize = 8;
/// Not 0 while the summary holds; changes with every writing, so it is the summary's seqlock.
pub const STAMP: usize = 0;
/// Smallest base tick of the chunk's blocks.
pub const FIRST_TICK: usize = 1;
/// Largest start tick of its events.
pub const LAST_TICK: usize = 2;
/// Events (low 32 bits) and marks (high 32 bits).
pub const EVENTS_MARKS: usize = 3;
/// One bit per site, hashed by [`bit`]: a clear bit means that the site has no event here.
pub const SITES: usize = 4;
/// One bit per lane, hashed by [`bit`].
pub const LANES: usize = 5;
/// Smallest epoch (low 32 bits) and largest (high 32 bits).
pub const EPOCHS: usize = 6;
/// Events still running when the summary was written.
pub const RUNNING: usize = 7;

/// The bit of a number in the filters of a summary.
#[inline(always)]
pub const fn bit(number: u32) -> u64 {
    1 << bucket(number as u64, 6)
}

/// The stamp of a chunk whose newest block has this sequence; never 0.
#[inline(always)]
pub const fn stamp(sequence: u64) -> u64 {
    sequence << 1 | 1
}
