//! What a cell holds of a site whose calls method profilers see at their ends only.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU64, compiler_fence};

use metaspy_probe::Cell;

/// The words of a method and of its calls from one caller: the first two of a row each.
pub(crate) type Pair = [AtomicU64; 2];

/// No site has this number.
const NO_CALLER: u64 = u64::MAX;

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
            tree: std::ptr::with_exposed_provenance(self.0.receiver.load(Relaxed) as usize),
        }
    }

    /// The words of this thread for the times of the method and of its calls from this site.
    #[inline(always)]
    pub fn pair(self, caller: u32) -> Option<[&'static Pair; 2]> {
        if self.0.length.load(Relaxed) != u64::from(caller) {
            return None;
        }
        let of_method: *const Pair = std::ptr::with_exposed_provenance(self.0.kind.load(Relaxed) as usize);
        let of_caller: *const Pair = self.0.buckets.load(Relaxed).cast_const().cast();
        // SAFETY: `put_pair` stored both before the caller, and the words are in pages, which are never unmapped.
        Some(unsafe { [&*of_method, &*of_caller] })
    }

    /// Remembers these words. A signal handler of this thread finds all of them or none.
    pub fn put_pair(self, caller: u32, [of_method, of_caller]: [&'static Pair; 2]) {
        self.0.length.store(NO_CALLER, Relaxed);
        compiler_fence(Release);
        self.0.kind.store(std::ptr::from_ref(of_method).expose_provenance() as u64, Relaxed);
        self.0.buckets.store(std::ptr::from_ref(of_caller).cast_mut().cast(), Relaxed);
        compiler_fence(Release);
        self.0.length.store(caller.into(), Relaxed);
    }

    /// Fills a cell with these notes, under a word that its other words are invalid without.
    pub(super) fn fill(cell: &Cell, who: u64, notes: Notes) {
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.rows.store(notes.row, Relaxed);
        cell.length.store(NO_CALLER, Relaxed);
        cell.also.store(notes.profilers.cast_mut().cast(), Relaxed);
        cell.receiver.store(notes.tree.expose_provenance() as u64, Relaxed);
        compiler_fence(Release);
        cell.who.store(who, Relaxed);
    }
}
