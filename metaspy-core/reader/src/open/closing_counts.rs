//! Counts that a recording had when it was closed. Verification compares them with the present
//! counts.

use crate::ring::blocks::Ring;
use crate::ring::folds::Folds;
use metaspy_format::layout::Layout;
use metaspy_format::row::COUNT;
use metaspy_format::superblock as sb;
use metaspy_format::{CHUNK_BLOCKS, Words};

/// Counts that a recording had when it was closed. A lane may continue in its block and page after
/// that, so a reader finds at least these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosingCounts {
    /// Number of places with a block.
    pub blocks: u64,
    /// Number of events in the blocks.
    pub events: u64,
    /// Number of calls in the pages of the lanes.
    pub counted: u64,
}

impl ClosingCounts {
    /// Counts the present state. Reads summaries, and only those blocks whose chunk has no summary.
    pub fn count(words: Words<'_>) -> Option<Self> {
        let layout = Layout::read(words)?;
        let ring = Ring { words, layout: &layout };
        let mut sealed = ClosingCounts { blocks: 0, events: 0, counted: 0 };
        let folds = ring.folds();
        for chunk in 0..ring.chunk_count() {
            match ring.summary(chunk) {
                Some(summary) => {
                    sealed.blocks += CHUNK_BLOCKS as u64;
                    sealed.events += u64::from(summary.events);
                }
                None => {
                    sealed.blocks +=
                        ring.places_of(chunk).filter(|&place| ring.head(place).is_some()).count()
                            as u64;
                    sealed.events += ring.count(chunk, &folds).events;
                }
            }
        }
        ring.page_rows(&Folds::default(), |row| {
            sealed.counted = sealed.counted.wrapping_add(row.0[COUNT])
        });
        Some(sealed)
    }

    /// Reads the counts in the first page. `None` if the recording was not closed, or was closed by
    /// version 1.0, which wrote no counts.
    pub fn read(words: Words<'_>) -> Option<Self> {
        let counts =
            [sb::SEALED_BLOCKS, sb::SEALED_EVENTS, sb::SEALED_COUNTED].map(|at| words.get(at));
        let is_closed = words.acquire(sb::STATE) == sb::STATE_CLOSED;
        (is_closed && counts != [0; 3]).then(|| ClosingCounts {
            blocks: counts[0],
            events: counts[1],
            counted: counts[2],
        })
    }
}
