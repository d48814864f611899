//! What a thread knows of the spied calls that it is in.

use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroU32;

use metaspy_probe::Receiver;

use crate::clock;
use crate::method_profilers::present::Present;
use crate::method_profilers::test_context::Named;
use crate::recorder;

/// A spied call under way: its place on its thread, + 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation(pub(super) NonZeroU32);

/// A thread.
pub(crate) struct Thread {
    /// The spied calls that it is in, the outermost first.
    pub stack: Vec<Entry>,
    /// By the number of a site, how many of its calls are among them.
    pub depths: Vec<u32>,
    /// The test that it runs, 0 if it runs none of its own.
    pub test: u32,
    /// That test, as long as nothing but the thread's name says that it runs.
    pub named: Option<Named>,
}

/// A spied call under way.
pub(crate) struct Entry {
    /// The number of the site.
    pub site: u32,
    /// Calls of the same method around it.
    pub depth: u32,
    pub receiver: Receiver,
    /// When it began, if anybody wants to know.
    pub started: u64,
    /// Ticks of the calls that it made.
    pub inner: u64,
    /// How many it made.
    pub calls: u64,
    /// What this thread ran before, if the call is a test.
    pub test_before: Option<u32>,
    /// Whether its thread was unwinding when it began.
    pub is_unwinding: bool,
    /// Who looks.
    pub present: &'static Present,
    /// What they keep, if they keep anything.
    pub kept: Option<Kept>,
}

impl Thread {
    /// How many calls of a site are on the stack.
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

/// What profilers keep of a call.
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
        // SAFETY: it was leaked, and `busy` sees to it that nobody else has it.
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
