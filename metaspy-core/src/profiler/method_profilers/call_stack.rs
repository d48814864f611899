//! The observed calls that a thread is in.

use std::alloc::Layout;
use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroU32;

use metaspy_probe::Receiver;

use crate::clock;
use crate::method_profilers::contexts::Node;
use crate::method_profilers::present::Hold;
use crate::method_profilers::test_context::Named;
use crate::platform::own_pages;
use crate::platform::page_vec::PageVec;
use crate::platform::signal_mask::may_be_in_handler;
use crate::platform::thread_end::watch_this_thread;

/// A running call: its place on the stack of its thread, + 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation(pub(super) NonZeroU32);

/// In an entry: its call is no test. It is a number, because an `Option` has a gap, and an entry with a gap is copied when it
/// is made.
pub(super) const NO_TEST: u32 = u32::MAX;
/// Calls at which a thread looks for the name of its test.
const TRIES: u8 = 100;

/// A thread.
pub(crate) struct Thread {
    /// The calls that it is in, the outermost first.
    pub stack: PageVec<Entry>,
    /// By the number of a site, the number of its calls among them.
    pub depths: PageVec<u32>,
    /// The profilers of the calls at the bottom of the stack. It changes only while the stack is empty.
    bottom: Option<Hold>,
    /// The test that it runs; 0 = none.
    pub test: u32,
    /// That test, while only the name of the thread identifies it.
    pub named: Option<Named>,
    /// How often it is still tried to find out whether the thread is named after a test.
    tries: u8,
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
    /// The test that this thread ran before, if the call is a test; otherwise [`NO_TEST`].
    pub test_before: u32,
    /// The profilers that were installed when it began.
    pub present: Hold,
    /// The calling context around it.
    pub context: Option<&'static Node>,
    /// The data that they keep around it.
    pub kept: Option<Kept>,
}

impl Thread {
    const fn new() -> Self {
        Thread { stack: PageVec::new(), depths: PageVec::new(), bottom: None, test: 0, named: None, tries: TRIES }
    }

    /// The number of calls of a site on the stack. [`Thread::has_room`] has made room for it.
    #[inline]
    pub fn depth_of(&mut self, site: u32) -> &mut u32 {
        &mut self.depths[site as usize]
    }

    /// Holds the profilers that hooks call now, for a call that begins. Without a change of profilers, threads do not meet.
    #[inline]
    pub fn hold(&mut self) -> Option<Hold> {
        let known = match self.stack.last() {
            Some(entry) => &entry.present,
            None => match &self.bottom {
                Some(bottom) => bottom,
                None => return self.hold_others(),
            },
        };
        if known.is_present() { Some(known.above()) } else { self.hold_others() }
    }

    #[cold]
    #[inline(never)]
    fn hold_others(&mut self) -> Option<Hold> {
        let hold = Hold::of_present()?;
        if !self.stack.is_empty() {
            return Some(hold);
        }
        Some(self.bottom.insert(hold).above())
    }

    /// True if there is room for a call of this site. Otherwise method profilers do not see it.
    #[inline]
    pub fn has_room(&mut self, site: u32) -> bool {
        if self.tries != 0 {
            self.find_test();
        }
        let has_depth = (site as usize) < self.depths.len() || self.depths.extend_to(site as usize + 1, 0);
        has_depth && self.stack.has_room()
    }

    /// Finds the test that the thread is named after. This takes memory and locks, so it waits until no signal handler
    /// calls, for a while: a thread may block a signal for ever.
    #[cold]
    fn find_test(&mut self) {
        self.tries -= 1;
        if may_be_in_handler() {
            return;
        }
        self.tries = 0;
        self.named = Named::of_this_thread();
        self.test = self.named.as_ref().map_or(0, Named::id);
    }
}

/// The data that profilers keep around a call.
pub(crate) struct Kept(pub Vec<Box<dyn Any + Send>>);

impl Entry {
    /// True if dropping it does something.
    #[inline]
    pub fn needs_drop(&self) -> bool {
        self.kept.is_some() || self.present.is_counted()
    }

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
    // Constant and without a destructor: the first hook of a thread may be in a signal handler.
    static LOCAL: Local =
        const { Local { busy: Cell::new(false), thread: Cell::new(std::ptr::null_mut()) } };
}

const LAYOUT: Layout = Layout::new::<Thread>();

/// This thread ends.
pub(super) fn end_thread() {
    LOCAL.with(|local| {
        // Later calls are not observed.
        local.busy.set(true);
        let thread = local.thread.replace(std::ptr::null_mut());
        if !thread.is_null() {
            // SAFETY: `make` made it, and while `busy` is set there is no other reference.
            unsafe {
                thread.drop_in_place();
                own_pages::give_back(thread.cast(), LAYOUT);
            }
        }
    });
}

/// True while a profiler runs on this thread.
#[inline]
pub(crate) fn is_busy() -> bool {
    LOCAL.with(|local| local.busy.get())
}

/// Calls `f` with the state of this thread, unless a profiler runs on it.
#[inline(always)]
pub(super) fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let local = LOCAL.with(std::ptr::from_ref);
    // SAFETY: the thread-local is constant and has no destructor, so it is there as long as its thread.
    let local = unsafe { &*local };
    if local.busy.replace(true) {
        return None;
    }
    let _idle = Idle(local);
    let mut thread = local.thread.get();
    if thread.is_null() {
        thread = make(local)?;
    }
    // SAFETY: `make` made it, it stays until the thread ends, and `busy` excludes every other user.
    Some(f(unsafe { &mut *thread }))
}

struct Idle<'l>(&'l Local);

impl Drop for Idle<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.busy.set(false);
    }
}

/// The state of a thread at its first call, without the allocator and without a lock. `None`: its end would not be seen.
#[cold]
#[inline(never)]
fn make(local: &Local) -> Option<*mut Thread> {
    if !watch_this_thread() {
        return None;
    }
    let thread: *mut Thread = own_pages::take(LAYOUT).cast();
    if thread.is_null() {
        return None;
    }
    // SAFETY: the memory is new, and aligned to a page.
    unsafe { thread.write(Thread::new()) };
    local.thread.set(thread);
    Some(thread)
}
