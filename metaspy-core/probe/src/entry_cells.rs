//! The cells in which a thread counts calls at sites whose hooks only count.
//!
//! A thread remembers the row of each woven site, because threads would share a count in the site.
//! A counted call then compares one word and adds one: 2 ns, and 10 ns through the core. This takes
//! one cell for each site and thread that counts.

use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Where a thread counts calls at sites with such hooks: the distance from a site to its [`EntryCell`]; 0 = nowhere.
///
/// Each program and library that contains such hooks has such a word for each thread.
#[repr(transparent)]
pub struct EntryCells(AtomicUsize);

/// What a thread has counted at one site. There is one at the same distance from each site that the linker collected.
#[repr(C)]
pub struct EntryCell {
    /// The cell is valid while this is the site's word, `Site::tally`.
    pub who: AtomicU64,
    /// The word in which calls are counted, which no other thread writes.
    pub row: AtomicPtr<AtomicU64>,
}

impl EntryCells {
    /// No cells.
    pub const fn none() -> Self {
        EntryCells(AtomicUsize::new(0))
    }

    /// Lets hooks count at this distance; 0 = nowhere. Only their thread may call this, and the cells must stay as long as they
    /// are pointed to.
    pub fn point(&self, distance: usize) {
        self.0.store(distance, Ordering::Relaxed);
    }

    /// The distance.
    #[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "assembly reads it"))]
    #[inline(always)]
    pub(crate) fn distance(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
