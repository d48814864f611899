//! Per-thread state of method profilers. It is in the lane because a hook reaches the lane with one
//! load.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// The state of method profilers on a thread.
pub struct ProfilerState {
    /// True while a profiler runs: its own calls are not observed.
    pub is_busy: AtomicBool,
    /// The observed calls that the thread is in; null before the first one.
    pub calls: AtomicPtr<()>,
    /// The calling context that it is in; null at the root.
    pub context: AtomicPtr<()>,
    /// The pages of tables that it writes; null before the first one.
    pub pages: AtomicPtr<()>,
}

impl ProfilerState {
    pub(super) const fn nothing() -> Self {
        ProfilerState {
            is_busy: AtomicBool::new(false),
            calls: AtomicPtr::new(null_mut()),
            context: AtomicPtr::new(null_mut()),
            pages: AtomicPtr::new(null_mut()),
        }
    }
}
