//! What is done when the process ends in good order.

use std::sync::Mutex;

use crate::platform::lock::lock;

static AT_EXIT: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Has this done when `main` has returned or somebody called `exit`. Nothing is done if the process is killed, or
/// aborts, or where the system has no such thing.
pub(crate) fn at_exit(f: fn()) {
    let mut all = lock(&AT_EXIT);
    if all.is_empty() {
        #[cfg(unix)]
        // SAFETY: the function is one of this program, and catches what panics.
        unsafe {
            libc::atexit(run);
        }
    }
    all.push(f);
}

#[cfg(unix)]
extern "C" fn run() {
    let all = std::mem::take(&mut *lock(&AT_EXIT));
    for f in all {
        // A panic must not leave a function that C calls.
        let _ = std::panic::catch_unwind(f);
    }
}
