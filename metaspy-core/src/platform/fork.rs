//! A forked child shares the pages of a recording with its parent, and must not write them.

use std::sync::Once;

/// Has `in_child` called in every forked child, before it does anything else. The handler may use neither locks nor
/// memory: only atomics and system calls.
pub(crate) fn on_fork(in_child: extern "C" fn()) {
    #[cfg(unix)]
    {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler is a plain function that lives as long as the process.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
    #[cfg(not(unix))]
    let _ = (in_child, Once::new());
}

/// Lays private zeroed pages over a range of this process, in the child after a fork: whatever still writes there
/// writes for itself. Reports whether it could.
///
/// # Safety
/// The range must be a mapping whose users expect nothing of its content any more.
#[cfg(unix)]
pub(crate) unsafe fn cover(address: *mut u8, bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller vouches for the range; mapping over it is what this is for.
    let at = unsafe { libc::mmap(address.cast(), bytes, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// No forks, no children: nothing to do.
///
/// # Safety
/// None.
#[cfg(not(unix))]
pub(crate) unsafe fn cover(_address: *mut u8, _bytes: usize) -> bool {
    true
}
