//! Threads of metaspy in an observed program.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread that receives no signal. The program's signals are for the program's threads: a
/// handler on this thread would be no call of the program, and a signal that the program waits for
/// would end the program.
pub fn spawn<R: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    without_signals(|| Builder::new().name(name.into()).spawn(run))
}

/// Runs `run` while this thread receives no signal. Threads that it starts never receive any.
///
/// A fault is not affected, because the thread itself causes it.
#[cfg(unix)]
pub fn without_signals<R>(run: impl FnOnce() -> R) -> R {
    struct Restored(libc::sigset_t);
    impl Drop for Restored {
        fn drop(&mut self) {
            // SAFETY: the mask is the previous mask of this thread.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
        }
    }
    // SAFETY: zeros are a valid set, and the calls write only into these two.
    let _restored = unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        for fault in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGTRAP,
            libc::SIGSYS,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        Restored(before)
    };
    run()
}

/// Calls `run`, because the system has no signals.
#[cfg(not(unix))]
pub fn without_signals<R>(run: impl FnOnce() -> R) -> R {
    run()
}
