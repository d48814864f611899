//! Detects signal handlers.

/// True if a signal is blocked that has a handler, as in that handler itself. It takes no memory
/// and no lock.
#[cfg(unix)]
pub fn may_be_in_handler() -> bool {
    // SAFETY: zeros are a valid set. The call only reads the mask of this thread.
    let blocked = unsafe {
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut blocked);
        blocked
    };
    (1..32).any(|signal| {
        // SAFETY: both calls read only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigismember(&blocked, signal) == 1
                && libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction)
        }
    })
}

/// True if the current code may be a signal handler.
#[cfg(not(unix))]
pub fn may_be_in_handler() -> bool {
    false
}
