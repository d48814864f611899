//! Cells of a thread that has ended, for the next one.
//!
//! The next thread takes them as they are in memory, instead of new pages from the system. A test
//! harness starts a thread for each test, and each took 21 page faults for new cells.

use std::alloc::Layout;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use metaspy_probe::Cell;

use crate::platform::own_pages;

/// Larger ones are given back: to clear them takes longer than the faults of the pages that a
/// thread uses.
const MOST_BYTES: usize = 1 << 18;

/// Cells that nothing matches, or null. All have one size.
static SPARE: AtomicPtr<Cell> = AtomicPtr::new(null_mut());

/// Cells that nothing matches; null if there is no memory. Neither takes a lock nor memory of the
/// program.
pub(super) fn take(layout: Layout) -> *mut Cell {
    let spare = SPARE.swap(null_mut(), Acquire);
    // Zeroes are cells that nothing matches.
    if spare.is_null() { own_pages::take(layout).cast() } else { spare }
}

/// Keeps cells for the next thread, or gives them back to the system.
///
/// # Safety
/// [`take`] returned them for this layout, and no pointer to them is used any more.
pub(super) unsafe fn give_back(cells: *mut Cell, layout: Layout) {
    if layout.size() <= MOST_BYTES {
        // SAFETY: there are as many as the layout has, and nothing else refers to them.
        clear(unsafe { std::slice::from_raw_parts(cells, layout.size() / size_of::<Cell>()) });
        if SPARE.compare_exchange(null_mut(), cells, AcqRel, Relaxed).is_ok() {
            return;
        }
    }
    // SAFETY: as the caller promises.
    unsafe { own_pages::give_back(cells.cast(), layout) };
}

/// Lets no hook match. Cells that hold nothing are not written, so their pages stay untouched.
pub(super) fn clear(cells: &[Cell]) {
    cells
        .iter()
        .filter(|cell| cell.who.load(Relaxed) != 0)
        .for_each(|cell| cell.who.store(0, Relaxed));
}
