//! Threads of metaspy in an observed program that begin with metaspy's own code.
//!
//! The standard library allocates when it starts a thread. A profiler that counts allocations would
//! take these objects for the program's, because the thread could not say before that it is
//! metaspy's.

use std::ffi::CStr;
use std::io;

/// Starts a thread that receives no signal, and whose first code is `run`.
#[cfg(unix)]
pub fn spawn(name: &'static CStr, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use std::ffi::c_void;
    use std::mem::MaybeUninit;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::ptr::null_mut;

    use metaspy_reader::platform::own_thread::without_signals;

    type Run = Box<dyn FnOnce() + Send>;

    extern "C" fn start(run: *mut c_void) -> *mut c_void {
        // SAFETY: `spawn` made it from a box, for this thread alone.
        let run = unsafe { Box::from_raw(run.cast::<Run>()) };
        // The panic was reported, and must not reach the system's code.
        _ = catch_unwind(AssertUnwindSafe(*run));
        null_mut()
    }

    let named: Run = Box::new(move || {
        set_name(name);
        run();
    });
    let named = Box::into_raw(Box::new(named));
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the attributes are initialised before they are used, and destroyed once. `start`
    // takes the box over.
    let error = without_signals(|| unsafe {
        match libc::pthread_attr_init(attributes.as_mut_ptr()) {
            0 => {}
            error => return error,
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let error =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), start, named.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        error
    });
    if error == 0 {
        return Ok(());
    }
    // SAFETY: no thread was started, so nothing else has it.
    drop(unsafe { Box::from_raw(named) });
    Err(io::Error::from_raw_os_error(error))
}

/// Bytes of the stack: as many as the standard library gives to a thread.
#[cfg(unix)]
const STACK: usize = 2 << 20;

/// Names this thread for debuggers and profilers.
#[cfg(unix)]
fn set_name(name: &CStr) {
    // SAFETY: the name ends with a zero. The kernel copies its first bytes.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    // SAFETY: the name ends with a zero.
    #[cfg(target_vendor = "apple")]
    unsafe {
        libc::pthread_setname_np(name.as_ptr());
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = name;
}

/// Starts a thread.
#[cfg(not(unix))]
pub fn spawn(name: &'static CStr, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let name = name.to_string_lossy().into_owned();
    std::thread::Builder::new().name(name).spawn(run).map(drop)
}
