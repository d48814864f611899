//! The summaries: one for each chunk, side by side. Opening a recording reads only these.
//!
//! A summary is written when every block of its chunk is full. Its stamp is set to 0 before the first of these blocks
//! is reused.

use metaspy_probe::hash::bucket;

/// 64-bit words of a summary.
pub const SUMMARY_WORDS: usize = 8;
/// Not 0 while the summary is valid. It changes with every writing, so it is the seqlock of the summary.
pub const STAMP: usize = 0;
/// Smallest base tick of the chunk's blocks.
pub const FIRST_TICK: usize = 1;
/// Largest start tick of its events.
pub const LAST_TICK: usize = 2;
/// Events (low 32 bits) and marks (high 32 bits).
pub const EVENTS_MARKS: usize = 3;
/// One bit for each site, hashed by [`bit`]. A clear bit excludes the site from the chunk.
pub const SITES: usize = 4;
/// One bit for each lane, hashed by [`bit`].
pub const LANES: usize = 5;
/// Smallest epoch (low 32 bits) and largest epoch (high 32 bits).
pub const EPOCHS: usize = 6;
/// Events that were running when the summary was written.
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
