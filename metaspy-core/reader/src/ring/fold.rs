//! Calls without an event in the window: rows of the fold table, of the folders' pages and of the
//! lanes' pages.

use std::ops::Range;

use crate::event::Outcome;
use crate::measure::Measure;
use crate::ring::blocks::Ring;
use crate::ring::folds::Folds;
use metaspy_format::row::array::{Key, Shape};
use metaspy_format::row::{
    Again, CANCELLED_RUNNING, COUNT, FAILED_PANICKED, FREED, KEY, MAX, ROW_WORDS, TIMED, TOTAL,
    WHO, Who, page,
};
use metaspy_format::slot::{ALL_OUTCOMES, has_outcome};
use metaspy_format::superblock as sb;
use metaspy_format::{Words, high, low};
use metaspy_probe::{KindId, Subject};

/// Words of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowWords(pub [u64; ROW_WORDS]);

/// Table that a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The fold table or the page of a folder: the events of the row left the window.
    Folded,
    /// The page of a lane: calls without an event, and late ends.
    Page,
}

impl RowWords {
    pub fn read(words: Words<'_>, at: usize) -> Option<Self> {
        // The writer stored this word last.
        let who = words.acquire(at + WHO);
        let mut row = [0; ROW_WORDS];
        for (word, value) in row.iter_mut().enumerate() {
            *value = words.get(at + word);
        }
        row[WHO] = who;
        (who != 0 && who != FREED).then_some(RowWords(row))
    }

    /// Returns site, kind and epoch of the row.
    pub fn who(&self) -> Who {
        Who::unpack(self.0[WHO])
    }

    /// Returns the meaning of its ticks, if the row counts no calls.
    pub fn again(&self) -> Option<Again> {
        Again::from_site(self.who().site)
    }

    /// Returns the subject of the row.
    pub fn subject(&self) -> Option<Subject> {
        match self.who().kind {
            0 => None,
            kind => Some(Subject::new(KindId(kind), self.0[KEY])),
        }
    }

    /// Returns the numbers that the row adds to a measure.
    pub fn measure(&self, source: Source) -> Measure {
        let (failed_panicked, cancelled_running) =
            (self.0[FAILED_PANICKED], self.0[CANCELLED_RUNNING]);
        let moved = u64::from(high(cancelled_running));
        Measure {
            count: self.0[COUNT],
            lost: if self.who().lost { self.0[COUNT] } else { 0 },
            timed: self.0[TIMED],
            instants: 0,
            at_least: false,
            total_at_most: false,
            wall_ticks: 0,
            total_ticks: self.0[TOTAL],
            max_ticks: self.0[MAX],
            self_ticks: None,
            window_self_ticks: 0,
            failed: low(failed_panicked).into(),
            panicked: high(failed_panicked).into(),
            cancelled: low(cancelled_running).into(),
            running: if source == Source::Folded { moved } else { moved.wrapping_neg() },
        }
    }
}

impl RowWords {
    /// Returns the numbers that the row adds to a measure of the calls with these outcomes, one bit
    /// each. `None` if the row does not distinguish them. Times of a row cover all outcomes, so
    /// such a measure has none.
    pub(crate) fn measure_of(&self, source: Source, outcomes: u8) -> Option<Measure> {
        let all = self.measure(source);
        if outcomes == ALL_OUTCOMES {
            return Some(all);
        }
        let wants = |outcome: Outcome| has_outcome(outcomes, outcome);
        let chosen = |outcome: Outcome, calls: u64| if wants(outcome) { calls } else { 0 };
        let failed = chosen(Outcome::Failed, all.failed);
        let panicked = chosen(Outcome::Panicked, all.panicked);
        let cancelled = chosen(Outcome::Cancelled, all.cancelled);
        // Late ends count negative, and their event may still be in the window, marked as moved.
        let running = together(all.running, &[Outcome::Running, Outcome::Moved], wants)?;
        let named = [all.failed, all.panicked, all.cancelled, all.running]
            .into_iter()
            .fold(0, u64::wrapping_add);
        let returned: &[Outcome] = match source {
            Source::Folded => &[Outcome::Returned, Outcome::Succeeded, Outcome::Instant],
            // A call without an event may still run.
            Source::Page => {
                &[Outcome::Returned, Outcome::Succeeded, Outcome::Instant, Outcome::Running]
            }
        };
        let returned = together(all.count.wrapping_sub(named), returned, wants)?;
        let count =
            [failed, panicked, cancelled, running, returned].into_iter().fold(0, u64::wrapping_add);
        let lost = if self.who().lost { count } else { 0 };
        Some(Measure { count, lost, failed, panicked, cancelled, running, ..Measure::default() })
    }
}

/// Returns the number of wanted calls among calls whose outcomes a row does not distinguish; `None`
/// if only some are wanted.
fn together(calls: u64, outcomes: &[Outcome], wants: impl Fn(Outcome) -> bool) -> Option<u64> {
    let wanted = outcomes.iter().filter(|outcome| wants(**outcome)).count();
    match wanted {
        0 => Some(0),
        _ if calls == 0 => Some(0),
        _ if wanted == outcomes.len() => Some(calls),
        _ => None,
    }
}

impl Ring<'_> {
    /// Passes every row of folded events to `each`: from the fold table and from the folders'
    /// pages.
    pub(crate) fn folded_rows(self, folds: &Folds, mut each: impl FnMut(RowWords)) {
        self.rows_of_folds(folds, |_, row| each(row));
    }

    /// Passes rows like [`Ring::folded_rows`], with the position of the row's page; `None` = the
    /// fold table.
    pub(crate) fn rows_of_folds(
        self,
        folds: &Folds,
        mut each: impl FnMut(Option<usize>, RowWords),
    ) {
        // Reading a table that was never used would allocate all of its pages.
        if self.words.acquire(sb::TALLY_USED) != 0 || folds.has_rows() {
            let table = self.layout.tally;
            (0..table.len / ROW_WORDS)
                .filter_map(|index| folds.row(self.words, table.at + index * ROW_WORDS))
                .for_each(|row| each(None, row));
        }
        self.pages(|page| {
            if page.is_folded {
                page.rows
                    .filter_map(|at| folds.row(self.words, at))
                    .for_each(|row| each(Some(page.at), row));
            }
        });
    }

    /// Passes every row of the lanes' pages to `each`. Returns false if the pages cannot be read to
    /// their end.
    pub(crate) fn page_rows(self, folds: &Folds, mut each: impl FnMut(RowWords)) -> bool {
        self.rows_of_pages(folds, |_, row| each(row))
    }

    /// Passes rows like [`Ring::page_rows`], with the position of the row's page.
    pub(crate) fn rows_of_pages(
        self,
        folds: &Folds,
        mut each: impl FnMut(usize, RowWords),
    ) -> bool {
        self.pages(|page| {
            if !page.is_folded {
                array_rows(self.layout.pages.of(self.words), page.at, |row| each(page.at, row));
                page.rows
                    .filter_map(|at| folds.row(self.words, at))
                    .for_each(|row| each(page.at, row));
            }
        })
    }

    /// Passes every page to `each`. Returns false if they cannot be read to their end.
    fn pages(self, mut each: impl FnMut(Page<std::iter::StepBy<Range<usize>>>)) -> bool {
        let words = self.layout.pages.of(self.words);
        let used = self.words.acquire(sb::PAGES_USED) / 8;
        let end = usize::try_from(used).unwrap_or(usize::MAX);
        let mut at = 0;
        while at < end.min(words.len()) {
            let rows = usize::try_from(words.get(at + page::ROWS)).unwrap_or(usize::MAX);
            let first = at + page::HEADER_WORDS;
            let room = words.len().saturating_sub(first) / ROW_WORDS;
            if rows == 0 {
                return false;
            }
            let first_row = self.layout.pages.at + first;
            let is_array = words.acquire(at + page::WHO) != 0;
            let whole = if is_array { 0 } else { rows.min(room) };
            each(Page {
                at,
                is_folded: words.acquire(at + page::FOLDED) == 1,
                rows: (first_row..first_row + whole * ROW_WORDS).step_by(ROW_WORDS),
            });
            if rows > room {
                return false;
            }
            at = first + rows * ROW_WORDS;
        }
        end <= words.len()
    }
}

/// Page of rows.
struct Page<R> {
    /// Position of the page in the area.
    at: usize,
    /// True if the page belongs to a folder.
    is_folded: bool,
    /// First word of each row.
    rows: R,
}

/// Passes the rows of a page to `each`, if it is an array.
fn array_rows(words: Words<'_>, page: usize, mut each: impl FnMut(RowWords)) {
    // The writer stored this word last.
    let who = words.acquire(page + page::WHO);
    let shape = Shape::read(words.get(page + page::LENGTH), words.get(page + page::BUCKETS));
    let units = usize::try_from(words.get(page + page::ROWS)).unwrap_or(usize::MAX);
    let units = units.min(words.len().saturating_sub(page + page::HEADER_WORDS) / ROW_WORDS);
    let Some(shape) =
        shape.filter(|shape| who != 0 && shape.units().is_some_and(|needed| needed <= units))
    else {
        return;
    };
    let first = page + page::HEADER_WORDS;
    for (key, at) in shape.rows() {
        let key = match key {
            Key::Is(key) => key,
            Key::At(at) => words.acquire(first + at),
        };
        let [count, failed_panicked] =
            [0, FAILED_PANICKED - COUNT].map(|word| words.get(first + at + word));
        if count != 0 || failed_panicked != 0 {
            each(RowWords([key, who, count, failed_panicked, 0, 0, 0, 0]));
        }
    }
}
