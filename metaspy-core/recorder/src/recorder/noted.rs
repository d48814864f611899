//! What a cell holds of a site whose calls are observed in known words only.

use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

use metaspy_probe::{ANY, Cell};

/// The bit by which the words of such cells differ from the words that sites are compared with.
pub const NOTED: u64 = 0x4000_0000_0000_0000;

/// A cell of such a site.
#[derive(Clone, Copy)]
pub struct Noted<'c>(&'c Cell);

/// What stays the same while the cell is valid.
#[derive(Clone, Copy)]
pub struct Notes {
    /// The row of the tally, marked; null = calls are not counted there.
    pub row: *mut u8,
    /// The address of the profilers whose stack the calls are on; null if a tree counts them alone.
    pub profilers: *const (),
    /// The address of the tree that counts them by their contexts; null = none.
    pub tree: *const (),
    /// The receiver that the calls are about, and its kind; [`ANY`] = of any.
    pub receiver: (u64, u64),
    /// The number of the table that their times are added to, if nothing else is done at their ends; else [`Notes::OTHERS`].
    pub callers: u64,
}

impl<'c> Noted<'c> {
    /// The cell, if it holds notes that are valid as long as sites are compared with this word.
    #[inline(always)]
    pub fn under(who: u64, cell: &'c Cell) -> Option<Self> {
        (cell.who.load(Relaxed) == who | NOTED).then_some(Noted(cell))
    }

    #[inline(always)]
    pub fn notes(self) -> Notes {
        Notes {
            row: self.0.rows.load(Relaxed),
            profilers: self.0.also.load(Relaxed).cast_const().cast(),
            callers: self.0.length.load(Relaxed),
            tree: self.0.buckets.load(Relaxed).cast_const().cast(),
            receiver: (self.0.receiver.load(Relaxed), self.0.kind.load(Relaxed)),
        }
    }

    /// Fills a cell with these notes, valid as long as sites are compared with this word.
    #[inline]
    pub(super) fn fill(cell: &Cell, who: u64, notes: Notes) {
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.rows.store(notes.row, Relaxed);
        cell.length.store(notes.callers, Relaxed);
        cell.also.store(notes.profilers.cast_mut().cast(), Relaxed);
        cell.buckets.store(notes.tree.cast_mut().cast(), Relaxed);
        cell.receiver.store(notes.receiver.0, Relaxed);
        cell.kind.store(notes.receiver.1, Relaxed);
        compiler_fence(Release);
        cell.who.store(who | NOTED, Relaxed);
    }
}

impl Notes {
    /// More is done at the end of a call than to add its time to a tree and to a table of callers.
    pub const OTHERS: u64 = u64::MAX;
    /// No row and no profilers.
    pub const NONE: Self =
        Notes { row: null_mut(), profilers: null(), tree: null(), receiver: (ANY, 0), callers: Self::OTHERS };

    /// A cell with these notes, as [`Noted::fill`] makes it.
    #[inline]
    pub fn cell(self, who: u64) -> Cell {
        Cell {
            who: AtomicU64::new(who | NOTED),
            rows: AtomicPtr::new(self.row),
            length: AtomicU64::new(self.callers),
            buckets: AtomicPtr::new(self.tree.cast_mut().cast()),
            misses: AtomicU64::new(0),
            receiver: AtomicU64::new(self.receiver.0),
            kind: AtomicU64::new(self.receiver.1),
            also: AtomicPtr::new(self.profilers.cast_mut().cast()),
        }
    }

    /// True if calls about this receiver are observed so.
    #[inline(always)]
    pub fn are_about(self, receiver: (u64, u64)) -> bool {
        self.receiver.0 == ANY || self.receiver == receiver
    }
}
