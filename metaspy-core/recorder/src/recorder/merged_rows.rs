//! Merges rows of epochs that no view distinguishes, so that a page is not filled by profilers that
//! come and go.
//!
//! A row whose counts were merged into another one stays for one more turn. A call that was counted
//! in it may still run, and adds its outcome there. Nothing shows whether a call runs for longer,
//! so the rows that a lane frees are counted ([`crate::format::superblock::ROWS_FREED`]).
//!
//! A lane merges its own rows when a page is full, with a note of the row before, as a fold does.
//! Rows cannot stay for ever, because a profiler for each test begins thousands of epochs. A
//! profile holds its epochs apart for as long as it lives.

use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::format::row::{self, FREED, ROW_WORDS, Who};
use crate::recorder::boundaries::Boundaries;
use crate::recorder::folder::Folder;
use crate::recorder::tables::Tables;

/// A page whose rows were merged.
pub(super) struct Merged {
    /// Rows in use.
    pub used: usize,
    /// Freed rows that searches go on behind.
    pub freed: usize,
    /// Rows in use that are empty, and that the next turn frees.
    pub emptied: usize,
    /// Rows that this turn freed.
    pub freed_now: usize,
}

/// Merges rows of a page, of which this thread is the only writer. The page begins at the word
/// `first`, and has a power of two of rows.
pub(super) fn merge_epochs(
    tables: Tables<'_>,
    folder: &mut Folder,
    boundaries: &Boundaries,
    first: usize,
    rows: usize,
) -> Merged {
    let page = Page { tables, first, rows };
    let mut emptied = 0;
    let mut freed_now = 0;
    for at in 0..rows {
        let who = page.who(at);
        let epoch = Who::unpack(who).epoch;
        if who == 0
            || who == FREED
            || boundaries.is_newest(epoch)
            || boundaries.merged(epoch) == epoch
        {
            continue;
        }
        if page.is_empty(at) {
            page.set_who(at, FREED);
            freed_now += 1;
            continue;
        }
        let merged = Who { epoch: boundaries.merged(epoch), ..Who::unpack(who) }.pack();
        if let Some(to) = page.row(page.row_words(at)[row::KEY].load(Relaxed), merged) {
            folder.merge(tables, page.word(at), page.word(to));
            emptied += 1;
        }
    }
    page.sweep();
    let count = |is_it: fn(u64) -> bool| (0..rows).filter(|&at| is_it(page.who(at))).count();
    Merged {
        used: count(|who| who != 0 && who != FREED),
        freed: count(|who| who == FREED),
        emptied,
        freed_now,
    }
}

struct Page<'t> {
    tables: Tables<'t>,
    first: usize,
    rows: usize,
}

impl<'t> Page<'t> {
    fn word(&self, at: usize) -> usize {
        self.first + at * ROW_WORDS
    }

    fn row_words(&self, at: usize) -> &'t [std::sync::atomic::AtomicU64; ROW_WORDS] {
        self.tables.words(self.word(at))
    }

    fn who(&self, at: usize) -> u64 {
        self.row_words(at)[row::WHO].load(Relaxed)
    }

    fn set_who(&self, at: usize, who: u64) {
        self.row_words(at)[row::WHO].store(who, Release);
    }

    fn is_empty(&self, at: usize) -> bool {
        self.row_words(at)[row::COUNT..].iter().all(|word| word.load(Relaxed) == 0)
    }

    /// The place of a subject's row, which is made if it is missing. `None` if that would leave no
    /// place where searches end.
    fn row(&self, key: u64, who: u64) -> Option<usize> {
        let mut freed = None;
        let mut at = row::first(key, who, self.rows.trailing_zeros());
        for _ in 0..self.rows {
            let words = self.row_words(at).each_ref().map(|word| word.load(Relaxed));
            match words[row::WHO] {
                FREED => freed = freed.or(Some(at)),
                0 => {
                    freed =
                        freed.or(Some(at).filter(|_| self.who((at + 1) & (self.rows - 1)) == 0));
                    break;
                }
                found
                    if found == who
                        && words[row::KEY] == key
                        && row::has_room(
                            words[row::FAILED_PANICKED],
                            words[row::CANCELLED_RUNNING],
                        ) =>
                {
                    return Some(at);
                }
                _ => {}
            }
            at = (at + 1) & (self.rows - 1);
        }
        let made = self.row_words(freed?);
        made[row::COUNT..].iter().for_each(|word| word.store(0, Relaxed));
        made[row::KEY].store(key, Relaxed);
        made[row::WHO].store(who, Release);
        freed
    }

    /// Makes freed rows unused, where no search goes on behind them: a row is found from its first
    /// place on.
    fn sweep(&self) {
        let mask = self.rows - 1;
        let Some(end) = (0..self.rows).find(|&at| self.who(at) == 0) else { return };
        // Back from an unused place: how many steps back the first places of the rows on the way
        // are.
        let mut needed = 0;
        for step in 1..self.rows {
            let at = end.wrapping_sub(step) & mask;
            match self.who(at) {
                0 => needed = step,
                FREED if step > needed => self.set_who(at, 0),
                FREED => {}
                who => {
                    let key = self.row_words(at)[row::KEY].load(Relaxed);
                    let first = row::first(key, who, self.rows.trailing_zeros());
                    needed = needed.max(step + (at.wrapping_sub(first) & mask));
                }
            }
        }
    }
}
