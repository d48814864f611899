//! What a cell holds of a site whose calls method profilers see at their ends only.

use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::compiler_fence;

use metaspy_probe::Cell;

/// A cell of such a site. Its word is one that no hook compares with, so no call is counted there without them.
#[derive(Clone, Copy)]
pub(crate) struct Noted<'c>(&'c Cell);

/// What stays the same while the cell is valid.
#[derive(Clone, Copy)]
pub(crate) struct Notes {
    /// The row of the tally, marked; null = calls are not counted there.
    pub row: *mut u8,
    /// The address of the profilers whose stack the calls are on; null if a tree counts them alone.
    pub profilers: *const (),
    /// The address of the tree that counts them by their contexts; null = none.
    pub tree: *const (),
    /// The number of the table that their times are added to, if nothing else is done at their ends; else [`Notes::OTHERS`].
    pub callers: u64,
}

impl<'c> Noted<'c> {
    /// The cell, if it holds notes under this word.
    #[inline(always)]
    pub fn under(who: u64, cell: &'c Cell) -> Option<Self> {
        (cell.who.load(Relaxed) == who).then_some(Noted(cell))
    }

    #[inline(always)]
    pub fn notes(self) -> Notes {
        Notes {
            row: self.0.rows.load(Relaxed),
            profilers: self.0.also.load(Relaxed).cast_const().cast(),
            callers: self.0.kind.load(Relaxed),
            tree: std::ptr::with_exposed_provenance(self.0.receiver.load(Relaxed) as usize),
        }
    }

    /// Fills a cell with these notes, under a word that its other words are invalid without.
    pub(super) fn fill(cell: &Cell, who: u64, notes: Notes) {
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.rows.store(notes.row, Relaxed);
        cell.kind.store(notes.callers, Relaxed);
        cell.also.store(notes.profilers.cast_mut().cast(), Relaxed);
        cell.receiver.store(notes.tree.expose_provenance() as u64, Relaxed);
        compiler_fence(Release);
        cell.who.store(who, Relaxed);
    }
}

impl Notes {
    /// More is done at the end of a call than to add its time to a tree and to a table of callers.
    pub const OTHERS: u64 = u64::MAX;
    /// No row and no profilers.
    pub const NONE: Self = Notes { row: null_mut(), profilers: null(), tree: null(), callers: Self::OTHERS };
}
