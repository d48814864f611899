//! The meta level of a thread: it keeps the profiler out of its own profile.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::format::superblock as sb;
use crate::recorder::lane;
use crate::recorder::log::current;

/// Changes the meta level of this thread, and returns the one before.
#[inline]
pub(crate) fn enter_level(level: u8) -> u8 {
    let lane = lane::own_lane();
    let before = lane.level();
    lane.set_level(level.min(3));
    before
}

/// A raised meta level; dropping it restores the one before.
pub struct Level(u8);

impl Level {
    #[inline]
    pub fn raise(to: u8) -> Self {
        Level(enter_level(to))
    }
}

impl Drop for Level {
    #[inline]
    fn drop(&mut self) {
        enter_level(self.0);
    }
}

/// Runs code that is not the application's: the calls in it are marked as meta, and a panic in it
/// is caught and counted.
#[inline]
pub fn at_meta_level<R>(f: impl FnOnce() -> R) -> Option<R> {
    let level = lane::lane_level();
    let _back = Level::raise(level + 1);
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(panic) => {
            if let Some(log) = current() {
                log.count(sb::HANDLER_PANICS, 1);
            }
            // The payload may panic when it is dropped; that second payload is leaked.
            if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(thrown);
            }
            None
        }
    }
}

/// Runs metaspy's own code or a subscription: the calls in it are marked as meta and left out by
/// default.
#[inline]
pub fn meta<R>(f: impl FnOnce() -> R) -> R {
    let _back = Level::raise(lane::lane_level() + 1);
    f()
}
