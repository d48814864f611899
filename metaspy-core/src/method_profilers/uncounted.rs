//! Objects on the heap that are metaspy's: no profiler counts them.

use std::cell::Cell;

thread_local! {
    /// True while this thread counts an object, or allocates for metaspy.
    pub(super) static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Runs code whose objects are metaspy's.
pub(crate) fn uncounted<R>(f: impl FnOnce() -> R) -> R {
    let was_busy = IS_BUSY.replace(true);
    let result = f();
    IS_BUSY.set(was_busy);
    result
}
