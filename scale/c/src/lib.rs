//! metaspy for programs in C and in languages that call C: `include/metaspy.h` describes each
//! function.
//!
//! No function unwinds into its caller, and none blocks longer than a hook.
//!
//! Programs in C call this small library over the core, and Python calls it as well. The engines
//! are not a module in each process: an application carries the hooks alone, queries run in a
//! program of their own, and their tables cross over as Arrow IPC.

mod emit;
mod read;

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A text of the caller; `None` if it is null.
///
/// # Safety
///
/// A pointer that is not null must be a string that ends with 0, unchanged during the call.
unsafe fn text<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the caller promises it.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// Runs the body of a function. A panic must not leave a function that is called from C.
fn guarded<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}
