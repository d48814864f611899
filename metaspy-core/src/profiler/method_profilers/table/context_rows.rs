//! Tables whose rows are calling contexts: a row is found by the id of its context, in one step.
//!
//! The first column is that id. A context's key has the id of the context around it, so readers link them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::format::profile::{Key, Merge};
use crate::method_profilers::table::{Instance, Table};
use crate::recorder;

/// A table in one recording, as an identity: rows of one are not rows of another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written(*const Instance);

impl Written {
    /// Its identity as an address.
    #[inline]
    pub fn address(self) -> *const () {
        self.0.cast()
    }
}

/// A row, and the words of this thread in it.
#[derive(Clone, Copy)]
pub(crate) struct ContextRow {
    pub row: u32,
    /// Null if this thread shares its words with others.
    pub words: *const AtomicU64,
}

impl ContextRow {
    /// No row: what it counts is lost, and counted as lost.
    pub const NONE: Self = ContextRow { row: u32::MAX, words: std::ptr::null() };

    pub fn is_none(self) -> bool {
        self.row == u32::MAX
    }

    /// Its number in the table.
    #[inline]
    pub fn number(self) -> Option<u32> {
        (!self.is_none()).then_some(self.row)
    }
}

impl Table {
    /// The recording that the table is written into now.
    #[inline]
    pub fn written(&self) -> Written {
        Written(self.current.load(Acquire))
    }

    /// The address of the word that holds [`Table::written`].
    pub fn written_at(&self) -> *const () {
        std::ptr::from_ref(&self.current).cast()
    }

    /// The row of a context, made if it is new. Without room for it the result is [`ContextRow::NONE`].
    pub fn find_context(&self, id: u64, site: u32, around: u64) -> ContextRow {
        let row = recorder::current()
            .and_then(|log| self.instance(log))
            .and_then(|instance| instance.keys.as_ref())
            .and_then(|keys| keys.row(Key { site, second: 0, key: around }, self.rows));
        let Some(row) = row else { return ContextRow::NONE };
        let first = row as usize * self.def.columns.len();
        let found = self.of_this_thread(ContextRow { row, words: std::ptr::null() });
        // Each thread that counts here writes it: the largest of equal ids is the id.
        self.put(first, id, Merge::Max);
        found
    }

    /// The same row, with the words of this thread.
    pub fn of_this_thread(&self, at: ContextRow) -> ContextRow {
        let first = at.row as usize * self.def.columns.len();
        let words = if at.is_none() { None } else { self.own_word(first).ok() };
        ContextRow { words: words.map_or(std::ptr::null(), std::ptr::from_ref), ..at }
    }

    /// The row with this number, with the words of this thread.
    #[inline]
    pub fn row_of_this_thread(&self, row: u32) -> ContextRow {
        self.of_this_thread(ContextRow { row, words: std::ptr::null() })
    }

    /// The number of the recording that the table is written into now.
    #[inline]
    pub fn recording(&self) -> Option<u32> {
        // SAFETY: as above.
        unsafe { self.current.load(Acquire).as_ref() }.map(|instance| instance.number)
    }

    /// Merges a value into a column of a row, by the rule of the column.
    pub fn merge_into(&self, at: ContextRow, column: usize, value: u64) {
        if let Some(declared) = self.def.columns.get(column).filter(|_| !at.is_none()) {
            self.put(at.row as usize * self.def.columns.len() + column, value, declared.merge);
        }
    }

    /// Adds to a column of a row. Returns what this thread added before, or 0 if it shares its words.
    #[inline]
    pub fn add_to(&self, at: ContextRow, column: usize, by: u64) -> u64 {
        debug_assert!(column < self.def.columns.len());
        if at.words.is_null() {
            self.add_shared(at, column, by);
            return 0;
        }
        // SAFETY: they are the first of the row's words. A segment holds whole rows (`Tables::by_context`), and pages are
        // never unmapped.
        let word = unsafe { &*at.words.add(column) };
        let before = word.load(Relaxed);
        word.store(before.wrapping_add(by), Relaxed);
        before
    }

    #[cold]
    fn add_shared(&self, at: ContextRow, column: usize, by: u64) {
        match at.is_none() {
            true => self.lose(),
            false => self.put(at.row as usize * self.def.columns.len() + column, by, Merge::Sum),
        }
    }

    fn lose(&self) {
        if let Some(instance) = recorder::current().and_then(|log| self.instance(log)) {
            instance.lose();
        }
    }
}
