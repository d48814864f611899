//! The words of a recording, as far as folds need them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::format::layout::Layout;
use crate::format::row::{ROW_WORDS, page};
use crate::format::superblock as sb;
use crate::recorder::cut_spans::CutSpans;
use crate::recorder::protocol::claim;

/// The words of a recording, and the places of its tables.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub cells: &'a [AtomicU64],
    pub layout: &'a Layout,
    pub cut_spans: &'a CutSpans,
    /// Bytes of the pages area that may be used.
    pub pages_room: &'a AtomicUsize,
}

impl<'a> Tables<'a> {
    /// `N` words.
    #[inline(always)]
    pub fn words<const N: usize>(self, at: usize) -> &'a [AtomicU64; N] {
        self.cells[at..].first_chunk().expect("tables are in the recording")
    }

    /// Adds to one of the superblock's counters.
    pub fn count(self, counter: usize, by: u64) {
        self.cells[counter].fetch_add(by, Ordering::Relaxed);
    }

    /// A new page of rows: the first word of its header.
    pub(crate) fn new_page(self, rows: usize) -> Option<usize> {
        let area = self.layout.pages;
        let length = |rows: u64| {
            rows.saturating_mul(ROW_WORDS as u64)
                .saturating_add(page::HEADER_WORDS as u64)
                .saturating_mul(8)
        };
        let at = claim(&self.cells[sb::PAGES_USED], rows as u64, length, |at: u64| {
            let room = self.pages_room.load(Ordering::Acquire) as u64;
            let has_room = at.saturating_add(length(rows as u64)) <= room;
            has_room.then(|| &self.cells[area.at + at as usize / 8 + page::ROWS])
        })?;
        Some(area.at + at as usize / 8)
    }
}
