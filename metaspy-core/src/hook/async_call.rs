//! An async call: one event from its first poll to its completion or drop, on whatever threads it
//! is polled.

use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use metaspy_probe::Seen;

use crate::arm::Config;
use crate::arm::with_plan;
use crate::clock;
use crate::event::Outcome;
use crate::format::slot::{self, Mark};
use crate::hook::details::{Reify, Returned, Shown};
use crate::hook::handler::{self, Open};
use crate::method_profilers::AsyncCall as ProfiledCall;
use crate::recorder::{self, Begun, Current, Lane};
use crate::site::Site;
use crate::subject::Subject;
use crate::subject::receiver;

/// Shows the arguments of an async call at a site that is armed, if they are required.
#[cold]
pub fn show<'a>(
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Shown {
    let config = Config::of(site);
    let is_required = config.looks_inside()
        && with_plan(site, |plan| plan.looks_inside(subject)).unwrap_or(false);
    // A call from a handler or a `Debug` is not looked into in turn: the recursion would never end.
    if is_required && recorder::lane_level() == 0 { Shown::of(reify) } else { Shown::NOTHING }
}

/// True if the return value of a call that begins now is recorded.
pub(crate) fn wants_details(site: &'static Site, subject: Subject) -> bool {
    let looks_inside = site.is_armed() && Config::of(site).looks_inside();
    looks_inside
        && recorder::lane_level() == 0
        && with_plan(site, |plan| plan.requirements(subject).details).unwrap_or(false)
}

/// One async call. It holds numbers and text, so no future loses `Send`, `Sync`, `Unpin` or
/// `UnwindSafe` by it. Dropped before it is done, the call was cancelled.
pub struct AsyncCall {
    site: &'static Site,
    subject: Subject,
    begun: Begun,
    polls: u64,
    busy: u64,
    started: bool,
    lanes: Lanes,
    /// True if it began outside of the polls of its cause.
    is_apart: bool,
    /// Its arguments, until it begins.
    shown: Shown,
    /// The view that handlers had of the call, for handlers that run after it.
    open: Option<Box<Open>>,
    profiled: Profiled,
}

/// An async call as method profilers see it.
enum Profiled {
    /// It has not begun, or they are not interested in it.
    No,
    /// Its hook reports it to them: they see arguments and return values.
    ByHook,
    /// It runs.
    Call(Box<ProfiledCall>),
}

impl AsyncCall {
    /// A call that has not been polled.
    pub const fn new(site: &'static Site) -> Self {
        AsyncCall::showing(site, Shown::NOTHING)
    }

    /// A call that has not been polled, whose arguments were shown before its future took them.
    pub const fn showing(site: &'static Site, shown: Shown) -> Self {
        let subject = Subject::NONE;
        let begun = Begun::NOTHING;
        let profiled = Profiled::No;
        AsyncCall {
            site,
            subject,
            begun,
            polls: 0,
            busy: 0,
            started: false,
            lanes: Lanes::NONE,
            is_apart: false,
            shown,
            open: None,
            profiled,
        }
    }

    /// As [`AsyncCall::showing`], of a hook that reports the call to method profilers itself.
    pub(super) fn profiled_by_hook(site: &'static Site, shown: Shown) -> Self {
        let mut call = AsyncCall::showing(site, shown);
        call.profiled = Profiled::ByHook;
        call
    }

    /// Polls the call once: its event is the current one during the poll, and not between polls.
    /// After the last poll, `outcome` gets the result of the call, and may show it.
    #[inline]
    pub fn poll<R>(
        &mut self,
        subject: impl FnOnce() -> Subject,
        poll: impl FnOnce() -> Poll<R>,
        outcome: impl FnOnce(&R, &mut Returned<'_>) -> Outcome,
    ) -> Poll<R> {
        if !self.started {
            self.started = true;
            if self.site.is_armed() {
                self.begin(subject());
            }
        }
        if self.begun.id == 0 && !self.is_profiled() {
            return poll();
        }
        self.observed(poll, outcome)
    }

    #[cold]
    fn begin(&mut self, subject: Subject) {
        if let Profiled::No = self.profiled
            && Config::of(self.site).is_profiled()
            && let Some(profiled) =
                ProfiledCall::begin(self.site, &Seen::new(receiver::of(subject), &[]))
        {
            self.profiled = Profiled::Call(Box::new(profiled));
        }
        let shown = std::mem::take(&mut self.shown);
        let call = super::enter_with(self.site, subject, |reify| reify.shown(&shown));
        self.subject = subject;
        self.begun = call.into_begun();
        self.open = handler::take(self.begun.id).map(Box::new);
        let lane = recorder::own_lane();
        self.is_apart =
            self.begun.before != 0 && lane.named_cause.load(Relaxed) == self.begun.before;
        self.lanes = Lanes::of_begin(lane);
        if self.begun.id < recorder::LOST && self.begun.id != 0 {
            // Between polls the thread is in whatever it was in before.
            recorder::swap_current(self.begun.before);
        }
    }

    fn observed<R>(
        &mut self,
        poll: impl FnOnce() -> Poll<R>,
        outcome: impl FnOnce(&R, &mut Returned<'_>) -> Outcome,
    ) -> Poll<R> {
        let has_event = self.begun.id != 0 && self.begun.id < recorder::LOST;
        let current = has_event.then(|| Current::enter_call(&self.begun));
        let from = clock::now();
        let lane = recorder::own_lane();
        if has_event
            && !self.lanes.know(lane)
            && lane.writes_log_of(self.begun.about)
            && recorder::mark_at(from, Mark::Polled, self.begun.id, [0, 0], &[]).is_some()
        {
            self.lanes.add(lane);
        }
        if let Profiled::Call(profiled) = &mut self.profiled {
            profiled.resume();
        }
        let answer = catch_unwind(AssertUnwindSafe(poll));
        if let (Profiled::Call(profiled), Ok(_)) = (&mut self.profiled, &answer) {
            profiled.suspend();
        }
        self.busy += clock::now().saturating_sub(from);
        self.polls += 1;
        drop(current);
        match answer {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => {
                let mut returned = Returned::of(self.open.as_deref_mut());
                let outcome = outcome(&value, &mut returned);
                self.end(outcome);
                Poll::Ready(value)
            }
            Err(panic) => {
                self.end(Outcome::Panicked);
                resume_unwind(panic)
            }
        }
    }

    fn is_profiled(&self) -> bool {
        matches!(self.profiled, Profiled::Call(_))
    }

    fn end(&mut self, outcome: Outcome) {
        if let Profiled::Call(mut profiled) = std::mem::replace(&mut self.profiled, Profiled::No) {
            profiled.end(outcome, None);
        }
        let begun = std::mem::replace(&mut self.begun, Begun::NOTHING);
        if begun.id == 0 {
            return;
        }
        let site = Config::of(self.site).site();
        if begun.id >= recorder::LOST {
            recorder::end(recorder::own_lane(), &begun, site, self.subject.key, outcome);
        } else {
            let now = clock::now();
            let polls = slot::polls(self.polls, self.is_apart);
            let mut marked = false;
            // In another recording the same number is another event.
            if recorder::own_lane().writes_log_of(begun.about) {
                let words = [self.busy, polls];
                marked = recorder::mark_at(now, Mark::Polls, begun.id, words, &[]).is_some();
                marked |= self.open.as_ref().is_some_and(|open| open.write_return(now));
            }
            recorder::end_apart(
                recorder::own_lane(),
                now,
                &begun,
                site,
                self.subject.key,
                outcome,
                marked,
            );
        }
        if let Some(open) = self.open.take() {
            handler::finish(*open, outcome);
        }
    }
}

/// The lanes that a call was polled in, by their numbers: the one in which it began, and the last
/// few others. What a call causes in a lane is found inside its polls if that lane has a mark.
struct Lanes {
    first: u16,
    others: [u16; LANES],
    /// The place of the next other one.
    next: u8,
}

/// Other lanes that a call remembers. One that comes back later is marked again.
const LANES: usize = 6;

impl Lanes {
    const NONE: Self = Lanes { first: 0, others: [0; LANES], next: 0 };

    fn of_begin(lane: &Lane) -> Self {
        Lanes { first: number_of(lane), ..Lanes::NONE }
    }

    /// True if the call was polled in this lane before.
    fn know(&self, lane: &Lane) -> bool {
        let lane = number_of(lane);
        self.first == lane || self.others.contains(&lane)
    }

    fn add(&mut self, lane: &Lane) {
        self.others[usize::from(self.next)] = number_of(lane);
        self.next = (self.next + 1) % LANES as u8;
    }
}

/// The number of a lane; 0 = it has none.
fn number_of(lane: &Lane) -> u16 {
    lane.row.load(Relaxed) as u16
}

impl Drop for AsyncCall {
    fn drop(&mut self) {
        if self.begun.id != 0 || self.is_profiled() {
            let panicking = std::thread::panicking();
            self.end(if panicking && self.polls == 0 {
                Outcome::Panicked
            } else {
                Outcome::Cancelled
            });
        }
    }
}

// The code that runs after a panic reads text and calls handlers, each of which catches its own
// panics.
impl UnwindSafe for AsyncCall {}
impl RefUnwindSafe for AsyncCall {}

const _: () = {
    const fn stays_everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    stays_everywhere::<AsyncCall>();
};
