//! The guard of an observed call, and its begin.
//!
//! The common path of a begin calls nothing in its middle, because it would save registers each
//! time. Rare cases leave it in a tail call.

mod detailed;
mod end;
mod path;

use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{Ordering, fence};

use metaspy_probe::{Cell, ContextWord, Counters, Entered, EntryCells, Frame, Seen};

use crate::arm::{ALL_SUBJECTS, Config};
use crate::event::{EventId, Outcome};
use crate::hook::details::Reify;
use crate::hook::handler;
use crate::hook::light_call;
use crate::method_profilers::{self, Activation, Context};
use crate::recorder::{self, About, Begun, Lane};
use crate::site::Site;
use crate::subject::{Subject, receiver};

use detailed::begin_detailed;
use path::Path;

/// A call that is being observed. Dropping it ends its event: *panicked* if a panic began since,
/// else *returned*.
///
/// It belongs to the thread of the call: no guard lives across an await.
#[must_use = "dropping it ends the event"]
pub struct Call {
    begun: Begun,
    key: u64,
    site: Option<&'static Site>,
    /// Of the thread that it began on, which is also where it ends: the pointer keeps it from being
    /// sent.
    lane: *const Lane,
    /// The call as method profilers see it.
    pub(super) activation: Option<Activation>,
}

// A guard costs its frame at most these bytes, or deep recursions would overflow earlier.
const _: () = assert!(size_of::<Call>() <= 64);

// A call is made in its frame and never moved.
const _: () =
    assert!(size_of::<Call>() <= size_of::<Frame>() && align_of::<Call>() <= align_of::<Frame>());

/// Makes a call in its frame.
#[inline(always)]
pub(super) fn put(frame: &mut Frame, call: Call) -> Entered<'_> {
    // SAFETY: the frame has room for a call, and is borrowed as long as the entered call.
    let call = unsafe { &mut *std::ptr::from_mut(frame).cast::<MaybeUninit<Call>>() }.write(call);
    call.note_panic();
    // SAFETY: `adapter` ends the call by this pointer, which is aligned, so it has no mark.
    unsafe { Entered::from_raw(std::ptr::from_mut(call).cast()) }
}

/// Begins a call at a site that is armed.
#[inline(always)]
pub fn enter(site: &'static Site, subject: Subject) -> Call {
    enter_with(site, subject, |_| ())
}

/// Begins a call whose arguments and receiver may be recorded: `reify` runs only if they are
/// required.
#[inline(always)]
pub fn enter_with<'a>(
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Call {
    // The words of the site were stored before its arm word, which the caller has just read.
    fence(Ordering::Acquire);
    if is_selected(site, subject) {
        record(site, subject, Config::of(site), reify)
    } else {
        Call::inert()
    }
}

/// As [`enter`], the call made in its frame, or in one word.
#[inline(always)]
pub fn enter_in<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    enter_with_in(frame, site, subject, |_| ())
}

/// As [`enter_with`], the call made in its frame, or in one word.
#[inline(always)]
pub fn enter_with_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    fence(Ordering::Acquire);
    let config = Config::of(site);
    // That its thread unwinds is remembered in the frame of a call.
    if config.is_simple() && !std::thread::panicking() {
        enter_event(frame, site, subject, config)
    } else {
        begin(frame, site, subject, config, reify)
    }
}

/// True if the site's filter lets the subject through.
#[inline(always)]
pub(super) fn is_selected(site: &Site, subject: Subject) -> bool {
    let filter = site.filter.load(Relaxed);
    filter == ALL_SUBJECTS || filter & subject.bit() != 0
}

/// Begins an event in one word, as most calls are. Every rare case leaves in a tail call, so that
/// the common one saves no registers.
#[inline(never)]
fn enter_event<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    config: Config,
) -> Entered<'f> {
    let Some(lane) = recorder::joined_lane() else {
        return begin(frame, site, subject, config, |_| ());
    };
    if config.is_full() {
        begin_lean::<true>(frame, site, subject, lane, config)
    } else if recorder::is_next_untimed(lane) {
        begin_lean::<false>(frame, site, subject, lane, config)
    } else {
        begin_next_timed(frame, site, subject)
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

/// A sampled call that is timed, on a thread that has a lane.
#[inline(never)]
pub(super) fn begin_next_timed<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
) -> Entered<'f> {
    let lane = recorder::own_lane();
    let config = Config::of(site);
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
    let begun = recorder::begin(Config::of(site).site(), subject, timed);
    put(frame, Call::made(site, subject, begun, recorder::own_lane()))
}

/// Begins a call in its frame, on any path.
#[inline(never)]
fn begin<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    if !is_selected(site, subject) {
        return Entered::NOTHING;
    }
    if config.is_profiled() {
        let mut seen = Seen::new(receiver::of(subject), &[]);
        seen.kind = subject.kind.0.into();
        return begin_profiled(frame, site, &seen, || subject, reify);
    }
    put(frame, record(site, subject, config, reify))
}

/// Begins a call that method profilers see.
#[cold]
#[inline(never)]
pub(super) fn begin_profiled<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    seen: &Seen<'_>,
    subject: impl FnOnce() -> Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    let frame = match light_call::enter(frame, site, seen) {
        Ok(entered) => return entered,
        Err(frame) => frame,
    };
    let activation = method_profilers::enter(site, seen);
    let mut call = enter_with(site, subject(), reify);
    call.activation = activation;
    put(frame, call)
}

/// Records a call on a selected subject.
#[inline(never)]
fn record<'a>(
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Call {
    let begun = match Path::of(site, subject, config) {
        Path::Off => return Call::inert(),
        Path::Count => recorder::tally(config.site(), subject),
        Path::Event { timed } => recorder::begin(config.site(), subject, timed),
        Path::Detailed => return begin_detailed(site, subject, config, reify),
    };
    Call::new(site, subject, begun)
}

/// Counts a call about a subject whose key has a place in a bucket. `None`: it was not counted.
#[inline(always)]
pub fn count_in_bucket<'f>(
    cell: &Cell,
    site: &'static Site,
    subject: Subject,
) -> Option<Entered<'f>> {
    let row = recorder::count_in_bucket(cell, site.tally.load(Relaxed), subject)?;
    // SAFETY: `adapter` ends the call by this pointer; rows stay.
    Some(unsafe { Entered::from_raw(row.marked()) })
}

/// Counts a call at a site that only counts, if the thread did not count it by itself. `None`: it
/// was not counted, and must be entered.
#[inline(always)]
pub fn count(site: &'static Site, subject: Subject) -> Option<Entered<'static>> {
    site.tally_row().and_then(|tally| count_in(Counters::of_thread(), site, tally, subject))
}

/// As [`count`]. Further calls that use these counters may be counted by their thread.
#[inline(never)]
pub(super) fn count_in(
    counters: *const Counters,
    site: &'static Site,
    tally: u64,
    subject: Subject,
) -> Option<Entered<'static>> {
    // That its thread unwinds is remembered in the frame of a call.
    if std::thread::panicking() {
        return None;
    }
    let row = recorder::count_missed(site, tally, subject, counters)?;
    // SAFETY: `adapter` ends the call by this pointer; rows stay.
    Some(unsafe { Entered::from_raw(row.marked()) })
}

/// Counts a call whose end is not seen, if the thread did not count it by itself. These cells may
/// count further calls.
pub(super) fn count_entry(cells: &EntryCells, site: &'static Site) {
    let is_counted =
        site.tally_row().is_some_and(|tally| recorder::count_entry(site, tally, cells));
    let config = Config::of(site);
    if !is_counted && config.is_tally() {
        recorder::tally(config.site(), Subject::NONE);
    }
}

/// As [`count_entry`], and once more in the context of the call. Returns the context that the
/// thread goes back to; `None`: it stays where it is.
pub(super) fn count_in_context(
    cells: &EntryCells,
    word: &ContextWord,
    site: &'static Site,
) -> Option<&'static Context> {
    // Before the tree, which is in a new recording before this word is.
    let who = site.tally.load(Ordering::Acquire);
    let lane = recorder::own_lane();
    let is_at_work = lane.gate.is_busy();
    count_entry(cells, site);
    // Calls of the profiler have no context, and neither has a call in a signal handler that
    // interrupts a hook.
    if is_at_work || lane.level() != 0 {
        return None;
    }
    let number = site.id.load(Relaxed);
    method_profilers::alone_at(number)?.enter_at_hook(number, who, word)
}

impl Call {
    /// Nothing to end: the call is not observed.
    #[inline(always)]
    pub const fn inert() -> Call {
        Call { begun: Begun::NOTHING, key: 0, site: None, lane: std::ptr::null(), activation: None }
    }

    #[inline(always)]
    fn new(site: &'static Site, subject: Subject, begun: Begun) -> Call {
        let mut call = Call::made(site, subject, begun, recorder::own_lane());
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
