//! Where a thread counts the calls of woven sites: for each the row that it was last counted in.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

use metaspy_probe::{ANYBODY, BARE, COUNT, Cell, Counts};

use crate::format::row;
use crate::recorder::Row;

const _: () = assert!(COUNT == row::COUNT);

/// The cells of a thread, made when it first counts a call of a woven site.
pub(crate) struct Cells {
    /// What woven code reads, in memory of this thread.
    counts: AtomicPtr<Counts>,
    cells: AtomicPtr<Cell>,
}

/// Counters for calls that are only counted.
pub(crate) struct Settled<'r> {
    /// The counter of a method profiler.
    pub count: Option<&'static AtomicU64>,
    /// The row of the tally.
    pub row: Option<Row<'r>>,
    /// The object, and its kind.
    pub receiver: (u64, u64),
}

impl Cells {
    pub const fn none() -> Self {
        Cells { counts: AtomicPtr::new(std::ptr::null_mut()), cells: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Remembers the row that calls with this tally word are counted in. Called with the lane busy, as it may allocate.
    pub fn note(&self, counts: *const Counts, number: u64, who: u64, row: Row<'_>) {
        self.fill(counts, number, who, row.place().cast_mut().cast(), (ANYBODY, 0), std::ptr::null_mut());
    }

    /// Remembers the word that calls about a receiver are counted in, and the row, if they are also recorded; nothing else
    /// is to be told of them. As [`Cells::note`].
    pub fn settle(&self, counts: *const Counts, number: u64, who: u64, to: Settled<'_>) {
        let (row, also) = match (to.count, to.row) {
            (None, None) => return,
            (None, Some(row)) => (row.place().cast_mut().cast(), std::ptr::null_mut()),
            (Some(count), row) => {
                let bare = count.as_ptr().wrapping_sub(COUNT).cast::<u8>().map_addr(|address| address | BARE);
                let also = row.map(|row| row.place().cast::<AtomicU64>().wrapping_add(COUNT).cast_mut());
                (bare, also.unwrap_or(std::ptr::null_mut()))
            }
        };
        self.fill(counts, number, who, row, to.receiver, also);
    }

    fn fill(
        &self,
        counts: *const Counts,
        number: u64,
        who: u64,
        row: *mut u8,
        receiver: (u64, u64),
        also: *mut AtomicU64,
    ) {
        let known = self.counts.load(Relaxed);
        if known.is_null() {
            self.make(counts);
        } else if !std::ptr::eq(known, counts) {
            // Woven code of a library that was loaded later counts without.
            return;
        }
        let cells = self.cells.load(Relaxed);
        if cells.is_null() {
            return;
        }
        // SAFETY: there is one for each number.
        let cell = unsafe { &*cells.add(number as usize) };
        // A signal handler of this thread finds a whole cell or none.
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.row.store(row, Relaxed);
        cell.receiver.store(receiver.0, Relaxed);
        cell.kind.store(receiver.1, Relaxed);
        cell.also.store(also, Relaxed);
        compiler_fence(Release);
        cell.who.store(who, Relaxed);
    }

    fn make(&self, counts: *const Counts) {
        let Some(layout) = layout() else { return };
        // SAFETY: the layout has a size. Zeroes are cells that nothing matches.
        let cells = unsafe { alloc_zeroed(layout) }.cast::<Cell>();
        if !cells.is_null() {
            self.cells.store(cells, Relaxed);
            self.counts.store(counts.cast_mut(), Relaxed);
            self.aim(true);
        }
    }

    /// Lets woven code count by itself, or not.
    #[inline]
    pub fn aim(&self, counts_itself: bool) {
        // SAFETY: it is memory of this thread, without a destructor.
        if let Some(counts) = unsafe { self.counts.load(Relaxed).as_ref() } {
            counts.point(if counts_itself { self.cells.load(Relaxed) } else { std::ptr::null_mut() });
        }
    }

    /// Forgets all rows.
    pub fn clear(&self) {
        let cells = self.cells.load(Relaxed);
        for number in 0..super::adopted().len() * usize::from(!cells.is_null()) {
            // SAFETY: there is one for each number.
            unsafe { &*cells.add(number) }.who.store(0, Relaxed);
        }
    }

    /// The thread ends: what it calls after this is told.
    pub fn give_up(&self) {
        self.aim(false);
        self.counts.store(std::ptr::null_mut(), Relaxed);
        let cells = self.cells.swap(std::ptr::null_mut(), Relaxed);
        if let Some(layout) = layout()
            && !cells.is_null()
        {
            // SAFETY: `make` allocated it so, and nobody points to it any more.
            unsafe { dealloc(cells.cast(), layout) };
        }
    }
}

/// Of a cell for each woven site; `None` if there are none.
fn layout() -> Option<Layout> {
    let sites = super::adopted().len();
    (sites > 0).then(|| Layout::array::<Cell>(sites).ok()).flatten()
}
