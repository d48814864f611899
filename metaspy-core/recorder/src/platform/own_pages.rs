//! Zeroed pages that do not come from the program's allocator, which may be observed, or
//! interrupted by a signal handler that calls a hook.

use std::alloc::Layout;

/// Zeroed memory, aligned to a page; null if there is none.
#[cfg(unix)]
pub fn take(layout: Layout) -> *mut u8 {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, at an address that the system chooses.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), layout.size(), protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { std::ptr::null_mut() } else { at.cast() }
}

/// Gives memory of [`take`] back.
///
/// # Safety
/// `take` returned it for this layout, and no pointer into it is used any more.
#[cfg(unix)]
pub unsafe fn give_back(at: *mut u8, layout: Layout) {
    // SAFETY: as the caller promises.
    unsafe { libc::munmap(at.cast(), layout.size()) };
}

/// Zeroed memory; null if there is none.
#[cfg(not(unix))]
pub fn take(layout: Layout) -> *mut u8 {
    // SAFETY: callers need at least one cell.
    unsafe { std::alloc::alloc_zeroed(layout) }
}

/// Gives memory of [`take`] back.
///
/// # Safety
/// `take` returned it for this layout, and no pointer into it is used any more.
#[cfg(not(unix))]
pub unsafe fn give_back(at: *mut u8, layout: Layout) {
    // SAFETY: as the caller promises.
    unsafe { std::alloc::dealloc(at, layout) };
}
