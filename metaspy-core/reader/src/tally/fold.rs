//! Calls without an event in the window: rows of the fold table, pages of lanes, and a fold that is committed in the
//! journal and not yet applied.

use crate::scan::blocks::Ring;
use crate::tally::measure::Measure;
use metaspy_format::row::{
    CANCELLED_RUNNING, COUNT, FAILED_PANICKED, KEY, MAX, ROW_WORDS, TIMED, TOTAL, WHO, Who, page,
};
use metaspy_format::superblock::{self as sb, journal};
use metaspy_format::{Words, high, low};
use metaspy_probe::{KindId, Subject};

/// The words of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row(pub [u64; ROW_WORDS]);

/// The table of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The fold table: the events of the row left the window.
    Folded,
    /// The page of a lane: calls without an event, and late ends.
    Page,
}

impl Row {
    fn read(words: Words<'_>, at: usize) -> Option<Self> {
        // This word was stored last.
        let who = words.acquire(at + WHO);
        let mut row = [0; ROW_WORDS];
        for (word, value) in row.iter_mut().enumerate() {
            *value = words.get(at + word);
        }
        row[WHO] = who;
        (who != 0).then_some(Row(row))
    }

    /// Site, kind and epoch of the row.
    pub fn who(&self) -> Who {
        Who::unpack(self.0[WHO])
    }

    /// The subject of the row.
    pub fn subject(&self) -> Option<Subject> {
        match self.who().kind {
            0 => None,
            kind => Some(Subject::new(KindId(kind), self.0[KEY])),
        }
    }

    /// The numbers that the row adds to a measure.
    pub fn measure(&self, source: Source) -> Measure {
        let (failed_panicked, cancelled_running) = (self.0[FAILED_PANICKED], self.0[CANCELLED_RUNNING]);
        let moved = u64::from(high(cancelled_running));
        Measure {
            count: self.0[COUNT],
            lost: if self.who().lost { self.0[COUNT] } else { 0 },
            timed: self.0[TIMED],
            instants: 0,
            at_least: false,
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

/// A fold that is committed and not yet completely applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Sequences of the folded blocks, sorted.
    pub blocks: Vec<u64>,
    /// New rows by their index, sorted.
    pub rows: Vec<(u64, Row)>,
    /// The number of folded events after this fold.
    pub folded: u64,
}

/// The state of folding. While it is unchanged, no event moves from the window into the tallies.
pub type FoldState = (u64, u64);

impl Ring<'_> {
    /// The state of folding.
    pub fn fold_state(self) -> FoldState {
        let committed = self.layout.journal.of(self.words).acquire(journal::COMMIT);
        (committed, self.words.acquire(sb::FOLD_DONE))
    }

    /// The fold that is committed and not yet applied, if there is one.
    pub fn pending(self) -> Option<Pending> {
        let words = self.layout.journal.of(self.words);
        let (committed, done) = self.fold_state();
        if committed <= done {
            return None;
        }
        let room = words.len().saturating_sub(journal::HEADER_WORDS);
        let count = |at| usize::try_from(words.get(at)).unwrap_or(usize::MAX);
        let blocks = count(journal::BLOCKS).min(room);
        let rows = count(journal::ROWS).min((room - blocks) / (1 + ROW_WORDS));
        let first_row = journal::HEADER_WORDS + blocks;
        let mut pending = Pending {
            blocks: (0..blocks).map(|at| words.get(journal::HEADER_WORDS + at)).collect(),
            rows: Vec::with_capacity(rows),
            folded: words.get(journal::FOLDED),
        };
        for at in (0..rows).map(|row| first_row + row * (1 + ROW_WORDS)) {
            if let Some(row) = Row::read(words, at + 1) {
                pending.rows.push((words.get(at), row));
            }
        }
        pending.blocks.sort_unstable();
        pending.rows.sort_by_key(|(index, _)| *index);
        Some(pending)
    }

    /// The number of folded events.
    pub fn folded(self, pending: Option<&Pending>) -> u64 {
        pending.map_or_else(|| self.words.get(sb::FOLDED), |pending| pending.folded)
    }

    /// Passes every row of the fold table to `each`, with the changes of the pending fold.
    pub fn folded_rows(self, pending: Option<&Pending>, mut each: impl FnMut(Row)) {
        // Reading a table that was never used would allocate all of its pages.
        if self.words.acquire(sb::TALLY_USED) == 0 && pending.is_none() {
            return;
        }
        let words = self.layout.tally.of(self.words);
        let mut new = pending.map_or(&[][..], |pending| &pending.rows).iter().peekable();
        for index in 0..(words.len() / ROW_WORDS) as u64 {
            let mut row = Row::read(words, index as usize * ROW_WORDS);
            while let Some((_, changed)) = new.next_if(|(at, _)| *at <= index) {
                row = Some(*changed);
            }
            if let Some(row) = row {
                each(row);
            }
        }
    }

    /// Passes every row of the lanes' pages to `each`. False if the pages cannot be read to their end.
    pub fn page_rows(self, mut each: impl FnMut(Row)) -> bool {
        self.rows_of_pages(|_, row| each(row))
    }

    /// As [`Ring::page_rows`], with the position of the row's page.
    pub fn rows_of_pages(self, mut each: impl FnMut(usize, Row)) -> bool {
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
            for row in 0..rows.min(room) {
                if let Some(row) = Row::read(words, first + row * ROW_WORDS) {
                    each(at, row);
                }
            }
            if rows > room {
                return false;
            }
            at = first + rows * ROW_WORDS;
        }
        end <= words.len()
    }
}
