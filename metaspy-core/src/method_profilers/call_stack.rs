//! The observed calls that a thread is in.

use std::alloc::Layout;
use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::NonZeroU32;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use metaspy_probe::Receiver;

use crate::causality::Carried;
use crate::clock;
use crate::method_profilers::contexts::Node;
use crate::method_profilers::present::{Hold, Present};
use crate::method_profilers::test_context::Named;
use crate::platform::own_pages;
use crate::platform::page_vec::PageVec;
use crate::platform::signal_mask::may_be_in_handler;
use crate::platform::thread_end::watch_this_thread;
use crate::recorder::{self, ProfilerState};

/// A running call: its place on the stack of its thread, + 1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Activation(pub(super) NonZeroU32);

/// In an entry: its call is no test. It is a number, because an `Option` has a gap, and an entry
/// with a gap is copied when it is made.
pub(super) const NO_TEST: u32 = u32::MAX;
/// Calls at which a thread looks for the name of its test.
const TRIES: u8 = 100;

/// A thread.
pub(crate) struct Thread {
    /// The calls that it is in, the outermost first.
    pub stack: PageVec<Entry>,
    /// By the number of a site, the number of its calls among them.
    pub depths: PageVec<u32>,
    /// The profilers of the calls at the bottom of the stack. It changes only while the stack is
    /// empty.
    bottom: Option<Hold>,
    /// The test that it runs; 0 = none.
    pub test: u32,
    /// That test, while only the name of the thread identifies it.
    pub named: Option<Named>,
    /// How often it is still tried to find out whether the thread is named after a test.
    tries: u8,
    /// The events that were last asked whether they belong to a block.
    pub blocks: KnownEvents,
}

/// Events, with the profilers to whose block they do not belong.
pub(crate) struct KnownEvents([KnownEvent; 16]);

struct KnownEvent {
    /// The event with its recording.
    event: Carried,
    /// The number of the profilers.
    present: u64,
    outside: u32,
}

impl KnownEvents {
    const fn new() -> Self {
        KnownEvents([const { KnownEvent { event: Carried::NOTHING, present: 0, outside: 0 } }; 16])
    }

    /// The profilers to whose block an event does not belong, if that is known.
    pub fn known(&self, event: Carried, present: &Present) -> Option<u32> {
        let known = &self.0[event.to_bits() as usize % self.0.len()];
        (known.event == event && known.present == present.number).then_some(known.outside)
    }

    /// Remembers them.
    pub fn remember(&mut self, event: Carried, present: &Present, outside: u32) {
        self.0[event.to_bits() as usize % self.0.len()] =
            KnownEvent { event, present: present.number, outside };
    }
}

/// A running call: two lines of the cache, and of a call that profilers see the end of only the
/// first one.
#[repr(C, align(64))]
pub(crate) struct Entry {
    /// The number of the site.
    pub site: u32,
    /// Calls of the same method around it.
    pub depth: u32,
    /// Ticks of the calls that it made. Not beside their number: both would be loaded at once, and
    /// the processor waits for a load of two stores.
    pub inner: u64,
    /// The tick of its begin, if calls are timed.
    pub started: u64,
    /// The number of calls that it made.
    pub calls: u64,
    /// The profilers that were installed when it began.
    pub present: Hold,
    /// The calling context around it.
    pub context: Option<&'static Node>,
    /// The values that its hook showed; `None` if the profilers see only its end.
    pub shown: Option<Shown>,
}

/// The values that profilers see of a call before its end, and keep.
pub(crate) struct Shown {
    pub receiver: Receiver,
    /// The test that this thread ran before, if the call is a test; otherwise [`NO_TEST`].
    pub test_before: u32,
    /// A bit for each profiler that is installed around a block to which the call does not belong.
    pub outside: u32,
    /// The data that they keep around the call.
    pub kept: Option<Kept>,
}

const _: () = assert!(size_of::<Option<Shown>>() == size_of::<Shown>());

impl Thread {
    const fn new() -> Self {
        Thread {
            stack: PageVec::empty(),
            depths: PageVec::empty(),
            bottom: None,
            test: 0,
            named: None,
            tries: TRIES,
            blocks: KnownEvents::new(),
        }
    }

    /// A thread that is in a call, with this memory for a few calls inside of it, of sites with the
    /// first numbers.
    pub fn within(
        call: Entry,
        calls: &mut [MaybeUninit<Entry>],
        depths: &mut [MaybeUninit<u32>],
    ) -> ManuallyDrop<Self> {
        let Some(first) = calls.first_mut() else { return ManuallyDrop::new(Thread::new()) };
        first.write(call);
        depths.iter_mut().for_each(|depth| _ = depth.write(0));
        let known = depths.len();
        // SAFETY: the first call and all depths were written.
        let (stack, depths) = unsafe { (PageVec::over(calls, 1), PageVec::over(depths, known)) };
        ManuallyDrop::new(Thread { stack, depths, tries: 0, ..Thread::new() })
    }

    /// The number of calls of a site on the stack. [`Thread::has_room`] has made room for it.
    #[inline]
    pub fn depth_of(&mut self, site: u32) -> &mut u32 {
        &mut self.depths[site as usize]
    }

    /// Holds the profilers that hooks call now, for a call that begins. Without a change of
    /// profilers, threads do not meet.
    #[inline]
    pub fn hold(&mut self) -> Option<Hold> {
        match self.known_hold() {
            Some(hold) => Some(hold),
            None => self.hold_others(),
        }
    }

    /// As [`Thread::hold`], if the call around holds these profilers, or the call before at the
    /// bottom of the stack.
    #[inline(always)]
    pub fn known_hold(&self) -> Option<Hold> {
        let known = match self.stack.last() {
            Some(entry) => &entry.present,
            None => self.bottom.as_ref()?,
        };
        known.is_present().then(|| known.above())
    }

    /// True if it is known that there is room for a call of this site.
    #[inline(always)]
    pub fn has_known_room(&self, site: u32) -> bool {
        self.tries == 0 && (site as usize) < self.depths.len() && self.stack.has_known_room()
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
        let has_depth =
            (site as usize) < self.depths.len() || self.depths.extend_to(site as usize + 1, 0);
        has_depth && self.stack.has_room()
    }

    /// Finds the test that the thread is named after. This takes memory and locks, so it waits
    /// until no signal handler calls, for a while: a thread may block a signal for ever.
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
    /// A call whose end alone profilers see.
    #[inline(always)]
    pub fn of_end(site: u32, depth: u32, present: Hold, context: Option<&'static Node>) -> Self {
        Entry { site, depth, started: 0, inner: 0, calls: 0, present, context, shown: None }
    }

    /// True if dropping it does something.
    #[inline]
    pub fn needs_drop(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.kept.is_some()) || self.present.is_counted()
    }

    /// The receiver, if the hook showed it.
    #[inline]
    pub fn receiver(&self) -> &Receiver {
        static NONE: Receiver = Receiver::NONE;
        self.shown.as_ref().map_or(&NONE, |shown| &shown.receiver)
    }

    /// The test that this thread ran before; [`NO_TEST`] if the call is no test.
    #[inline]
    pub fn test_before(&self) -> u32 {
        self.shown.as_ref().map_or(NO_TEST, |shown| shown.test_before)
    }

    /// The profilers that are installed around a block to which the call does not belong.
    #[inline]
    pub fn outside(&self) -> u32 {
        self.shown.as_ref().map_or(0, |shown| shown.outside)
    }

    /// The current tick if a profiler needs it, otherwise 0.
    #[inline]
    pub fn now(&self) -> u64 {
        if self.present.is_timed() { clock::now() } else { 0 }
    }
}

const LAYOUT: Layout = Layout::new::<Thread>();

/// This thread ends.
pub(super) fn end_thread() {
    let observed = &recorder::own_lane().profilers;
    // Later calls are not observed.
    observed.is_busy.store(true, Relaxed);
    let thread: *mut Thread = observed.calls.swap(null_mut(), Relaxed).cast();
    if !thread.is_null() {
        // SAFETY: `make` made it, and while the thread is busy there is no other reference.
        unsafe {
            thread.drop_in_place();
            own_pages::give_back(thread.cast(), LAYOUT);
        }
    }
}

/// True while a profiler runs on this thread.
#[inline]
pub(crate) fn is_busy() -> bool {
    recorder::own_lane().profilers.is_busy.load(Relaxed)
}

/// True if this call is one of a signal handler that interrupts the hook of a call, or the end of
/// its thread: profilers do not see it. Calls of a profiler's own code, such as a woven allocator,
/// are no such calls.
#[inline]
pub(super) fn is_interrupted() -> bool {
    recorder::own_lane().profilers.is_busy.load(Relaxed) && is_in_handler()
}

#[cold]
#[inline(never)]
fn is_in_handler() -> bool {
    recorder::own_lane().level() == 0 && may_be_in_handler()
}

/// Calls `f` with the state of this thread, unless a profiler runs on it.
#[inline(always)]
pub(super) fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let observed = &recorder::own_lane().profilers;
    if observed.is_busy.load(Relaxed) || (observed.calls.load(Relaxed).is_null() && !make(observed))
    {
        return None;
    }
    with_known(observed, |thread| Some(f(thread)))
}

/// As [`with`], if the thread has a state.
#[inline(always)]
pub(super) fn with_known<R>(
    observed: &ProfilerState,
    f: impl FnOnce(&mut Thread) -> Option<R>,
) -> Option<R> {
    let (thread, _idle) = known(observed)?;
    f(thread)
}

/// The state of a thread, if it has one. The thread is busy until the second value is dropped.
#[inline(always)]
#[expect(clippy::mut_from_ref, reason = "a busy thread has no other user of its state")]
pub(super) fn known(observed: &ProfilerState) -> Option<(&mut Thread, Idle<'_>)> {
    let thread: *mut Thread = observed.calls.load(Relaxed).cast();
    if observed.is_busy.load(Relaxed) || thread.is_null() {
        return None;
    }
    observed.is_busy.store(true, Relaxed);
    let idle = Idle(&observed.is_busy);
    // SAFETY: `make` made it, it stays until the thread ends, and `is_busy` excludes every other
    // user until `idle` is dropped. No caller keeps the thread for longer.
    Some((unsafe { &mut *thread }, idle))
}

/// A thread that is busy while this lives.
pub(super) struct Idle<'o>(&'o AtomicBool);

impl Drop for Idle<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

/// The state of a thread at its first call, without the allocator and without a lock. False: its
/// end would not be seen.
#[cold]
#[inline(never)]
fn make(observed: &ProfilerState) -> bool {
    // A signal handler may call a hook meanwhile.
    observed.is_busy.store(true, Relaxed);
    let _idle = Idle(&observed.is_busy);
    if !watch_this_thread() {
        return false;
    }
    let thread: *mut Thread = own_pages::take(LAYOUT).cast();
    if thread.is_null() {
        return false;
    }
    // SAFETY: the memory is new, and aligned to a page.
    unsafe { thread.write(Thread::new()) };
    observed.calls.store(thread.cast(), Relaxed);
    true
}
