//! Words of a recording that hold its calls: blocks of events in a ring, summaries of chunks, links,
//! and folds.
//!
//! A block is copied out under its seqlock. Summaries of chunks show which blocks can be skipped.

#[doc(hidden)]
pub mod blocks;
pub(crate) mod chunk_index;
pub(crate) mod chunks;
pub(crate) mod counts;
pub(crate) mod fold;
pub(crate) mod folds;
pub(crate) mod links;
pub(crate) mod row_table;
