//! Cached pointers for a site whose observers were resolved once: its row, its profilers, its tree
//! of calling contexts.

use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

use metaspy_probe::{ANY, Cell};

/// The bit by which the words of such cells differ from the words that sites are compared with.
pub const CACHED: u64 = 0x4000_0000_0000_0000;

/// A cell with cached observers.
#[derive(Clone, Copy)]
pub struct CachedCell<'c>(&'c Cell);

/// The observers of a site, which stay the same while the cell is valid.
#[derive(Clone, Copy)]
pub struct CachedObservers {
    /// The row of the tally, marked; null = calls are not counted there.
    pub row: *mut u8,
    /// The address of the profilers whose stack the calls are on; null if a tree counts them alone.
    pub profilers: *const (),
    /// The address of the tree that counts them by their contexts; null = none.
    pub tree: *const (),
    /// The receiver that the calls are about, and its kind; [`ANY`] = of any.
    pub receiver: (u64, u64),
    /// The number of the table that their times are added to, if nothing else is done at their
    /// ends; else [`CachedObservers::OTHERS`].
    pub callers: u64,
}

impl<'c> CachedCell<'c> {
    /// The cell, if it holds observers that are valid as long as sites are compared with this word.
    #[inline(always)]
    pub fn under(who: u64, cell: &'c Cell) -> Option<Self> {
        (cell.who.load(Relaxed) == who | CACHED).then_some(CachedCell(cell))
    }

    #[inline(always)]
    pub fn observers(self) -> CachedObservers {
        CachedObservers {
            row: self.0.rows.load(Relaxed),
            profilers: self.0.also.load(Relaxed).cast_const().cast(),
            callers: self.0.length.load(Relaxed),
            tree: self.0.buckets.load(Relaxed).cast_const().cast(),
            receiver: (self.0.receiver.load(Relaxed), self.0.kind.load(Relaxed)),
        }
    }

    /// Fills a cell with these observers, valid as long as sites are compared with this word.
    #[inline]
    pub(super) fn fill(cell: &Cell, who: u64, observers: CachedObservers) {
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.rows.store(observers.row, Relaxed);
        cell.length.store(observers.callers, Relaxed);
        cell.also.store(observers.profilers.cast_mut().cast(), Relaxed);
        cell.buckets.store(observers.tree.cast_mut().cast(), Relaxed);
        cell.receiver.store(observers.receiver.0, Relaxed);
        cell.kind.store(observers.receiver.1, Relaxed);
        compiler_fence(Release);
        cell.who.store(who | CACHED, Relaxed);
    }
}

impl CachedObservers {
    /// More is done at the end of a call than to add its time to a tree and to a table of callers.
    pub const OTHERS: u64 = u64::MAX;
    /// No row and no profilers.
    pub const NONE: Self = CachedObservers {
        row: null_mut(),
        profilers: null(),
        tree: null(),
        receiver: (ANY, 0),
        callers: Self::OTHERS,
    };

    /// A cell with these observers, as [`CachedCell::fill`] makes it.
    #[inline]
    pub fn cell(self, who: u64) -> Cell {
        Cell {
            who: AtomicU64::new(who | CACHED),
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
