//! An allocator that counts objects by the method and the calling context that allocates them.
//!
//! A resized object counts as freed and allocated again, as dhat counts, and not as growth of the
//! first one: who resizes pays.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::method_profilers::{Birth, born, died, runs_profiler};

/// A global allocator whose objects the profiler
/// [`Allocations`](crate::method_profilers::Allocations) counts.
///
/// Each object has 16 bytes more, or as many as its alignment: they hold its context and the time
/// of its allocation. While the profiler is not installed, nothing else is done. A resized object
/// counts as freed and as a new one.
///
/// ```
/// use std::alloc::System;
///
/// use metaspy_core::hook::Counting;
///
/// #[global_allocator]
/// static ALLOCATOR: Counting<System> = Counting::new(System);
/// # fn main() {
/// assert_eq!(vec![7_u8; 4096].len(), 4096);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting<A = System>(A);

impl<A> Counting<A> {
    /// Counts the objects of `allocator`.
    pub const fn new(allocator: A) -> Self {
        Counting(allocator)
    }
}

/// The layout of an object behind its birth, and the place of the object in it.
#[inline]
fn whole(layout: Layout) -> Option<(Layout, usize)> {
    let place = layout.align().max(size_of::<Birth>());
    let size = layout.size().checked_add(place)?;
    Some((Layout::from_size_align(size, layout.align().max(align_of::<Birth>())).ok()?, place))
}

/// As [`whole`], for an object that was allocated so.
#[inline]
fn known(layout: Layout) -> (Layout, usize) {
    whole(layout).unwrap_or((layout, 0))
}

/// Writes the birth of an object in front of it.
///
/// # Safety
/// `memory` is null, or has this layout with the object at this place.
#[inline]
unsafe fn begin(memory: *mut u8, place: usize, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        return memory;
    }
    // SAFETY: the place is within the memory, at least as large as a birth, and aligned.
    unsafe {
        let object = memory.add(place);
        object.cast::<Birth>().sub(1).write(born(bytes, runs_profiler));
        object
    }
}

// SAFETY: memory comes from the allocator inside. It is larger than requested by a part in front of
// the object that keeps the alignment. Counting does not unwind, and its own allocations are not
// counted.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((all, place)) = whole(layout) else { return std::ptr::null_mut() };
        // SAFETY: its size is not 0, and `begin` gets the allocated block.
        unsafe { begin(self.0.alloc(all), place, layout.size()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some((all, place)) = whole(layout) else { return std::ptr::null_mut() };
        // SAFETY: as above.
        unsafe { begin(self.0.alloc_zeroed(all), place, layout.size()) }
    }

    #[inline]
    unsafe fn realloc(&self, object: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (all, place) = known(layout);
        let Some(larger) = size.checked_add(place).filter(|size| *size <= isize::MAX as usize)
        else {
            return std::ptr::null_mut();
        };
        // SAFETY: `alloc` allocated the object behind a birth, which is read before it moves. If it
        // cannot be resized, both stay.
        unsafe {
            let birth = object.cast::<Birth>().sub(1).read();
            let moved = self.0.realloc(object.sub(place), all, larger);
            if !moved.is_null() {
                died(birth, layout.size());
            }
            begin(moved, place, size)
        }
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        let (all, place) = known(layout);
        // SAFETY: as above.
        unsafe {
            died(object.cast::<Birth>().sub(1).read(), layout.size());
            self.0.dealloc(object.sub(place), all);
        }
    }
}
