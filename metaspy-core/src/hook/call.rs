//! The guard of an observed call.

use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{Ordering, fence};

use crate::arm::{Config, EVERYBODY, Mode, Plan};
use crate::event::{EventId, Outcome};
use crate::hook::Entered;
use crate::hook::details::{self, Reify};
use crate::hook::handler::{self, CallView};
use crate::recorder::{self, About, Begun, Lane};
use crate::site::Site;
use crate::subject::Subject;

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
}

// A guard costs its frame at most these bytes, or deep recursions would overflow earlier.
const _: () = assert!(size_of::<Call>() <= 56);

/// Room for a call under way: uninitialised, so that a call nobody looks at pays nothing for it.
///
/// A call is made in its frame and never moved, as the processor waits for a copy of what was just stored: 10 ns a
/// call. Dropping a frame does nothing; who entered ends the call.
pub struct Frame(MaybeUninit<Call>);

impl Frame {
    /// Room, and nothing in it.
    #[inline(always)]
    pub const fn vacant() -> Self {
        Frame(MaybeUninit::uninit())
    }

    #[inline(always)]
    fn put(&mut self, call: Call) -> Entered<'_> {
        let call = self.0.write(call);
        call.note_panic();
        Entered::call(call)
    }
}

/// Begins a call at a site that is armed.
#[inline(always)]
pub fn enter(site: &'static Site, subject: Subject) -> Call {
    // What the site says was stored before its arm word, which the caller has just seen.
    fence(Ordering::Acquire);
    let arm = site.arm.load(Relaxed);
    if arm != EVERYBODY && arm & subject.bit() == 0 {
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
    if config.looks_inside() && plan(site).is_some_and(|plan| plan.looks_inside(subject)) {
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

/// The mode for a subject, where the site's words do not say it.
#[inline(never)]
fn ask_plan(site: &'static Site, subject: Subject, config: Config) -> Mode {
    plan(site).map_or(config.mode(), |plan| plan.mode_of(subject))
}

/// Counts a call at a site that only counts, if its row is where it is looked for first. `None`: it was not counted,
/// and must be entered.
#[inline(always)]
pub fn count(site: &'static Site, subject: Subject) -> Option<Entered<'static>> {
    let tally = only_counts(site)?;
    recorder::count_near(recorder::here(), tally, subject).map(Entered::counted)
}

/// The row of a site that only counts.
#[inline(always)]
fn only_counts(site: &'static Site) -> Option<u64> {
    Some(site.tally.load(Relaxed)).filter(|tally| *tally != 0)
}

/// As [`enter`], the call made in its frame.
#[inline(always)]
pub fn enter_in<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    fence(Ordering::Acquire);
    let arm = site.arm.load(Relaxed);
    if arm != EVERYBODY && arm & subject.bit() == 0 {
        return Entered::nothing();
    }
    begin_in(frame, site, subject, recorder::here())
}

/// The lane is handed in: in a library, asking for it is a call.
#[inline(never)]
fn begin_in<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject, lane: &Lane) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    if config.is_simple() {
        let timed = config.is_full() || recorder::is_timed(lane, config.sample());
        let Some(begun) = recorder::begin_at_once(lane, config.site(), subject, timed) else {
            return begin_slowly(frame, site, subject, timed);
        };
        return frame.put(Call::made(site, subject, begun, lane));
    }
    begin_uncommon(frame, site, subject)
}

/// Takes a block, meets a new epoch, or reads a slower clock.
#[cold]
#[inline(never)]
fn begin_slowly<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject, timed: bool) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    frame.put(Call::made(site, subject, recorder::begin(config.site(), subject, timed), recorder::here()))
}

#[inline(never)]
fn begin_uncommon<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    if let Some(row) = only_counts(site).and_then(|tally| recorder::count_further(tally, subject)) {
        return Entered::counted(row);
    }
    frame.put(uncommon(site, subject, config))
}

/// As [`enter_with`], the call made in its frame.
#[inline(always)]
pub fn enter_with_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    if Config(site.config.load(Relaxed)).looks_inside() {
        return look_in(frame, site, subject, reify);
    }
    enter_in(frame, site, subject)
}

#[cold]
#[inline(never)]
fn look_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    frame.put(enter_with(site, subject, reify))
}

/// Begins a call whose arguments and receiver may be looked at: `reify` runs only if somebody asked for them.
#[inline(always)]
pub fn enter_with<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Call {
    fence(Ordering::Acquire);
    let arm = site.arm.load(Relaxed);
    if arm != EVERYBODY && arm & subject.bit() == 0 {
        return Call::inert();
    }
    let config = Config(site.config.load(Relaxed));
    if config.looks_inside() && plan(site).is_some_and(|plan| plan.looks_inside(subject)) {
        return begin_detailed(site, subject, config, reify);
    }
    begin(site, subject)
}

pub(super) fn plan(site: &'static Site) -> Option<&'static Plan> {
    // SAFETY: plans are leaked boxes: the pointer is null or valid for the rest of the process.
    unsafe { site.plan.load(Ordering::Acquire).as_ref() }
}

#[cold]
fn begin_detailed<'a>(
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Call {
    let Some(plan) = plan(site) else { return Call::inert() };
    if recorder::lane_level() > 0 {
        // What a handler or a `Debug` calls is not looked into in turn: it would never end.
        return Call::new(site, subject, recorder::begin(config.site(), subject, true));
    }
    let wishes = plan.wishes(subject);
    let mut reified = Reify::default();
    super::at_meta_level(|| reify(&mut reified));
    let details: &[u8] = if wishes.details { reified.bytes.as_slice() } else { &[] };
    let begun = recorder::begin_detailed(config.site(), subject, details);
    let mut call = Call::new(site, subject, begun);
    call.begun.about.0 |= About::LOOKED_INTO;
    let view = CallView {
        site,
        subject,
        cause: EventId::from_raw(begun.before),
        event: call.event(),
        // Only handlers look at them here.
        arguments: if wishes.handlers.is_empty() { Vec::new() } else { details::read(reified.bytes.as_slice()) },
        outcome: None,
        receiver: reified.receiver,
    };
    handler::before(&wishes.handlers, &view);
    handler::remember(begun.id, wishes, view);
    call
}

impl Call {
    /// Nobody looks: nothing to end.
    #[inline(always)]
    pub const fn inert() -> Call {
        Call { begun: Begun::NOTHING, key: 0, site: None, lane: std::ptr::null() }
    }

    #[inline(always)]
    fn new(site: &'static Site, subject: Subject, begun: Begun) -> Call {
        let mut call = Call::made(site, subject, begun, recorder::here());
        call.note_panic();
        call
    }

    #[inline(always)]
    fn made(site: &'static Site, subject: Subject, begun: Begun, lane: &Lane) -> Call {
        Call { begun, key: subject.key, site: Some(site), lane }
    }

    /// Remembers whether a panic was under way when it began.
    #[inline(always)]
    fn note_panic(&mut self) {
        if std::thread::panicking() {
            self.begun.about.0 |= About::PANICKING;
        }
    }

    /// The normal way out.
    #[inline(always)]
    pub fn done(mut self, outcome: Outcome) {
        self.finish(outcome);
        std::mem::forget(self);
    }

    /// The normal way out of a call that is not looked at again.
    #[inline(always)]
    pub(super) fn finish_last(&mut self, outcome: Outcome) {
        if self.begun.id != 0 {
            end(self, outcome);
        }
    }

    /// The normal way out of a call that stays where it is; dropping it afterwards does nothing.
    #[inline(always)]
    pub fn finish(&mut self, outcome: Outcome) {
        // A call that was only counted has nothing more to tell if it ended well.
        let told = self.begun.id == recorder::COUNTED && matches!(outcome, Outcome::Returned | Outcome::Succeeded);
        if self.begun.id != 0 && !told {
            end(self, outcome);
        }
        self.begun.id = 0;
    }

    /// As dropping it.
    #[inline(always)]
    pub fn leave(&mut self) {
        if self.begun.id != 0 {
            unsaid(self);
        }
        self.begun.id = 0;
    }

    /// An early way out that is about to be taken: how the call will have ended.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        self.begun.about = self.begun.about.with_outcome(outcome);
    }

    /// A return value, where somebody asked for it.
    #[inline(always)]
    pub fn returns(&mut self, value: &dyn Debug) {
        if self.begun.about.is(About::LOOKED_INTO) {
            handler::returns(self.begun.id, value);
        }
    }

    /// Takes the call out of the guard: who does this ends it.
    pub(super) fn into_begun(self) -> Begun {
        let begun = self.begun;
        std::mem::forget(self);
        begun
    }

    /// Whether it is an event, or was counted.
    pub(super) fn is_observed(&self) -> bool {
        self.begun.id != 0
    }

    /// The event, if the call has one.
    pub fn event(&self) -> Option<EventId> {
        self.begun.event()
    }
}

impl Drop for Call {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

/// Ends a call that did not say how: by `return`, by `?`, or by a panic that began since.
#[inline(never)]
fn unsaid(call: &mut Call) {
    let outcome = match call.begun.about.outcome() {
        _ if std::thread::panicking() && !call.begun.about.is(About::PANICKING) => Outcome::Panicked,
        Outcome::Running => Outcome::Returned,
        said => said,
    };
    end(call, outcome);
}

#[inline(never)]
fn end(call: &mut Call, outcome: Outcome) {
    let Some(site) = call.site else { return };
    if call.begun.about.is(About::LOOKED_INTO) {
        return end_looked_into(call, site, outcome);
    }
    // SAFETY: a call that began on a thread ends on it, and a thread's lane is there as long as the thread.
    let lane = unsafe { &*call.lane };
    recorder::end(lane, &call.begun, Config(site.config.load(Relaxed)).site(), call.key, outcome);
}

#[cold]
#[inline(never)]
fn end_looked_into(call: &mut Call, site: &'static Site, outcome: Outcome) {
    let wrote = handler::write_return(call.begun.id);
    recorder::end_marked(&call.begun, Config(site.config.load(Relaxed)).site(), call.key, outcome, wrote);
    handler::after(call.begun.id, outcome);
}
