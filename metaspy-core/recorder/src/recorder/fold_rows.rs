//! The rows of a folder: a table with open addressing, in the recording.
//!
//! One folder writes a table. The collector's is the fold table; those of lanes are pages, which
//! grow.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::format::layout::Area;
use crate::format::row::{self, FREED, OTHERS, ROW_WORDS, Who, page as head};
use crate::format::{BLOCK_SLOTS, Words, superblock as sb};
use crate::recorder::boundaries::given_up;
use crate::recorder::merged_rows::Merged;
use crate::recorder::tables::Tables;

/// Rows of a folder's first page.
const FIRST_ROWS: usize = 64;
/// Rows of a page at most: 4 MiB.
const MOST_ROWS: usize = 1 << 16;
/// Eighths of a table for subjects with a row of their own, and for all rows.
const OWN: usize = 6;
const ALL: usize = 8;
/// Rows of others that [`row::Again`] may need, beside those of sites.
const AGAIN_OTHERS: usize = 4;
/// Rows are merged when this many eighths of the table are in use.
const EIGHTHS: usize = 5;
/// If that frees few rows, it waits for as many boundaries to be given up.
const WAIT: usize = 1024;
/// Tables from this size on do not fit the second cache, so their rows are prefetched.
const LARGE: usize = 1 << 13;

/// The rows of a table, as long as none is added.
#[derive(Clone, Copy)]
pub(super) struct KnownRows<'a> {
    first: usize,
    rows: &'a [[AtomicU64; ROW_WORDS]],
    bits: u32,
}

impl<'a> KnownRows<'a> {
    /// The row of a subject, with the index of its first word, if it is at its first place.
    #[inline(always)]
    pub fn find(self, key: u64, who: u64) -> Option<(usize, &'a [AtomicU64; ROW_WORDS])> {
        let index = row::first(key, who, self.bits);
        let row = self.rows.get(index)?;
        let is_own = row[row::WHO].load(Relaxed) == who && row[row::KEY].load(Relaxed) == key;
        is_own.then_some((self.first + index * ROW_WORDS, row))
    }

    /// Prefetches the row of a subject.
    #[inline(always)]
    pub fn prefetch(self, key: u64, who: u64) {
        if let Some(row) = self.rows.get(row::first(key, who, self.bits)) {
            Words::from_slice(row).prefetch(0);
        }
    }
}

/// A table of rows.
pub(super) struct FoldRows {
    /// The first word.
    first: usize,
    /// Capacity, a power of two; 0 = no table.
    rows: usize,
    /// Bits of an index.
    bits: u32,
    used: usize,
    /// Rows that were freed. Searches go on behind them.
    freed: usize,
    /// How many boundaries must have been given up before rows are merged again.
    merges_at: usize,
    /// True if a larger page can replace the table.
    grows: bool,
}

impl FoldRows {
    /// The rows of the fold table.
    pub fn of_table(table: Area) -> Self {
        let rows = table.len / ROW_WORDS;
        FoldRows {
            first: table.at,
            rows,
            bits: rows.trailing_zeros(),
            used: 0,
            freed: 0,
            merges_at: 1,
            grows: false,
        }
    }

    /// Rows in pages. [`FoldRows::begin`] makes the first page.
    pub(crate) fn in_pages() -> Self {
        FoldRows { first: 0, rows: 0, bits: 1, used: 0, freed: 0, merges_at: 1, grows: true }
    }

    /// Makes the first page. False if there is no room for it.
    pub fn begin(&mut self, tables: Tables<'_>) -> bool {
        self.rows != 0 || self.grow(tables)
    }

    /// True if there may be no room in its pages for the subjects of a block, but in the fold
    /// table.
    pub(crate) fn is_cramped(&self, tables: Tables<'_>) -> bool {
        let most = tables.layout.tally.len / ROW_WORDS;
        !self.has_room_for_block(tables)
            && !is_filled(tables.cells[sb::TALLY_USED].load(Relaxed) as usize, most, OWN)
    }

    /// True if the subjects of any block find rows of their own.
    pub(crate) fn has_room_for_block(&self, tables: Tables<'_>) -> bool {
        !is_filled(self.used + self.freed + BLOCK_SLOTS, self.rows, OWN) || self.may_grow(tables)
    }

    /// True if all events, each with subject and [`Who`], have a row or find one of their site's
    /// others, whatever rows the others of them take.
    pub(crate) fn can_name(
        &self,
        tables: Tables<'_>,
        events: impl Iterator<Item = (u64, u64)>,
    ) -> bool {
        let mut missing = [0; BLOCK_SLOTS];
        let mut count = 0;
        for (key, who) in events {
            let others = others_of(who);
            if !missing[..count].contains(&others)
                && !self.has(tables, key, who)
                && !self.has(tables, 0, others)
            {
                missing[count] = others;
                count += 1;
            }
        }
        let taken = (self.used + self.freed).max(self.rows * OWN / 8);
        count + AGAIN_OTHERS <= self.rows.saturating_sub(taken)
    }

    /// True if there is a row of this subject that takes more outcomes.
    fn has(&self, tables: Tables<'_>, key: u64, who: u64) -> bool {
        let rows = self.known(tables).rows;
        let first = row::first(key, who, self.bits);
        let (before, from) = rows.split_at(first);
        let used = from.iter().chain(before).take_while(|row| row[row::WHO].load(Relaxed) != 0);
        used.into_iter().any(|row| {
            let [own, owner, _, failed, cancelled, ..] =
                row.each_ref().map(|word| word.load(Relaxed));
            (own, owner) == (key, who) && row::has_room(failed, cancelled)
        })
    }

    /// True if prefetching a row takes less time than waiting for it.
    pub(crate) fn are_many(&self) -> bool {
        self.rows >= LARGE
    }

    /// Its rows as they are now.
    #[inline(always)]
    pub fn known<'a>(&self, tables: Tables<'a>) -> KnownRows<'a> {
        let rows = tables.cells[self.first..][..self.rows * ROW_WORDS].as_chunks().0;
        KnownRows { first: self.first, rows, bits: self.bits }
    }

    /// The first word of a subject's row, created if it is missing. Without room it is the others
    /// row of the site. `None` without room for that. The row may take no more outcomes.
    pub fn find_or_make(&mut self, tables: Tables<'_>, key: u64, who: u64) -> Option<usize> {
        match self.known(tables).find(key, who) {
            Some((word, _)) => Some(word),
            None => self.search(tables, key, who),
        }
    }

    /// As [`FoldRows::find_or_make`], of a row that takes more outcomes.
    #[inline(never)]
    pub fn search(&mut self, tables: Tables<'_>, key: u64, who: u64) -> Option<usize> {
        if let Some(word) = self.probe(tables, key, who, OWN) {
            return Some(word);
        }
        if self.grow(tables)
            && let Some(word) = self.probe(tables, key, who, OWN)
        {
            return Some(word);
        }
        tables.count(sb::OTHERS, 1);
        self.probe(tables, 0, others_of(who), ALL)
    }

    /// Finds a row that takes more outcomes, or creates one while at most `eighths` eighths of the
    /// table are in use.
    fn probe(&mut self, tables: Tables<'_>, key: u64, who: u64, eighths: usize) -> Option<usize> {
        let mut index = row::first(key, who, self.bits);
        let mut freed = None;
        for _ in 0..self.rows {
            let word = self.first + index * ROW_WORDS;
            let cells = &tables.cells[word..word + ROW_WORDS];
            let found = cells[row::WHO].load(Relaxed);
            let has_room = || {
                row::has_room(
                    cells[row::FAILED_PANICKED].load(Relaxed),
                    cells[row::CANCELLED_RUNNING].load(Relaxed),
                )
            };
            if found == who && cells[row::KEY].load(Relaxed) == key && has_room() {
                return Some(word);
            }
            if found == FREED {
                freed = freed.or(Some(word));
            }
            if found == 0 {
                if freed.is_none() && is_filled(self.used + self.freed, self.rows, eighths) {
                    return None;
                }
                self.used += 1;
                self.freed -= usize::from(freed.is_some());
                let word = freed.unwrap_or(word);
                let cells = &tables.cells[word..word + ROW_WORDS];
                // An empty row changes no sum, so it needs no note.
                cells[row::KEY].store(key, Relaxed);
                cells[row::WHO].store(who, Release);
                self.show_used(tables);
                return Some(word);
            }
            index = (index + 1) & (self.rows - 1);
        }
        None
    }

    /// Writes how many rows are in use, of the fold table.
    fn show_used(&self, tables: Tables<'_>) {
        if !self.grows {
            tables.cells[sb::TALLY_USED].store(self.used as u64, Release);
        }
    }

    /// The first word and the number of the rows, if rows of epochs that no view distinguishes
    /// should be merged.
    pub(crate) fn to_merge(&self) -> Option<(usize, usize)> {
        let is_full = is_filled(self.used + self.freed, self.rows, EIGHTHS);
        (is_full && self.rows != 0 && given_up() >= self.merges_at)
            .then_some((self.first, self.rows))
    }

    /// Rows were merged.
    pub fn merged(&mut self, tables: Tables<'_>, merged: &Merged) {
        let wait = if merged.used * 8 < self.rows * (EIGHTHS - 1) { 1 } else { WAIT };
        (self.used, self.freed, self.merges_at) = (merged.used, merged.freed, given_up() + wait);
        self.show_used(tables);
    }

    /// Rows of its next page.
    fn next_rows(&self) -> usize {
        if self.rows == 0 { FIRST_ROWS } else { self.rows * 2 }
    }

    /// True if there is room for a larger page: folders have less than half of the pages' area.
    fn may_grow(&self, tables: Tables<'_>) -> bool {
        let rows = self.next_rows();
        let area = tables.layout.pages.bytes();
        let most = tables.pages_room.load(Acquire).min(area / 2);
        let free = most.saturating_sub(tables.cells[sb::PAGES_USED].load(Relaxed) as usize);
        self.grows && rows <= MOST_ROWS && (rows * ROW_WORDS + head::HEADER_WORDS) * 8 <= free
    }

    /// Goes on in a larger page. Earlier pages keep their rows, and a reader adds them up.
    #[cold]
    fn grow(&mut self, tables: Tables<'_>) -> bool {
        let rows = self.next_rows();
        let Some(word) = self.may_grow(tables).then(|| tables.new_page(rows)).flatten() else {
            return false;
        };
        tables.cells[word + head::LANE].store(u32::MAX.into(), Relaxed);
        tables.cells[word + head::FOLDED].store(1, Release);
        *self = FoldRows {
            first: word + head::HEADER_WORDS,
            rows,
            bits: rows.trailing_zeros(),
            used: 0,
            freed: 0,
            merges_at: 1,
            grows: true,
        };
        true
    }
}

/// The [`Who`] of the row of a site's subjects without a row of their own. Its key is 0.
pub(super) fn others_of(who: u64) -> u64 {
    Who { kind: OTHERS, ..Who::unpack(who) }.pack()
}

/// True if so many eighths of a table are in use.
fn is_filled(used: usize, rows: usize, eighths: usize) -> bool {
    used * 8 >= rows * eighths
}
