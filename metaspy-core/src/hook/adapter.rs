//! The core behind the hooks of instrumented code: it implements [`metaspy_probe::Adapter`].
//!
//! This is the one place where a call meets the recorder and the method profilers.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::task::Poll;

use metaspy_probe::{
    ANNOUNCED, Adapter, COUNTED, CauseBefore, ContextWord, Entered, EntryCells, Frame, Guard, Lean,
    Object, PollOnce, Receiver, Seen, Value,
};

use crate::arm::{self, Config};
use crate::causality::{self, Carried};
use crate::event::Outcome;
use crate::hook::details::written;
use crate::hook::light_call::{self, LightCall};
use crate::hook::thunks::THUNKS;
use crate::hook::{self, AsyncCall, Call, DetailBytes, Reify, Returned, call};
use crate::method_profilers::{self, AsyncCall as ProfiledCall};
use crate::recorder::{self, Counter, with_patience};
use crate::site::Site;
use crate::subject::Subject;
use crate::subject::receiver;

/// An async call of a woven function.
struct Async {
    site: &'static Site,
    call: AsyncCall,
    subject: Subject,
    profiled: Option<ProfiledCall>,
    is_done: bool,
    /// True if the return value is recorded; decided at the first poll.
    records_return: Option<bool>,
    /// True if the return value is a failure; and the value as text.
    failed: Option<bool>,
    shown: Option<Box<DetailBytes>>,
}

/// The address that an adopted site has.
pub fn address() -> *mut Adapter {
    static ADAPTER: Adapter = Adapter {
        enter,
        exit,
        returned,
        finish,
        leave,
        key,
        began,
        entered,
        covered,
        enter_context,
        start,
        poll,
        returned_async,
        stop,
        thunks: THUNKS,
        carried,
        because,
        no_longer,
    };
    (&raw const ADAPTER).cast_mut()
}

pub(in crate::hook) extern "C" fn enter(
    site: &'static Site,
    frame: *mut Frame,
    seen: &Seen<'_>,
) -> *mut u8 {
    // SAFETY: the frame is the caller's, who holds it until the call ends.
    let frame: &'static mut Frame = unsafe { &mut *frame };
    begin(site, frame, seen).into_raw()
}

fn begin(site: &'static Site, frame: &'static mut Frame, seen: &Seen<'_>) -> Entered<'static> {
    if Config::of(site).is_profiled() {
        let receiver = (seen.receiver.word, seen.kind);
        if seen.arguments().is_empty()
            && !std::thread::panicking()
            && let Some(counted) = light_call::count_further(site, receiver)
        {
            // SAFETY: it is the row that the call was counted in, marked.
            return unsafe { Entered::from_raw(counted) };
        }
        return call::begin_profiled(
            frame,
            site,
            seen,
            || subject(site, seen),
            |reify| reify_all(seen, reify),
        );
    }
    // Where calls are only counted, their number matters, not the object.
    if seen.arguments().is_empty()
        && let Some(tally) = site.tally_row()
        && let Some(counted) = call::count_in(seen.counters, site, tally, Subject::NONE)
    {
        return counted;
    }
    let subject = subject(site, seen);
    hook::count(site, subject).unwrap_or_else(|| {
        hook::enter_with_in(frame, site, subject, |reify| reify_all(seen, reify))
    })
}

/// The subject of a call. A site that only counts its calls needs none.
fn subject(site: &Site, seen: &Seen<'_>) -> Subject {
    let only_counts = Config::of(site).only_counts();
    if only_counts { Subject::NONE } else { receiver::subject(&seen.receiver) }
}

fn reify_all<'a>(seen: &Seen<'a>, reify: &mut Reify<'a>) {
    for argument in seen.arguments() {
        reify.value(argument.name.get(), &Printed(argument));
    }
}

/// A value, as `Debug` prints it.
struct Printed<'v>(&'v Value<'v>);

impl fmt::Debug for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ran =
            with_patience(self.0.kind(), || if self.0.show(f) { Ok(()) } else { f.write_str("?") });
        written(f, ran)
    }
}

/// The state that a hook keeps of a call that was entered, and that is not [`Lean`].
enum Begun {
    /// It was only counted, in this row; null if it was not observed.
    Counted(*mut u8),
    Light(&'static mut LightCall),
    Call(&'static mut Call),
}

impl Begun {
    #[inline(always)]
    fn of(begun: *mut u8) -> Self {
        if begun.addr() & COUNTED != 0 {
            return Begun::Counted(begun.map_addr(|address| address & !(COUNTED | ANNOUNCED)));
        }
        // SAFETY: it is not counted, and callers have excluded lean calls. Only its guard has it.
        if let Some(call) = unsafe { LightCall::of(begun) } {
            return Begun::Light(call);
        }
        // SAFETY: without a mark it is a call that `call::put` made in a frame, which is still
        // there, and only its guard has it.
        Begun::Call(unsafe { &mut *begun.cast() })
    }
}

const _: () = assert!(align_of::<Call>() > COUNTED && Counter::ALIGN > COUNTED | ANNOUNCED);

fn exit(begun: *mut u8, outcome: Outcome) {
    match Begun::of(begun) {
        Begun::Call(call) => call.exit(outcome),
        Begun::Light(call) => call.exit(outcome),
        Begun::Counted(_) => {}
    }
}

fn finish(begun: *mut u8, outcome: Outcome) {
    match Lean::from_raw(begun) {
        Some(lean) => recorder::end_lean(lean, outcome),
        None => finish_other(begun, outcome),
    }
}

#[inline(never)]
pub(super) fn finish_other(begun: *mut u8, outcome: Outcome) {
    match Begun::of(begun) {
        Begun::Call(call) => call.finish_last(outcome),
        Begun::Light(call) => call.finish(outcome),
        Begun::Counted(row) => count_outcome(row, outcome),
    }
}

#[inline]
pub(in crate::hook) fn leave(begun: *mut u8) {
    if let Some(lean) = Lean::from_raw(begun) {
        // It is lean because its thread did not unwind when it began.
        let outcome = if std::thread::panicking() { Outcome::Panicked } else { lean.announced() };
        return recorder::end_lean(lean, outcome);
    }
    match Begun::of(begun) {
        Begun::Call(call) => call.leave_last(),
        Begun::Light(call) => call.leave(),
        // A call that begins while its thread unwinds is more than counted.
        Begun::Counted(row) if std::thread::panicking() => count_outcome(row, Outcome::Panicked),
        Begun::Counted(row) => {
            count_outcome(row, Outcome::from_bits((begun.addr() & ANNOUNCED) as u8 >> 1))
        }
    }
}

fn count_outcome(row: *mut u8, outcome: Outcome) {
    if !row.is_null() {
        // SAFETY: it was made of a row, and rows stay.
        recorder::count_outcome_in(unsafe { Counter::at(row) }, outcome);
    }
}

fn returned(begun: *mut u8, value: &Value<'_>) -> *mut u8 {
    let failed = value.failed();
    if let Some(lean) = Lean::from_raw(begun) {
        return if failed.is_some() {
            lean.announcing(outcome_of(failed)).into_raw()
        } else {
            begun
        };
    }
    let call = match Begun::of(begun) {
        Begun::Call(call) => call,
        Begun::Light(call) => {
            if failed.is_some() {
                call.exit(outcome_of(failed));
            }
            return begun;
        }
        Begun::Counted(_) => return begun,
    };
    if let Some(activation) = call.activation.take() {
        method_profilers::returned(activation, value, outcome_of(failed));
    }
    call.returns(&Printed(value));
    if failed.is_some() {
        call.exit(outcome_of(failed));
    }
    begun
}

fn outcome_of(failed: Option<bool>) -> Outcome {
    match failed {
        None => Outcome::Returned,
        Some(true) => Outcome::Failed,
        Some(false) => Outcome::Succeeded,
    }
}

fn key(value: *const u8, hash: fn(*const u8) -> u64) -> Option<u64> {
    // A function that hashes its subject, and is observed, would need the key of that subject, and
    // so on.
    if recorder::lane_level() > 0 { None } else { recorder::at_meta_level(|| hash(value)) }
}

extern "C" fn began(site: &'static Site) {
    if let Some(mut profiled) = ProfiledCall::begin(site, &Seen::new(Receiver::NONE, &[])) {
        profiled.end(Outcome::Returned, None);
    }
    hook::instant(site, Subject::NONE);
}

extern "C" fn entered(site: &'static Site, cells: &EntryCells) {
    count_beginning(site, cells, || Seen::new(Receiver::NONE, &[]));
}

extern "C" fn covered(site: &'static Site, cells: &EntryCells, object: &Object) {
    count_beginning(site, cells, || Seen::of_object(*object));
}

/// Counts a call whose end is not seen, and shows it to method profilers. These cells may count the
/// next one.
fn count_beginning(site: &'static Site, cells: &EntryCells, seen: impl FnOnce() -> Seen<'static>) {
    if !Config::of(site).is_profiled() {
        return call::count_entry(cells, site);
    }
    // Read before the profilers see the call: cells that settle then are valid as long as nothing
    // has changed since.
    let who = arm::settled();
    let seen = seen();
    let mut frame = Frame::vacant();
    // SAFETY: the call ends before its frame.
    let entered = begin(site, unsafe { &mut *std::ptr::from_mut(&mut frame) }, &seen);
    Guard::of(site, entered).done(Outcome::Returned);
    recorder::show_settled(site, cells, who, (seen.receiver.word, seen.kind));
}

extern "C" fn enter_context(
    site: &'static Site,
    cells: &EntryCells,
    word: &ContextWord,
) -> *mut () {
    let around = call::count_in_context(cells, word, site);
    around.map_or(null_mut(), |around| std::ptr::from_ref(around).cast_mut().cast())
}

extern "C" fn start(site: &'static Site, seen: &Seen<'_>) -> *mut u8 {
    let subject = subject(site, seen);
    let call = AsyncCall::profiled_by_hook(
        site,
        hook::show(site, subject, |reify| reify_all(seen, reify)),
    );
    let profiled = ProfiledCall::begin(site, seen);
    let of = Async {
        site,
        call,
        subject,
        profiled,
        is_done: false,
        records_return: None,
        failed: None,
        shown: None,
    };
    method_profilers::uncounted(|| Box::into_raw(Box::new(of)).cast())
}

fn poll(begun: *mut u8, once: PollOnce, data: *mut u8) {
    let of: *mut Async = begun.cast();
    // SAFETY: `start` made it, and only one thread polls it at a time. `once` reaches the fields
    // behind `call` by the same pointer, and never `call` itself.
    let (call, subject) = unsafe { (&mut (*of).call, (*of).subject) };
    let polled = || {
        let polling = Polling::begin(of);
        let is_done = once(data);
        polling.end(is_done);
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    };
    let _ = call.poll(|| subject, polled, |(), returned| outcome(of, returned));
}

/// The outcome of an async call. Its return value was recorded while it was polled.
fn outcome(of: *mut Async, returned: &mut Returned<'_>) -> Outcome {
    // SAFETY: as in `poll`.
    let (shown, failed) = unsafe { ((*of).shown.take(), (*of).failed) };
    if let Some(shown) = shown {
        returned.shown(shown);
    }
    outcome_of(failed)
}

/// A poll. If it is dropped before it ends, a panic left it. An unwinding thread does not prove
/// this, because a destructor may be polling.
struct Polling(*mut Async);

impl Polling {
    fn begin(of: *mut Async) -> Self {
        // SAFETY: as in `poll`.
        let (site, subject, records_return, profiled) =
            unsafe { ((*of).site, (*of).subject, &mut (*of).records_return, &mut (*of).profiled) };
        // The call in the log has just begun, if this is the first poll.
        records_return.get_or_insert_with(|| hook::wants_details(site, subject));
        if let Some(profiled) = profiled {
            profiled.resume();
        }
        Polling(of)
    }

    fn end(self, is_done: bool) {
        let of = ManuallyDrop::new(self).0;
        // SAFETY: as in `poll`.
        let (done, profiled) = unsafe { (&mut (*of).is_done, &mut (*of).profiled) };
        *done = is_done;
        if let Some(profiled) = profiled {
            profiled.suspend();
        }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        if let Some(profiled) = unsafe { &mut (*self.0).profiled } {
            profiled.end(Outcome::Panicked, None);
        }
    }
}

extern "C" fn returned_async(begun: *mut u8, value: &Value<'_>) {
    let of: *mut Async = begun.cast();
    // SAFETY: as in `poll`, which calls this function by way of `once`.
    let (profiled, records_return) = unsafe { (&mut (*of).profiled, (*of).records_return) };
    // SAFETY: as above.
    let (failed, shown) = unsafe { (&mut (*of).failed, &mut (*of).shown) };
    *failed = value.failed();
    if let Some(profiled) = profiled {
        profiled.end(outcome_of(*failed), Some(value));
    }
    if records_return == Some(true) {
        *shown = Some(hook::show_returned(&Printed(value)));
    }
}

extern "C" fn stop(begun: *mut u8) {
    // SAFETY: `start` made it of a box, and its handle is gone after this.
    let mut of = unsafe { Box::from_raw(begun.cast::<Async>()) };
    if let Some(profiled) = &mut of.profiled {
        profiled.end(if of.is_done { Outcome::Returned } else { Outcome::Cancelled }, None);
    }
}

extern "C" fn carried() -> u64 {
    causality::carried().to_bits()
}

extern "C" fn because(cause: u64, before: &mut CauseBefore) -> bool {
    let Some(event) = Carried::from_bits(cause).event() else { return false };
    *before = recorder::Current::name(event.raw()).into_raw();
    true
}

extern "C" fn no_longer(before: &CauseBefore) {
    // SAFETY: `because` made it on this thread, and a guard ends it once.
    drop(unsafe { recorder::Current::from_raw(before) });
}
