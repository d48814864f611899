//! Folds in progress: blocks that are partly folded, and rows that may include an event that is
//! still stored.
//!
//! A live recording is read while threads fold, and a killed process may have stopped in the middle
//! of a fold. In both cases each event is counted once: slots before a folder's cursor are folded,
//! the others are stored, and the row of the event in progress has the words that the folder noted
//! before.

use crate::ring::blocks::Ring;
use crate::ring::fold::RowWords;
use metaspy_format::folder::{self, ALL, Cursor};
use metaspy_format::row::{COUNT, ROW_WORDS};
use metaspy_format::slot::{self, Mark};
use metaspy_format::superblock::{self as sb, journal};
use metaspy_format::{BLOCK_SLOTS, SLOT_WORDS, Words, header};

/// Maximum number of attempts to read a record while its folder moves on.
const TRIES: usize = 16;

/// Folds in progress at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    /// Blocks by sequence, each with the first slot that is stored.
    blocks: Vec<(u64, usize)>,
    /// Rows by their first word, as they were before the event in progress.
    rows: Vec<(usize, RowWords)>,
    /// Rows that were merged into others and count nothing, by their first word.
    merged: Vec<usize>,
    /// Number of folded events.
    pub folded: u64,
    /// True if an event, or the journal of an older recording, is in the middle of being added to
    /// the rows.
    pub in_progress: bool,
}

/// State of folding. While it is unchanged, no event moves from the window into the tallies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldState(Vec<u64>);

impl FoldState {
    /// Returns true if a fold has ever begun.
    pub fn has_begun(&self) -> bool {
        self.0.iter().any(|&word| word != 0)
    }
}

impl Folds {
    /// Returns the first slot of a block that is stored; [`ALL`] if the whole block is folded.
    #[inline]
    pub(crate) fn first_stored(&self, sequence: u64) -> usize {
        match self.blocks.binary_search_by_key(&sequence, |(folded, _)| *folded) {
            Ok(at) => self.blocks[at].1,
            Err(_) => 1,
        }
    }

    /// Returns true if one of the blocks is at one of these places of a ring.
    pub fn touch(&self, places: &std::ops::Range<u64>, blocks: u64) -> bool {
        self.blocks.iter().any(|(sequence, _)| places.contains(&(sequence % blocks)))
    }

    /// Returns true if no block in the window is partly or completely folded.
    pub(crate) fn are_at_rest(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns true if the words of some rows are known from the folds.
    pub(crate) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Returns the row at this word, without the events in progress; `None` if it is empty.
    #[inline]
    pub fn row(&self, words: Words<'_>, at: usize) -> Option<RowWords> {
        if self.merged.contains(&at) {
            return None;
        }
        match self.rows.binary_search_by_key(&at, |(row, _)| *row) {
            Ok(found) => Some(self.rows[found].1),
            Err(_) => RowWords::read(words, at),
        }
    }
}

impl Ring<'_> {
    /// Returns the first words of the folders' records.
    fn folders(self) -> impl Iterator<Item = usize> {
        let table = self.layout.folders;
        (0..table.len / folder::WORDS).map(move |number| table.at + number * folder::WORDS)
    }

    /// Returns the state of folding.
    pub(crate) fn fold_state(self) -> FoldState {
        let journal = self.layout.journal.of(self.words).acquire(journal::COMMIT);
        let cursors = self.folders().flat_map(|record| {
            let cursor = self.words.acquire(record + folder::CURSOR);
            // An event that is folded alone moves while the cursor stays.
            let moves =
                Cursor::unpack(cursor).single().map(|event| u64::from(self.is_folded(event)));
            [cursor, moves.unwrap_or(0)]
        });
        FoldState([journal, self.words.acquire(sb::FOLD_DONE)].into_iter().chain(cursors).collect())
    }

    /// Returns the folds in progress.
    pub fn folds(self) -> Folds {
        let mut folds = Folds::default();
        if self.layout.folders.len == 0 {
            folds.folded = self.words.get(sb::FOLDED);
            self.add_journal(&mut folds);
        }
        for record in self.folders() {
            self.add_folder(record, &mut folds);
        }
        folds.blocks.sort_unstable();
        folds.rows.sort_by_key(|(at, _)| *at);
        folds
    }

    fn add_folder(self, record: usize, folds: &mut Folds) {
        let (cursor, merged) = match self.cursor_and_merged(record) {
            (0, _) => return,
            (cursor, merged) => (Cursor::unpack(cursor), merged),
        };
        let note = record + folder::note_at(cursor.note);
        folds.folded = folds.folded.saturating_add(self.words.get(note + folder::FOLDED));
        let place = header::place(cursor.sequence, self.layout.blocks);
        if self.block(place).acquire(header::SEQUENCE) == cursor.sequence {
            folds.blocks.push((cursor.sequence, cursor.slot.clamp(1, BLOCK_SLOTS)));
        }
        let at = usize::try_from(self.words.get(note + folder::ROW)).unwrap_or(0);
        if cursor.slot >= ALL {
            folds.merged.extend(usize::try_from(merged).ok().filter(|&row| row != 0));
            return;
        }
        folds.in_progress = true;
        if cursor.single().is_some_and(|event| self.is_folded(event)) {
            // The row has it.
            folds.folded = folds.folded.saturating_add(u64::from(at != 0));
            return;
        }
        if at != 0
            && let Some(mut row) = RowWords::read(self.words, at)
        {
            for word in COUNT..ROW_WORDS {
                row.0[word] = self.words.get(note + folder::BEFORE + word - COUNT);
            }
            folds.rows.push((at, row));
        }
    }

    /// Returns true if the event in a slot of a block, of which others are kept, has been folded.
    fn is_folded(self, (sequence, slot): (u64, usize)) -> bool {
        let block = self.block(header::place(sequence, self.layout.blocks));
        slot::site(block.acquire(slot * SLOT_WORDS)) == Mark::Folded as u32
    }

    /// Returns the cursor of a folder, and the row that was being merged while it was there.
    fn cursor_and_merged(self, record: usize) -> (u64, u64) {
        let read = |_| {
            let cursor = self.words.acquire(record + folder::CURSOR);
            (cursor, self.words.acquire(record + folder::MERGED))
        };
        // If the record is never stable, the reader finds that the state of folding has changed.
        (0..TRIES)
            .map(read)
            .find(|(cursor, _)| self.words.acquire(record + folder::CURSOR) == *cursor)
            .unwrap_or_else(|| read(TRIES))
    }

    /// Adds the fold of an older recording that is committed and not yet applied.
    fn add_journal(self, folds: &mut Folds) {
        let words = self.layout.journal.of(self.words);
        if words.acquire(journal::COMMIT) <= self.words.acquire(sb::FOLD_DONE) {
            return;
        }
        let room = words.len().saturating_sub(journal::HEADER_WORDS);
        let count = |at| usize::try_from(words.get(at)).unwrap_or(usize::MAX);
        let blocks = count(journal::BLOCKS).min(room);
        let rows = count(journal::ROWS).min((room - blocks) / (1 + ROW_WORDS));
        let first_row = journal::HEADER_WORDS + blocks;
        folds.blocks = (0..blocks).map(|at| (words.get(journal::HEADER_WORDS + at), ALL)).collect();
        for at in (0..rows).map(|row| first_row + row * (1 + ROW_WORDS)) {
            let index = usize::try_from(words.get(at)).unwrap_or(usize::MAX);
            if let Some(row) = RowWords::read(words, at + 1) {
                folds.rows.push((
                    self.layout.tally.at.saturating_add(index.saturating_mul(ROW_WORDS)),
                    row,
                ));
            }
        }
        folds.folded = words.get(journal::FOLDED);
        folds.in_progress = true;
    }
}
