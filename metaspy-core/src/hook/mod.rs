//! What expanded code calls: the two halves of a hook.
//!
//! Programs do not call this module themselves; `#[observe]`, [`crate::instrumenter`]s and weavers do.

mod adapter;
mod async_call;
mod attempt;
mod call;
mod details;
mod handler;
mod held;
mod instant;
mod outcome;
mod place;
mod receiver;
mod span;

pub(crate) use adapter::address as adapter;
pub(crate) use async_call::wants_details;
pub use async_call::{AsyncCall, show};
pub use attempt::Attempt;
pub use call::{Call, count, enter, enter_in, enter_site_in, enter_with, enter_with_in};
pub(crate) use details::DetailBytes;
pub use details::{Detail, DetailKind, Reify, Returned, Shown, VALUE_MAX, read as read_details};
pub(crate) use handler::show as show_returned;
pub use handler::{CallView, Handler};
pub use held::Held;
pub use instant::{instant, instant_with, missed};
pub use metaspy_probe::{Entered, Frame, Guard};
pub use outcome::OutcomeOf;
pub(crate) use place::resident;
pub use place::{Place, Resident};
pub use span::{Cause, SpanCall};

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::format::superblock as sb;
use crate::recorder;
pub(crate) use crate::recorder::Level;
use crate::subject::Subject;

/// Runs a subject expression; a panic in it is caught and counted, and the call is about nobody.
#[inline]
pub fn subject(expression: impl FnOnce() -> Subject) -> Subject {
    at_meta_level(expression).unwrap_or(Subject::NONE)
}

/// Runs code that is not the application's: what it calls is marked as meta, and a panic in it is caught and counted.
pub fn at_meta_level<R>(f: impl FnOnce() -> R) -> Option<R> {
    let level = recorder::lane_level();
    let _back = Level::raise(level + 1);
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(panic) => {
            if let Some(log) = recorder::current() {
                log.count(sb::HANDLER_PANICS, 1);
            }
            // The payload may itself panic when it is dropped; what that throws is left to the process.
            if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(thrown);
            }
            None
        }
    }
}

/// Runs metaspy's own code, or code that watches: what it calls is marked as meta and left out by default.
pub fn meta<R>(f: impl FnOnce() -> R) -> R {
    let _back = Level::raise(recorder::lane_level() + 1);
    f()
}
