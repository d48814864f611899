//! The observed calls that a thread is in.

use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroU32;

use metaspy_probe::Receiver;

use crate::clock;
use crate::method_profilers::present::Present;
use crate::method_profilers::test_context::Named;
use crate::recorder;

/// A running call: its place on the stack of its thread, + 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation(pub(super) NonZeroU32);

/// A thread.
pub(crate) struct Thread {
    /// The calls that it is in, the outermost first.
    pub stack: Vec<Entry>,
    /// By the number of a site, the number of its calls among them.
    pub depths: Vec<u32>,
    /// The test that it runs; 0 = none.
    pub test: u32,
    /// That test, while only the name of the thread identifies it.
    pub named: Option<Named>,
}

/// A running call.
pub(crate) struct Entry {
    /// The number of the site.
    pub site: u32,
    /// Calls of the same method around it.
    pub depth: u32,
    pub receiver: Receiver,
    /// The tick of its begin, if calls are timed.
    pub started: u64,
    /// Ticks of the calls that it made.
    pub inner: u64,
    /// The number of calls that it made.
    pub calls: u64,
    /// The test that this thread ran before, if the call is a test.
    pub test_before: Option<u32>,
    /// True if its thread was unwinding when it began.
    pub is_unwinding: bool,
    /// The profilers that were installed when it began.
    pub present: &'static Present,
    /// The data that they keep around it.
    pub kept: Option<Kept>,
}

impl Thread {
    /// The number of calls of a site on the stack.
    #[inline]
    pub fn depth_of(&mut self, site: u32) -> &mut u32 {
        let at = site as usize;
        if at >= self.depths.len() {
            // The site was registered after the thread began.
            self.depths.resize(at + 1, 0);
        }
        &mut self.depths[at]
    }
}

/// The data that profilers keep around a call.
pub(crate) struct Kept(pub Vec<Box<dyn Any + Send>>);

impl Entry {
    /// The current tick if a profiler needs it, otherwise 0.
    #[inline]
    pub fn now(&self) -> u64 {
        if self.present.is_timed() { clock::now() } else { 0 }
    }
}

struct Local {
    /// True while a profiler runs: its own calls are not observed.
    busy: Cell<bool>,
    thread: Cell<*mut Thread>,
}

thread_local! {
    static LOCAL: Local =
        const { Local { busy: Cell::new(false), thread: Cell::new(std::ptr::null_mut()) } };
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            // Calls of later destructors are not observed.
            local.busy.set(true);
            let thread = local.thread.replace(std::ptr::null_mut());
            if !thread.is_null() {
                // SAFETY: `make` leaked it, and while `busy` is set there is no other reference.
                drop(unsafe { Box::from_raw(thread) });
            }
            recorder::here().cells.give_up();
        });
    }
}

/// Calls `f` with the state of this thread, unless a profiler runs on it.
#[inline]
pub(super) fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    LOCAL.with(|local| {
        if local.busy.replace(true) {
            return None;
        }
        let _idle = Idle(local);
        let mut thread = local.thread.get();
        if thread.is_null() {
            thread = make(local)?;
        }
        // SAFETY: it was leaked, and `busy` excludes every other user.
        Some(f(unsafe { &mut *thread }))
    })
}

struct Idle<'l>(&'l Local);

impl Drop for Idle<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.busy.set(false);
    }
}

#[cold]
fn make(local: &Local) -> Option<*mut Thread> {
    END.try_with(|_| ()).ok()?;
    let named = Named::of_this_thread();
    let thread = Thread {
        stack: Vec::with_capacity(64),
        depths: vec![0; crate::site::count() + 1],
        test: named.as_ref().map_or(0, Named::id),
        named,
    };
    local.thread.set(Box::into_raw(Box::new(thread)));
    Some(local.thread.get())
}
