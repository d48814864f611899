//! Words of a thread that method profilers own: here because hooks reach its lane by one instruction.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// What method profilers keep of a thread.
pub struct Observed {
    /// True while a profiler runs: its own calls are not observed.
    pub is_busy: AtomicBool,
    /// The observed calls that the thread is in; null before the first one.
    pub calls: AtomicPtr<()>,
    /// The calling context that it is in; null at the root.
    pub context: AtomicPtr<()>,
    /// The pages of tables that it writes; null before the first one.
    pub pages: AtomicPtr<()>,
}

impl Observed {
    pub(super) const fn nothing() -> Self {
        Observed {
            is_busy: AtomicBool::new(false),
            calls: AtomicPtr::new(null_mut()),
            context: AtomicPtr::new(null_mut()),
            pages: AtomicPtr::new(null_mut()),
        }
    }
}
