//! The guard of an observed call, and its begin.
//!
//! The common path of a begin calls nothing in its middle, because it would save registers each
//! time. Rare cases leave it in a tail call.

mod detailed;
mod end;

use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{Ordering, fence};

use metaspy_probe::{Cell, ContextWord, Counters, Entered, EntryCells, Frame};

use crate::arm::{ALL_SUBJECTS, Config, Mode, with_plan};
use crate::event::{EventId, Outcome};
use crate::hook::handler;
use crate::method_profilers::{self, Activation, Context};
use crate::recorder::{self, About, Begun, Lane};
use crate::site::Site;
use crate::subject::Subject;

pub(super) use detailed::count_or_enter_with_in;
use detailed::{begin_detailed, begin_profiled};
pub use detailed::{enter_with, enter_with_in};

/// A call that is being observed. Dropping it ends its event: *panicked* if a panic began since, else *returned*.
///
/// It belongs to the thread of the call: no guard lives across an await.
#[must_use = "dropping it ends the event"]
pub struct Call {
    begun: Begun,
    key: u64,
    site: Option<&'static Site>,
    /// Of the thread that it began on, which is also where it ends: the pointer keeps it from being sent.
    lane: *const Lane,
    /// The call as method profilers see it.
    pub(super) activation: Option<Activation>,
}

// A guard costs its frame at most these bytes, or deep recursions would overflow earlier.
const _: () = assert!(size_of::<Call>() <= 64);

// A call is made in its frame and never moved.
const _: () = assert!(size_of::<Call>() <= size_of::<Frame>() && align_of::<Call>() <= align_of::<Frame>());

/// Makes a call in its frame.
#[inline(always)]
pub(super) fn put(frame: &mut Frame, call: Call) -> Entered<'_> {
    // SAFETY: the frame has room for a call, and is borrowed as long as what was entered.
    let call = unsafe { &mut *std::ptr::from_mut(frame).cast::<MaybeUninit<Call>>() }.write(call);
    call.note_panic();
    // SAFETY: it is what `adapter` ends, and it is aligned, so it has no mark.
    unsafe { Entered::from_raw(std::ptr::from_mut(call).cast()) }
}

/// Begins a call at a site that is armed.
#[inline(always)]
pub fn enter(site: &'static Site, subject: Subject) -> Call {
    // The words of the site were stored before its arm word, which the caller has just read.
    fence(Ordering::Acquire);
    if !is_selected(site, subject) {
        return Call::inert();
    }
    begin(site, subject)
}

#[inline(never)]
fn begin(site: &'static Site, subject: Subject) -> Call {
    let config = Config(site.config.load(Relaxed));
    if config.is_simple() {
        let timed = config.is_full() || recorder::is_timed(recorder::here(), config.sample());
        return Call::new(site, subject, recorder::begin(config.site(), subject, timed));
    }
    uncommon(site, subject, config)
}

/// Tallies, and modes that depend on the subject.
#[inline(never)]
fn uncommon(site: &'static Site, subject: Subject, config: Config) -> Call {
    if config.is_tally() {
        return Call::new(site, subject, recorder::tally(config.site(), subject));
    }
    varied(site, subject, config)
}

#[inline(never)]
fn varied(site: &'static Site, subject: Subject, config: Config) -> Call {
    if config.looks_inside() && with_plan(site, |plan| plan.looks_inside(subject)).unwrap_or(false) {
        return begin_detailed(site, subject, config, |_| ());
    }
    let mode = if config.has_plan() { ask_plan(site, subject, config) } else { config.mode() };
    let begun = match mode {
        Mode::Tally => recorder::tally(config.site(), subject),
        Mode::Sampled => recorder::begin(config.site(), subject, recorder::is_timed(recorder::here(), config.sample())),
        Mode::Full => recorder::begin(config.site(), subject, true),
        Mode::Off => return Call::inert(),
    };
    Call::new(site, subject, begun)
}

/// The mode for a subject, if it depends on the plan.
#[inline(never)]
fn ask_plan(site: &'static Site, subject: Subject, config: Config) -> Mode {
    with_plan(site, |plan| plan.mode_of(subject)).unwrap_or(config.mode())
}

/// Counts a call about a subject whose key has a place in a bucket. `None`: it was not counted.
#[inline(always)]
pub fn count_in_bucket<'f>(cell: &Cell, site: &'static Site, subject: Subject) -> Option<Entered<'f>> {
    let row = recorder::count_in_bucket(cell, site.tally.load(Relaxed), subject)?;
    // SAFETY: it is what `adapter` ends; rows stay.
    Some(unsafe { Entered::from_raw(row.marked()) })
}

/// Counts a call at a site that only counts, if the thread did not count it by itself. `None`: it was not counted, and must
/// be entered.
pub fn count(site: &'static Site, subject: Subject) -> Option<Entered<'static>> {
    count_with(Counters::of_thread(), site, subject)
}

/// As [`count`]. Further calls that use these counters may be counted by their thread.
#[inline(always)]
pub(super) fn count_with(counters: *const Counters, site: &'static Site, subject: Subject) -> Option<Entered<'static>> {
    let tally = site.tally_row()?;
    // That its thread unwinds is remembered in the frame of a call.
    if std::thread::panicking() {
        return None;
    }
    let row = recorder::count_missed(site, tally, subject, counters)?;
    // SAFETY: it is what `adapter` ends; rows stay.
    Some(unsafe { Entered::from_raw(row.marked()) })
}

/// Counts a call whose end is not seen, if the thread did not count it by itself. These cells may count further calls.
pub(super) fn count_entry(cells: &EntryCells, site: &'static Site) {
    let is_counted = site.tally_row().is_some_and(|tally| recorder::count_entry(site, tally, cells));
    let config = Config(site.config.load(Relaxed));
    if !is_counted && config.is_tally() {
        recorder::tally(config.site(), Subject::NONE);
    }
}

/// As [`count_entry`], and once more in the context of the call. Returns the context that the thread goes back to; `None`: it
/// stays where it is.
pub(super) fn count_in_context(
    cells: &EntryCells,
    word: &ContextWord,
    site: &'static Site,
) -> Option<&'static Context> {
    // Before the tree, which is in a new recording before this word is.
    let who = site.tally.load(Ordering::Acquire);
    let lane = recorder::here();
    let is_at_work = lane.gate.is_busy();
    count_entry(cells, site);
    // What the profiler calls has no context, and neither has a call in a signal handler that interrupts a hook.
    if is_at_work || lane.level() != 0 {
        return None;
    }
    let number = site.id.load(Relaxed);
    method_profilers::alone_at(number)?.enter_at_hook(number, who, word)
}

/// As [`enter`], the call made in its frame, or in one word.
#[inline(always)]
pub fn enter_in<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    fence(Ordering::Acquire);
    match std::thread::panicking() {
        true => begin_in_frame(frame, site, subject),
        false => enter_event(frame, site, subject),
    }
}

/// True if the site's filter lets the subject through.
#[inline(always)]
fn is_selected(site: &'static Site, subject: Subject) -> bool {
    let filter = site.filter.load(Relaxed);
    filter == ALL_SUBJECTS || filter & subject.bit() != 0
}

/// As [`enter_in`], on a thread that does not unwind. Most often the call is an event, and nothing looks into it.
///
/// Every rare case leaves in a tail call, so that the common one saves no registers.
#[inline(never)]
fn enter_event<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    fence(Ordering::Acquire);
    let Some(lane) = recorder::near() else { return begin_in_frame(frame, site, subject) };
    let config = Config(site.config.load(Relaxed));
    match config.is_simple() {
        true if config.is_full() => begin_lean::<true>(frame, site, subject, lane, config),
        true if recorder::is_next_untimed(lane) => begin_lean::<false>(frame, site, subject, lane, config),
        true => begin_next_timed_on(frame, site, subject, lane),
        false => begin_uncommon(frame, site, subject),
    }
}

/// One function for timed and one for untimed calls: neither then saves registers for the other.
#[inline(always)]
fn begin_lean<'f, const TIMED: bool>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    lane: &Lane,
    config: Config,
) -> Entered<'f> {
    match recorder::begin_lean::<TIMED>(lane, config.site(), subject) {
        Some(lean) => Entered::lean(lean),
        None => begin_slowly(frame, site, subject, TIMED),
    }
}

/// The first call of a thread, or one in a destructor while a panic unwinds its thread: its frame remembers that.
#[cold]
#[inline(never)]
fn begin_in_frame<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    match config.is_simple() {
        true => put(frame, begin(site, subject)),
        false => begin_uncommon(frame, site, subject),
    }
}

/// A sampled call that is timed, on a thread that has a lane.
pub(super) fn begin_next_timed<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    begin_next_timed_on(frame, site, subject, recorder::here())
}

#[inline(never)]
fn begin_next_timed_on<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject, lane: &Lane) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    recorder::choose_timed(lane, config.sample());
    begin_lean::<true>(frame, site, subject, lane, config)
}

/// Takes a block, meets a new epoch, or reads a slower clock.
#[cold]
#[inline(never)]
pub(super) fn begin_slowly<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    timed: bool,
) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    put(frame, Call::made(site, subject, recorder::begin(config.site(), subject, timed), recorder::here()))
}

#[inline(never)]
fn begin_uncommon<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    if !is_selected(site, subject) {
        return Entered::NOTHING;
    }
    let config = Config(site.config.load(Relaxed));
    if config.is_profiled() {
        return begin_profiled(frame, site, subject, |_| ());
    }
    put(frame, uncommon(site, subject, config))
}

impl Call {
    /// Nothing to end: the call is not observed.
    #[inline(always)]
    pub const fn inert() -> Call {
        Call { begun: Begun::NOTHING, key: 0, site: None, lane: std::ptr::null(), activation: None }
    }

    #[inline(always)]
    fn new(site: &'static Site, subject: Subject, begun: Begun) -> Call {
        let mut call = Call::made(site, subject, begun, recorder::here());
        call.note_panic();
        call
    }

    #[inline(always)]
    fn made(site: &'static Site, subject: Subject, begun: Begun, lane: &Lane) -> Call {
        Call { begun, key: subject.key, site: Some(site), lane, activation: None }
    }

    /// Remembers a panic that was under way when the call began.
    #[inline(always)]
    fn note_panic(&mut self) {
        if std::thread::panicking() {
            self.begun.about.0 |= About::PANICKING;
        }
    }

    /// An early way out that is about to be taken: how the call will have ended.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        self.begun.about = self.begun.about.with_outcome(outcome);
    }

    /// Records the return value, if that is required.
    #[inline(always)]
    pub fn returns(&mut self, value: &dyn Debug) {
        if self.begun.about.is(About::LOOKED_INTO) {
            handler::returns(self.begun.id, value);
        }
    }

    /// Takes the call out of the guard. The caller ends it.
    pub(super) fn into_begun(self) -> Begun {
        let begun = self.begun;
        std::mem::forget(self);
        begun
    }

    /// True if it is an event, or was counted.
    pub(super) fn is_observed(&self) -> bool {
        self.begun.id != 0
    }

    /// The event, if the call has one.
    pub fn event(&self) -> Option<EventId> {
        self.begun.event()
    }
}
