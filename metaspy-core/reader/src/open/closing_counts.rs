//! What a recording held when it was closed.

use crate::open::header::Layout;
use crate::scan::blocks::Ring;
use metaspy_format::row::COUNT;
use metaspy_format::superblock as sb;
use metaspy_format::{CHUNK_BLOCKS, Words};

/// How much a recording held when it was closed. Lanes may have gone on in their blocks and pages, so a reader finds at
/// least this much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosingCounts {
    /// Places with a block.
    pub blocks: u64,
    /// Events in them.
    pub events: u64,
    /// Calls in the pages of the lanes.
    pub counted: u64,
}

impl ClosingCounts {
    /// Counts what is there now. Reads summaries, and blocks only of chunks that have none.
    pub fn count(words: Words<'_>) -> Option<Self> {
        let layout = Layout::read(words)?;
        let ring = Ring { words, layout: &layout };
        let mut sealed = ClosingCounts { blocks: 0, events: 0, counted: 0 };
        for chunk in 0..ring.chunk_count() {
            match ring.summary(chunk) {
                Some(summary) => {
                    sealed.blocks += CHUNK_BLOCKS as u64;
                    sealed.events += u64::from(summary.events);
                }
                None => {
                    sealed.blocks += ring.places_of(chunk).filter(|&place| ring.head(place).is_some()).count() as u64;
                    sealed.events += ring.count(chunk, &[]).events;
                }
            }
        }
        ring.page_rows(|row| sealed.counted = sealed.counted.wrapping_add(row.0[COUNT]));
        Some(sealed)
    }

    /// What the recording says; `None` if it was not closed, or by a version that said nothing.
    pub fn read(words: Words<'_>) -> Option<Self> {
        let said = [sb::SEALED_BLOCKS, sb::SEALED_EVENTS, sb::SEALED_COUNTED].map(|at| words.get(at));
        let is_closed = words.acquire(sb::STATE) == sb::STATE_CLOSED;
        (is_closed && said != [0; 3]).then(|| ClosingCounts { blocks: said[0], events: said[1], counted: said[2] })
    }
}
