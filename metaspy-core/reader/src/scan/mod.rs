//! Blocks and chunks of the window, and the loops over all of them.
//!
//! A block is copied out under its seqlock. Summaries of chunks show which blocks can be skipped.
//! Scans of the whole window use several threads.

#[doc(hidden)]
pub mod blocks;
pub(crate) mod chunks;
mod counts;
pub(crate) mod current;
pub(crate) mod event_rows;
pub(crate) mod interrupt;
pub(crate) mod lanes;
pub(crate) mod losses;
mod parallel;
pub(crate) mod parts;
pub(crate) mod resolved;
pub(crate) mod survey;
mod unit_walk;

pub(crate) use counts::{Levels, SubjectCounts};
pub(crate) use interrupt::is_interrupted;
pub(crate) use parallel::{each, each_watched, threads_for};
