//! A global allocator that is observed itself: its hook runs within every allocation, also in those
//! of a new thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use metaspy_core::arm::Mode;
use metaspy_core::{Installed, Recording};

use crate::{apart, observe, observe_in_detail};

/// The system's allocator, with a hook if it is switched on.
pub struct Observed;

static IS_OBSERVED: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// About the size, so that each size is a subject.
fn allocate(size: usize) {
    metaspy_probe::hook!("allocate", 1, 1, "c=1 self=none", [key size], []);
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Observed {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_OBSERVED.load(Ordering::Relaxed) {
            allocate(layout.size());
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `f`, and returns the number of allocations of the process in the meantime.
pub fn allocations_during(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    IS_OBSERVED.store(true, Ordering::Relaxed);
    f();
    IS_OBSERVED.store(false, Ordering::Relaxed);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn allocates(observe: impl FnOnce(&'static str) -> Installed) {
    let recording = Recording::memory().budget(64 << 20).start().expect("there is memory");
    let installed = observe("**::allocate");
    IS_OBSERVED.store(true, Ordering::Relaxed);
    let work =
        || drop(black_box((1..500_usize).map(|size| vec![0_u8; size % 50]).collect::<Vec<_>>()));
    work();
    for _ in 0..50 {
        std::thread::spawn(work).join().expect("it ends");
    }
    IS_OBSERVED.store(false, Ordering::Relaxed);
    installed.uninstall();
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, ALLOCATIONS.load(Ordering::Relaxed), "{totals:?}");
    assert!(totals.stored + totals.counted > totals.emitted / 2, "{totals:?}");
}

#[test]
fn an_allocator_with_a_subject_is_recorded() {
    apart("allocator::an_allocator_with_a_subject_is_recorded", || {
        allocates(|it| observe(it, Mode::Full))
    });
}

#[test]
fn an_allocator_with_a_subject_is_counted() {
    apart("allocator::an_allocator_with_a_subject_is_counted", || {
        allocates(|it| observe(it, Mode::Tally))
    });
}

#[test]
fn an_allocator_may_be_observed_in_detail() {
    apart("allocator::an_allocator_may_be_observed_in_detail", || allocates(observe_in_detail));
}
