//! Hooks of a thread that work apart from its recording for a while.

use std::mem::replace;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use metaspy_probe::Cell;
use metaspy_reader::platform::own_thread::without_signals;

use crate::platform::thread_word;
use crate::recorder::lane::{Lane, own_lane};
use crate::recorder::profiler_state::ProfilerState;

/// Replacements for the state of a thread that its hooks use.
pub struct Apart {
    pub cells: *mut Cell,
    /// Calls and pages of method profilers.
    pub calls: *mut (),
    pub pages: *mut (),
}

/// Runs `run` while hooks of this thread use these. `None` if the thread is in a hook.
pub fn apart<R>(own: Apart, run: impl FnOnce() -> R) -> Option<R> {
    struct Restored<'l> {
        lane: &'l Lane,
        before: Apart,
        context: *mut (),
        near: *const Lane,
    }
    impl Restored<'_> {
        fn swap(&mut self) {
            let ProfilerState { calls, pages, context, .. } = &self.lane.profilers;
            let swap = |at: &AtomicPtr<()>, to| at.swap(to, Relaxed);
            self.before = Apart {
                cells: self.lane.cells.swap_shown(self.before.cells),
                calls: swap(calls, self.before.calls),
                pages: swap(pages, self.before.pages),
            };
            self.context = swap(context, self.context);
            let near = replace(&mut self.near, thread_word::get());
            thread_word::set(near);
        }
    }
    impl Drop for Restored<'_> {
        fn drop(&mut self) {
            self.swap();
        }
    }
    let lane: &Lane = own_lane();
    if lane.gate.is_busy() || lane.profilers.is_busy.load(Relaxed) {
        return None;
    }
    // A handler of a signal would call its hooks here.
    Some(without_signals(|| {
        let mut restored = Restored { lane, before: own, context: null_mut(), near: lane };
        restored.swap();
        run()
    }))
}
