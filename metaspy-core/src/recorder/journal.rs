//! A fold is a transaction: after a kill it is either complete or not begun.
//!
//! The journal receives the new values of all rows and the blocks that they replace. One store commits it; then rows and
//! blocks follow. If a reader finds a committed journal whose fold is not complete, it reads the journal.

use std::sync::atomic::{Ordering, fence};

use crate::format::header;
use crate::format::row::ROW_WORDS;
use crate::format::superblock::{self as sb, journal};
use crate::recorder::log::Log;
use crate::recorder::protocol::retract;

/// One fold.
pub(super) struct Entry<'a> {
    pub number: u64,
    pub sequences: &'a [u64],
    /// Index in the fold table, and the row's new words.
    pub rows: &'a [(usize, [u64; ROW_WORDS])],
    pub events: u64,
    pub moved: u64,
}

impl Log {
    /// Commits and applies a fold: rows get their new values, blocks become empty.
    pub(super) fn commit_fold(&self, entry: &Entry<'_>) {
        let table = self.layout.journal;
        let cells = &self.cells()[table.at..table.at + table.len];
        let folded = self.word(sb::FOLDED).load(Ordering::Relaxed) + entry.events;
        let moved = self.word(sb::MOVED).load(Ordering::Relaxed) + entry.moved;
        cells[journal::BLOCKS].store(entry.sequences.len() as u64, Ordering::Relaxed);
        cells[journal::ROWS].store(entry.rows.len() as u64, Ordering::Relaxed);
        cells[journal::FOLDED].store(folded, Ordering::Relaxed);
        cells[journal::TALLY_USED].store(self.word(sb::TALLY_USED).load(Ordering::Relaxed), Ordering::Relaxed);
        cells[journal::MOVED].store(moved, Ordering::Relaxed);
        let words = (entry.sequences.iter().copied())
            .chain(entry.rows.iter().flat_map(|(index, row)| std::iter::once(*index as u64).chain(*row)));
        for (cell, word) in cells[journal::HEADER_WORDS..].iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        // From here on the fold is complete, even if the process is killed.
        cells[journal::COMMIT].store(entry.number, Ordering::Release);
        fence(Ordering::SeqCst);
        for (index, row) in entry.rows {
            for (cell, word) in self.tally_cells(*index).iter().zip(row) {
                cell.store(*word, Ordering::Relaxed);
            }
        }
        for &sequence in entry.sequences {
            let place = header::place(sequence, self.layout.blocks);
            retract(&self.block(place)[header::SEQUENCE]);
        }
        self.word(sb::FOLDED).store(folded, Ordering::Release);
        self.word(sb::MOVED).store(moved, Ordering::Release);
        self.word(sb::FOLD_DONE).store(entry.number, Ordering::Release);
    }
}
