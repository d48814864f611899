//! A forked child shares the pages of a recording with its parent, and must not write them.

use std::sync::Once;

/// Registers `in_child` to run in every forked child before anything else. It may use atomics and
/// system calls only: no locks and no allocation.
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
