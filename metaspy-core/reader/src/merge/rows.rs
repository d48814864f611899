//! Rows of tallies, with the numbers of the merged recording.

use crate::merge::remap::Input;
use crate::tally::fold::Row;
use crate::tally::folds::Folds;
use metaspy_format::row::{self, MAX, ROW_WORDS, TOTAL, WHO, Who};

/// The rows of one input.
#[derive(Default)]
pub(super) struct Rows {
    /// Rows of events that left the window.
    pub folded: Vec<[u64; ROW_WORDS]>,
    /// Rows of the lanes' pages.
    pub pages: Vec<[u64; ROW_WORDS]>,
    /// True if the pages could be read to their end.
    pub whole: bool,
}

impl Rows {
    pub fn of(input: &Input, folds: &Folds) -> Rows {
        let ring = input.ring();
        let mut rows = Rows::default();
        ring.folded_rows(folds, |row| rows.folded.push(renumbered(input, row)));
        let pages = &mut rows.pages;
        rows.whole = ring.page_rows(folds, |row| pages.push(renumbered(input, row)));
        rows
    }
}

fn renumbered(input: &Input, row: Row) -> [u64; ROW_WORDS] {
    let who = row.who();
    let mut words = row.0;
    words[WHO] = Who {
        site: input.site(who.site),
        kind: input.kind(who.kind),
        epoch: row::epoch(input.epoch.wrapping_add(who.epoch)),
        ..who
    }
    .pack();
    words[TOTAL] = input.sum(words[TOTAL]);
    words[MAX] = input.sum(words[MAX]);
    words
}
