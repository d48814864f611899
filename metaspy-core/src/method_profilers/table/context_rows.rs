//! Tables whose rows are calling contexts: a row is found by the id of its context, in one step.
//!
//! The first column is that id. A context's key has the id of the context around it, so readers
//! link them.
//!
//! The id is a hash of the path of calls, and contexts are not numbered by their parents. A context
//! is then found in one step, and trees of several processes add up without numbering them again.

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

    /// The one with this address, which [`Written::address`] returned; or null.
    #[inline]
    pub fn at(address: *const ()) -> Self {
        Written(address.cast())
    }

    /// The number of the recording.
    pub fn recording(self) -> Option<u32> {
        // SAFETY: it is null, or a box that is freed with the table. Tables with contexts stay.
        unsafe { self.0.as_ref() }.map(|instance| instance.number)
    }
}

/// A row, and the words of this thread in it.
#[derive(Clone, Copy)]
pub(crate) struct ContextRow {
    /// The recording that it is of.
    pub written: Written,
    pub row: u32,
    /// Null if this thread shares its words with others.
    pub words: *const AtomicU64,
}

impl ContextRow {
    /// No row: its counts are lost, and counted as lost.
    pub const fn none(written: Written) -> Self {
        ContextRow { written, row: u32::MAX, words: std::ptr::null() }
    }

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

    /// The table in a recording; `None` before the first one, after its profiler, and in a forked
    /// child.
    fn in_written(&self, written: Written) -> Option<&Instance> {
        // SAFETY: it is null, or a box that is freed with the table.
        unsafe { written.0.as_ref() }.filter(|_| recorder::current().is_some())
    }

    /// The row of a context, made if it is new. Without room for it, it is no row.
    pub fn find_context(&self, written: Written, id: u64, site: u32, around: u64) -> ContextRow {
        let key = Key { site, second: 0, key: around };
        let found = self.in_written(written).and_then(|instance| {
            let row = instance.row(key, self.rows)?;
            let found = self.of_this_thread(written, row);
            // Each thread that counts here writes it: the largest of equal ids is the id.
            self.put_in(instance, row as usize * self.def.columns.len(), id, Merge::Max)
                .then_some(found)
        });
        found.unwrap_or(ContextRow::none(written))
    }

    /// The row with this number, with the words of this thread.
    #[inline]
    pub fn of_this_thread(&self, written: Written, row: u32) -> ContextRow {
        let first = row as usize * self.def.columns.len();
        let words =
            self.in_written(written).and_then(|instance| self.own_word(instance, first).ok());
        ContextRow { written, row, words: words.map_or(std::ptr::null(), std::ptr::from_ref) }
    }

    /// The number of the recording that the table is written into now.
    #[inline]
    pub fn recording(&self) -> Option<u32> {
        self.current().map(|instance| instance.number)
    }

    /// Merges a value into a column of a row, by the rule of the column.
    pub fn merge_into(&self, at: ContextRow, column: usize, value: u64) {
        if let Some(declared) = self.def.columns.get(column).filter(|_| !at.is_none()) {
            self.merge_shared(at, column, value, declared.merge);
        }
    }

    /// Adds to a column of a row. Returns the value that this thread had there before, or 0 if it
    /// shares its words.
    #[inline]
    pub fn add_to(&self, at: ContextRow, column: usize, by: u64) -> u64 {
        debug_assert!(column < self.def.columns.len());
        if at.words.is_null() {
            self.add_shared(at, column, by);
            return 0;
        }
        // SAFETY: they are the first of the row's words. A segment holds whole rows
        // (`Tables::by_context`), and pages are never unmapped.
        let word = unsafe { &*at.words.add(column) };
        let before = word.load(Relaxed);
        word.store(before.wrapping_add(by), Relaxed);
        before
    }

    #[cold]
    fn add_shared(&self, at: ContextRow, column: usize, by: u64) {
        self.merge_shared(at, column, by, Merge::Sum);
    }

    fn merge_shared(&self, at: ContextRow, column: usize, value: u64, merge: Merge) {
        let Some(instance) = self.in_written(at.written) else { return };
        let first = at.row as usize * self.def.columns.len();
        if at.is_none() || !self.put_in(instance, first + column, value, merge) {
            instance.lose();
        }
    }
}
