//! An allocator whose allocations are events.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::hook;
use crate::recorder;
use crate::site::{Site, SiteDef, SiteKind, register};
use crate::subject::{Kind, Subject};

/// A global allocator whose allocations are events, at the sites `alloc::allocate`, `alloc::resize`
/// and `alloc::free`.
///
/// The subject is the size in bytes, so counts by subject are a histogram, and sizes times counts
/// are all bytes. The cause is the event around the allocation: `metaspy report --by cause --filter
/// site:alloc::allocate` finds the code that allocates. Allocations of metaspy itself are left out.
///
/// ```
/// use std::alloc::System;
///
/// use metaspy_core::Profiler;
/// use metaspy_core::hook::SpiedAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: SpiedAllocator<System> = SpiedAllocator::new(System);
/// # fn main() {
/// let bytes = vec![0_u8; 4096];
/// # drop(bytes);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SpiedAllocator<A = System>(A);

impl<A> SpiedAllocator<A> {
    /// Records the allocations of `allocator`.
    pub const fn new(allocator: A) -> Self {
        SpiedAllocator(allocator)
    }
}

macro_rules! sites {
    ($($site:ident $name:literal;)+) => {$(
        register! {
            static $site: Site = Site::new(SiteDef {
                kind: SiteKind::Change,
                module: "alloc",
                name: $name,
                file: file!(),
                lines: (line!(), line!()),
                skipped: None,
            });
        }
    )+};
}

sites! {
    ALLOCATE "allocate";
    RESIZE "resize";
    FREE "free";
}

// SAFETY: each method passes its arguments to the same method of the allocator inside, and returns
// its result. Recording neither reads nor writes the memory, and does not unwind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for SpiedAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(&ALLOCATE, layout.size());
        // SAFETY: the caller keeps the contract of this method, which is the same.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(&ALLOCATE, layout.size());
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        record(&RESIZE, size);
        // SAFETY: as above.
        unsafe { self.0.realloc(memory, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        record(&FREE, layout.size());
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

#[inline]
fn record(site: &'static Site, bytes: usize) {
    if site.is_armed() {
        record_armed(site, bytes);
    }
}

#[cold]
fn record_armed(site: &'static Site, bytes: usize) {
    static BYTES: Kind = Kind::new("bytes");
    thread_local! {
        /// True while this thread records: allocations of the recorder are not the program's.
        static RECORDING: Cell<bool> = const { Cell::new(false) };
    }
    if recorder::lane_level() > 0 || RECORDING.replace(true) {
        return;
    }
    hook::instant(site, Subject::new(BYTES.id(), bytes as u64));
    RECORDING.set(false);
}
