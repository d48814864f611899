//! What the core does for woven code.

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use metaspy_probe::{Agent, COUNTED, Frame, PollOnce, Receiver, Seen, UNWINDING, Value, Woven};

use crate::event::Outcome;
use crate::hook::{self, AsyncCall, DetailBytes, Entered, Guard, Reify, Returned};
use crate::method_profilers::{self, Activation, AsyncCall as ProfiledCall};
use crate::recorder::{self, Busy};
use crate::site::Site;
use crate::site::woven::{kinds, site_of};
use crate::subject::Subject;

/// A call of a woven function that is looked at, in the frame of that function.
#[repr(C)]
struct Running {
    /// Room for a call of the log.
    frame: hook::Frame,
    /// How that call was entered.
    entered: *mut u8,
    /// What spies know of it.
    spied: Option<Activation>,
}

/// An async one.
struct Async {
    site: &'static Site,
    call: AsyncCall,
    subject: Subject,
    spied: Option<ProfiledCall>,
    is_done: bool,
    /// Whether somebody asked, when it was first polled, that what it returns be written down.
    is_asked: Option<bool>,
    /// Whether what it returned says that it failed, and how that looks.
    failed: Option<bool>,
    shown: Option<Box<DetailBytes>>,
}

const _: () = assert!(size_of::<Running>() <= size_of::<Frame>() && align_of::<Running>() <= align_of::<Frame>());
const _: () = assert!(hook::COUNTED == COUNTED && hook::UNWINDING == UNWINDING);

/// Where woven code finds it.
pub fn address() -> *mut Agent {
    static AGENT: Agent = Agent { enter, leave, returned, key, tell, start, poll, returned_async, stop };
    (&raw const AGENT).cast_mut()
}

extern "C" fn enter(woven: &'static Woven, frame: *mut Frame, seen: &Seen<'_>) -> *mut u8 {
    let Some(site) = site_of(woven) else { return std::ptr::null_mut() };
    let spied = method_profilers::enter(woven, seen);
    let tally = site.tally.load(Relaxed);
    if tally != 0 && spied.is_none() && seen.arguments().is_empty() {
        let lane = recorder::here();
        let near = recorder::count_near(lane, tally, Subject::NONE);
        if let Some(row) = near.or_else(|| recorder::count_further(tally, Subject::NONE)) {
            if let Some(_busy) = Busy::enter(lane) {
                lane.cells.note(seen.counts, woven.number.load(Relaxed), tally, row);
            }
            return Guard::of(Entered::counted(row)).into_raw();
        }
    }
    // SAFETY: the frame is the caller's, who holds it until the call ends, and it has room for this.
    let running: &'static mut MaybeUninit<Running> = unsafe { &mut *frame.cast() };
    let running = running.write(Running { frame: hook::Frame::vacant(), entered: std::ptr::null_mut(), spied });
    running.entered = log_call(site, &mut running.frame, seen);
    match (running.entered.is_null(), &running.spied) {
        (true, None) => std::ptr::null_mut(),
        _ => frame.cast(),
    }
}

/// The call in the log, as [`Guard::into_raw`] gives it.
fn log_call(site: &'static Site, frame: &mut hook::Frame, seen: &Seen<'_>) -> *mut u8 {
    if !site.is_armed() {
        return std::ptr::null_mut();
    }
    // Whoever only counts wants to know how often, not on whom: the mirror knows that.
    let subject = if site.tally.load(Relaxed) == 0 { kinds::subject(&seen.receiver) } else { Subject::NONE };
    let entered = hook::count(site, subject)
        .unwrap_or_else(|| hook::enter_with_in(frame, site, subject, |reify| reify_all(seen, reify)));
    Guard::of(entered).into_raw()
}

fn reify_all<'a>(seen: &Seen<'a>, reify: &mut Reify<'a>) {
    for argument in seen.arguments() {
        reify.arg(argument.name.get(), &Printed(argument));
    }
}

/// A value, as `Debug` prints it.
struct Printed<'v>(&'v Value<'v>);

impl fmt::Debug for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.show(f) {
            true => Ok(()),
            false => f.write_str("?"),
        }
    }
}

extern "C" fn leave(begun: *mut u8) {
    if begun.addr() & COUNTED != 0 {
        // SAFETY: `enter`, or a cell that it filled, took it out of a guard.
        return drop(unsafe { Guard::from_raw(begun) });
    }
    // SAFETY: `enter` made it in a frame that is still there.
    let running = unsafe { &mut *begun.cast::<Running>() };
    // SAFETY: as above; null is a call that nobody logs.
    let guard = unsafe { Guard::from_raw(std::mem::replace(&mut running.entered, std::ptr::null_mut())) };
    if let Some(activation) = running.spied.take() {
        method_profilers::leave(activation);
    }
    drop(guard);
}

extern "C" fn returned(begun: *mut u8, value: &Value<'_>) {
    // SAFETY: as in `leave`; a call that was only counted shows nothing.
    let running = unsafe { &mut *begun.cast::<Running>() };
    let outcome = outcome_of(value.failed());
    if let Some(activation) = running.spied.take() {
        method_profilers::returned(activation, value, outcome);
    }
    // SAFETY: as in `leave`.
    let mut guard = unsafe { Guard::from_raw(running.entered) };
    guard.returns(&Printed(value));
    guard.exit(outcome);
    running.entered = guard.into_raw();
}

fn outcome_of(failed: Option<bool>) -> Outcome {
    match failed {
        None => Outcome::Returned,
        Some(true) => Outcome::Failed,
        Some(false) => Outcome::Succeeded,
    }
}

fn key(value: *const u8, hash: fn(*const u8) -> u64) -> Option<u64> {
    // A function that hashes its subject would be asked for the key of the subject of that call, and so on.
    if recorder::lane_level() > 0 { None } else { hook::at_meta_level(|| hash(value)) }
}

extern "C" fn tell(woven: &'static Woven) {
    if let Some(site) = site_of(woven) {
        if let Some(mut waiting) = ProfiledCall::begin(woven, &Seen::new(Receiver::NONE, &[])) {
            waiting.end(Outcome::Returned, None);
        }
        hook::instant(site, Subject::NONE);
    }
}

extern "C" fn start(woven: &'static Woven, seen: &Seen<'_>) -> *mut u8 {
    let Some(site) = site_of(woven) else { return std::ptr::null_mut() };
    let subject = if site.tally.load(Relaxed) == 0 { kinds::subject(&seen.receiver) } else { Subject::NONE };
    let call = AsyncCall::showing(site, hook::show(site, subject, |reify| reify_all(seen, reify)));
    let spied = ProfiledCall::begin(woven, seen);
    let of = Async { site, call, subject, spied, is_done: false, is_asked: None, failed: None, shown: None };
    Box::into_raw(Box::new(of)).cast()
}

fn poll(begun: *mut u8, once: PollOnce, data: *mut u8) {
    let of: *mut Async = begun.cast();
    // SAFETY: `start` made it, and whoever polls has it alone. What `once` calls reaches the fields behind `call` by the
    // same pointer, and never `call` itself.
    let (call, subject) = unsafe { (&mut (*of).call, (*of).subject) };
    let polled = || {
        let polling = Polling::begin(of);
        let is_done = once(data);
        polling.end(is_done);
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    };
    let _ = call.poll(|| subject, polled, |(), told| outcome(of, told));
}

/// How an async call ended, and what it returned, as it was shown while it was polled.
fn outcome(of: *mut Async, told: &mut Returned<'_>) -> Outcome {
    // SAFETY: as in `poll`.
    let (shown, failed) = unsafe { ((*of).shown.take(), (*of).failed) };
    if let Some(shown) = shown {
        told.shown(shown);
    }
    outcome_of(failed)
}

/// A poll. If it is dropped before it ends, a panic left it: whether the thread is unwinding does not say that, as a
/// destructor may have been what polls.
struct Polling(*mut Async);

impl Polling {
    fn begin(of: *mut Async) -> Self {
        // SAFETY: as in `poll`.
        let (site, subject, is_asked, spied) =
            unsafe { ((*of).site, (*of).subject, &mut (*of).is_asked, &mut (*of).spied) };
        // The call in the log has just begun, if this is the first poll.
        is_asked.get_or_insert_with(|| hook::wants_details(site, subject));
        if let Some(spied) = spied {
            spied.resume();
        }
        Polling(of)
    }

    fn end(self, is_done: bool) {
        let of = ManuallyDrop::new(self).0;
        // SAFETY: as in `poll`.
        let (done, spied) = unsafe { (&mut (*of).is_done, &mut (*of).spied) };
        *done = is_done;
        if let Some(spied) = spied {
            spied.suspend();
        }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        if let Some(spied) = unsafe { &mut (*self.0).spied } {
            spied.end(Outcome::Panicked, None);
        }
    }
}

extern "C" fn returned_async(begun: *mut u8, value: &Value<'_>) {
    let of: *mut Async = begun.cast();
    // SAFETY: as in `poll`, which is what calls this by way of `once`.
    let (spied, is_asked) = unsafe { (&mut (*of).spied, (*of).is_asked) };
    // SAFETY: as above.
    let (failed, shown) = unsafe { (&mut (*of).failed, &mut (*of).shown) };
    *failed = value.failed();
    if let Some(spied) = spied {
        spied.end(outcome_of(*failed), Some(value));
    }
    if is_asked == Some(true) {
        *shown = Some(hook::show_returned(&Printed(value)));
    }
}

extern "C" fn stop(begun: *mut u8) {
    // SAFETY: `start` made it of a box, and whoever stops it has it no more.
    let mut of = unsafe { Box::from_raw(begun.cast::<Async>()) };
    if let Some(spied) = &mut of.spied {
        spied.end(if of.is_done { Outcome::Returned } else { Outcome::Cancelled }, None);
    }
}
