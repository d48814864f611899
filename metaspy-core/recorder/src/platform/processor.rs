//! The processor that runs the calling thread.

/// Its number. `None` where the system does not report it cheaply.
#[inline]
pub fn current() -> Option<usize> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: the call reads a number that the kernel keeps for each processor, without
        // entering the kernel.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    None
}
