//! The record of a folder: how far it has folded a block, and one row as it was before the event in
//! progress.
//!
//! A folder adds the events of a block to its rows, one after another. Before each event it writes
//! a note: the row as it is, and the number of events folded so far. Then it moves its cursor to
//! the event, and only then it changes the row. Two notes are used in turn, so the note that the
//! cursor names never changes. Whenever the process is killed, a reader counts the slots before the
//! cursor as folded and all others as stored, and takes the note's words for the row's.
//!
//! A row is merged into another one in the same way. The cursor then is in no block: its sequence
//! has the mark [`MERGES`]. While it is at a slot, the other row is as noted. While it is behind
//! all slots, the merged row counts nothing.
//!
//! Single events are folded out of a block that is kept for others. The sequence of the cursor then
//! has the mark [`SINGLE`]. The event in progress is folded if its slot is a
//! [`Mark::Folded`](crate::slot::Mark::Folded), and stored as long as it is not. All other events
//! are where their slots say.

use crate::row::{COUNT, ROW_WORDS};

/// Records of a recording. The first one is the collector's.
pub const RECORDS: usize = 64;
/// 64-bit words of a record.
pub const WORDS: usize = 24;
/// Word of the cursor. 0 = the folder has folded nothing.
pub const CURSOR: usize = 0;
/// Word of the row that is being merged, as an index into the words of the recording; 0 = none.
pub const MERGED: usize = 1;
/// The first note. The second one follows it.
const NOTES: usize = 8;

/// Words of a note.
pub const NOTE_WORDS: usize = 8;
/// Word of the row, as an index into the words of the recording; 0 = the event changes no row.
pub const ROW: usize = 0;
/// Events that the folder folded before the one in progress.
pub const FOLDED: usize = 1;
/// The first of the row's words from [`COUNT`] on.
pub const BEFORE: usize = 2;

const _: () = assert!(BEFORE + ROW_WORDS - COUNT == NOTE_WORDS && NOTES + 2 * NOTE_WORDS == WORDS);

/// The first word of a note in a record.
#[inline(always)]
pub const fn note_at(number: usize) -> usize {
    NOTES + number % 2 * NOTE_WORDS
}

/// A note of a record.
#[inline(always)]
pub fn note<T>(record: &[T; WORDS], number: usize) -> &[T; NOTE_WORDS] {
    &record[NOTES..].as_chunks().0[number % 2]
}

/// The slot behind the last one of a block: all of its events are folded.
pub const ALL: usize = crate::BLOCK_SLOTS;

/// The mark of the sequence of a cursor that is in no block. The other bits count merged rows.
pub const MERGES: u64 = 1 << 54;

/// The mark of the sequence of a cursor while events of its block are folded one by one, and others
/// are kept.
pub const SINGLE: u64 = 1 << 53;

/// The sequence of a cursor while the row with this number is merged.
pub const fn merge_sequence(number: u64) -> u64 {
    MERGES | (number & (MERGES - 1))
}

/// The position of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The sequence of the block.
    pub sequence: u64,
    /// The slot of the event in progress. Earlier ones are folded.
    pub slot: usize,
    /// The number of the note, 0 or 1.
    pub note: usize,
}

impl Cursor {
    /// The cursor as a word.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        self.sequence << 9 | (self.slot as u64) << 1 | self.note as u64
    }

    /// The block whose events are folded one by one, if it is such a cursor, and its event in
    /// progress.
    pub const fn single(self) -> Option<(u64, usize)> {
        match self.sequence & (MERGES | SINGLE) {
            SINGLE if self.slot < ALL => Some((self.sequence & !SINGLE, self.slot)),
            _ => None,
        }
    }

    /// Unpacks a cursor.
    #[inline(always)]
    pub const fn unpack(word: u64) -> Self {
        Cursor { sequence: word >> 9, slot: (word >> 1) as usize & 0xFF, note: word as usize & 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_keeps_its_parts_apart() {
        for cursor in [
            Cursor { sequence: (1 << 55) - 1, slot: ALL, note: 1 },
            Cursor { sequence: 1, slot: 127, note: 0 },
            Cursor { sequence: 300, slot: 1, note: 1 },
        ] {
            assert_eq!(Cursor::unpack(cursor.pack()), cursor);
        }
        let cursor = |sequence, slot| Cursor { sequence, slot, note: 0 };
        let ones = [
            cursor(SINGLE | 300, 5),
            cursor(SINGLE | 300, ALL),
            cursor(300, 5),
            cursor(merge_sequence(u64::MAX), 1),
        ];
        assert_eq!(
            ones.map(|cursor| Cursor::unpack(cursor.pack()).single()),
            [Some((300, 5)), None, None, None]
        );
        assert_eq!([note_at(0), note_at(1), note_at(2)], [8, 16, 8]);
        let record = std::array::from_fn::<usize, WORDS, _>(|word| word);
        assert_eq!([note(&record, 0)[0], note(&record, 1)[0], note(&record, 3)[7]], [8, 16, 23]);
    }
}
