//! Handlers that run when the process exits normally.

use std::sync::Mutex;

use crate::platform::lock::lock;

type AtExit = fn(Option<u8>);

static AT_EXIT: Mutex<Vec<AtExit>> = Mutex::new(Vec::new());

/// Registers an exit handler. It gets the exit status where the platform provides one; handlers run
/// in reverse order.
///
/// It does not run if the process is killed or aborts, or on platforms without exit handlers.
pub(crate) fn at_exit(f: AtExit) {
    let mut all = lock(&AT_EXIT);
    if all.is_empty() {
        ask();
    }
    all.push(f);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn ask() {
    unsafe extern "C" {
        fn on_exit(
            run: extern "C" fn(libc::c_int, *mut libc::c_void),
            with: *mut libc::c_void,
        ) -> libc::c_int;
    }
    extern "C" fn exits(status: libc::c_int, _with: *mut libc::c_void) {
        run(Some(status as u8));
    }
    // SAFETY: the declaration is that of the C library, and the handler a plain function that lives
    // as long as the process and never panics.
    unsafe { on_exit(exits, std::ptr::null_mut()) };
}

#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
fn ask() {
    extern "C" fn exits() {
        run(None);
    }
    // SAFETY: the handler is a plain function that lives as long as the process and never panics.
    unsafe { libc::atexit(exits) };
}

#[cfg(not(unix))]
fn ask() {}

#[cfg(unix)]
fn run(status: Option<u8>) {
    let all = std::mem::take(&mut *lock(&AT_EXIT));
    for f in all.into_iter().rev() {
        // A panic must not leave a function called from C.
        let _ = std::panic::catch_unwind(|| f(status));
    }
}
