//! A span: one event from its creation to its close, entered and left in between, on whatever
//! threads.
//!
//! A span's idle time is measured at creation, entry, exit and close. An early entry does not count
//! as the creation, because people look for the wait of a future before its first poll.
//!
//! A span that was entered once, for all of its time, has no mark of polls. This is the usual case,
//! and a mark for each doubled the size of a span in the log.

mod deferred_fields;
mod entered;

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence};

use crate::arm::{ALL_SUBJECTS, Config};
use crate::clock;
use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::details::Reify;
use crate::hook::handler;
use crate::recorder::{self, About, Begun, Current, Lane};
use crate::site::Site;
use crate::subject::Subject;
use deferred_fields::DeferredFields;

/// The cause of an event, as far as it is known when the event begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Whatever the thread is in.
    #[default]
    Around,
    /// This event.
    Named(EventId),
    /// Nothing: it is a root.
    Nothing,
}

impl Cause {
    /// Begins something that has this cause.
    #[inline]
    pub fn of<R>(self, begin: impl FnOnce() -> R) -> R {
        match self {
            Cause::Around => begin(),
            Cause::Named(cause) => within(cause.raw(), begin),
            Cause::Nothing => within(0, begin),
        }
    }
}

#[cold]
fn within<R>(event: u64, begin: impl FnOnce() -> R) -> R {
    let _current = Current::name(event);
    begin()
}

/// Ticks of idle time below which a span that a thread entered once has no mark of its idle time: a
/// mark would double the size of the span. 2,048 ticks are about a microsecond.
const IDLE_MIN: u64 = 2048;

/// One span, or room for one. While it lasts it may be entered and left on any number of threads,
/// again and again, and out of order. The current event of a thread is the span that it entered
/// last.
///
/// Words only, so that a span costs no allocation where its room is used again: `begin` may follow
/// `end`. The owner orders the two.
#[derive(Default)]
pub struct SpanCall {
    /// The event, as in [`Begun`]; 0 = nothing began.
    id: AtomicU64,
    start: AtomicU64,
    about: AtomicU64,
    key: AtomicU64,
    /// Of the thread that it began on, and of all others: the first is written by one thread only,
    /// which spares it the bus lock.
    here: Within,
    elsewhere: Within,
    site: AtomicU32,
    /// The outcome that was announced; *running* = none.
    outcome: AtomicU8,
    /// A panic left it last.
    unwound: AtomicBool,
    /// Its thread, by its lane.
    lane: AtomicUsize,
    deferred: DeferredFields,
}

impl SpanCall {
    /// Room for a span.
    pub const fn vacant() -> Self {
        SpanCall {
            id: AtomicU64::new(0),
            start: AtomicU64::new(0),
            about: AtomicU64::new(0),
            key: AtomicU64::new(0),
            here: Within::nothing(),
            elsewhere: Within::nothing(),
            site: AtomicU32::new(0),
            outcome: AtomicU8::new(0),
            unwound: AtomicBool::new(false),
            lane: AtomicUsize::new(0),
            deferred: DeferredFields::nothing(),
        }
    }

    /// Begins a span at a site that is armed. The thread stays in the event that it is in.
    #[inline]
    pub fn begin<'a>(
        &self,
        site: &'static Site,
        subject: Subject,
        cause: Cause,
        reify: impl FnOnce(&mut Reify<'a>),
    ) {
        if cause != Cause::Around || !self.begin_at_once(site, subject) {
            let begun = cause.of(|| {
                let begun = super::enter_with(site, subject, reify).into_begun();
                if has_event(begun.id) {
                    recorder::swap_current(begun.before);
                }
                begun
            });
            self.begun(recorder::own_lane(), site, subject, &begun);
        }
    }

    /// Begins a span in the common cases: an event, or a call to count, for any subject. Returns
    /// false in the other cases.
    ///
    /// Not inlined: in another crate, to get the lane is a call.
    #[inline(never)]
    fn begin_at_once(&self, site: &'static Site, subject: Subject) -> bool {
        // The words of the site were stored before its arm word, which the caller has just read.
        fence(Acquire);
        if site.filter.load(Relaxed) != ALL_SUBJECTS {
            return false;
        }
        let lane = recorder::own_lane();
        let config = Config::of(site);
        let begun = if config.is_simple() {
            let timed = config.is_full() || recorder::is_timed(lane, config.sample());
            recorder::begin_at_once(lane, config.site(), subject, timed)
        } else {
            site.tally_row().and_then(|tally| recorder::count_at_once(lane, tally, subject))
        };
        let Some(mut begun) = begun else { return false };
        if has_event(begun.id) {
            lane.current.store(begun.before, Relaxed);
        }
        if std::thread::panicking() {
            begun.about.0 |= About::PANICKING;
        }
        self.begun(lane, site, subject, &begun);
        true
    }

    #[inline]
    fn begun(&self, lane: &Lane, site: &'static Site, subject: Subject, begun: &Begun) {
        self.key.store(subject.key, Relaxed);
        self.site.store(Config::of(site).site(), Relaxed);
        self.start.store(begun.start, Relaxed);
        self.about.store(begun.about.0, Relaxed);
        self.here.forget();
        self.elsewhere.forget();
        self.outcome.store(Outcome::Running as u8, Relaxed);
        self.unwound.store(false, Relaxed);
        self.lane.store(std::ptr::from_ref(lane).addr(), Relaxed);
        if begun.about.is(About::LOOKED_INTO) {
            self.deferred.open(handler::take(begun.id));
        }
        self.id.store(begun.id, Relaxed);
    }

    /// The event, if the span has one.
    #[inline]
    pub fn event(&self) -> Option<EventId> {
        EventId::from_raw(self.id.load(Relaxed)).filter(|id| has_event(id.raw()))
    }

    /// This thread goes into the span.
    pub fn enter(&self) {
        let id = self.id.load(Relaxed);
        if has_event(id) {
            entered::enter(recorder::own_lane(), id, About(self.about.load(Relaxed)));
        }
    }

    /// This thread comes out of it, and is where it was before; if it went further in since, it
    /// stays there.
    pub fn leave(&self) {
        let id = self.id.load(Relaxed);
        let unwound = if has_event(id) {
            let lane = recorder::own_lane();
            let Some(stay) = entered::leave(lane, id, About(self.about.load(Relaxed))) else {
                return;
            };
            if self.lane.load(Relaxed) == std::ptr::from_ref(lane).addr() {
                self.here.add(stay.busy);
            } else {
                self.elsewhere.add_shared(stay.busy);
            }
            stay.unwound
        } else {
            std::thread::panicking() && !About(self.about.load(Relaxed)).is(About::PANICKING)
        };
        if unwound != self.unwound.load(Relaxed) {
            self.unwound.store(unwound, Relaxed);
        }
    }

    /// Records arguments that became known since it began, if they are required.
    pub fn record<'a>(&self, reify: impl FnOnce(&mut Reify<'a>)) {
        if self.is_looked_into() {
            self.deferred.arguments(reify);
        }
    }

    /// Records the return value, if that is required.
    pub fn returns(&self, value: &dyn std::fmt::Debug) {
        if self.is_looked_into() {
            self.deferred.returns(value);
        }
    }

    /// Announces the outcome.
    pub fn exit(&self, outcome: Outcome) {
        self.outcome.store(outcome as u8, Relaxed);
    }

    /// Records a further reason.
    pub fn follows(&self, cause: EventId) {
        let Some(event) = self.event() else { return };
        crate::link(event, cause);
        // A reader finds links on the event's own thread. A link from another thread is written
        // once more at the end.
        if self.lane.load(Relaxed) != std::ptr::from_ref(recorder::own_lane()).addr() {
            self.deferred.follows(cause);
        }
    }

    /// The span is closed, on whichever thread.
    pub fn end(&self) {
        self.end_marked(false);
    }

    /// As [`SpanCall::end`], for an async call: how often it was entered is always stated.
    pub fn end_polled(&self) {
        self.end_marked(true);
    }

    #[inline(always)]
    fn end_marked(&self, is_polled: bool) {
        let id = self.id.load(Relaxed);
        if id == 0 {
            return;
        }
        self.id.store(0, Relaxed);
        let about = About(self.about.load(Relaxed));
        let begun = Begun { id, before: 0, start: self.start.load(Relaxed), about };
        let site = self.site.load(Relaxed);
        let key = self.key.load(Relaxed);
        let outcome = self.outcome();
        let fields = self.deferred.take();
        if has_event(id) {
            let lane = recorder::own_lane();
            if recorder::current_event() == id && lane.is_in_log_of(about) {
                // The guard that was to leave it was forgotten.
                entered::leave(lane, id, about);
            }
            let ended = if about.timed() { clock::now() } else { 0 };
            let (busy, entered) = self.here.with(&self.elsewhere);
            let idle = ended.saturating_sub(begun.start).saturating_sub(busy);
            let is_needed = is_polled || entered != 1 || idle >= IDLE_MIN || fields.is_some();
            // In another recording the same number is another event.
            let marked = is_needed && lane.writes_log_of(about);
            if marked {
                let now = if ended != 0 { ended } else { clock::now() };
                // One that finds no room is counted, and that it is missing can be seen.
                recorder::mark_at(now, Mark::Polls, id, [busy, entered], &[]);
                fields.iter().for_each(|fields| fields.write(now, id));
            }
            recorder::end_apart(lane, ended, &begun, site, key, outcome, marked);
        } else {
            recorder::end(recorder::own_lane(), &begun, site, key, outcome);
        }
        if let Some(fields) = fields {
            fields.finish(outcome);
        }
    }

    fn outcome(&self) -> Outcome {
        match Outcome::from_bits(self.outcome.load(Relaxed)) {
            _ if self.unwound.load(Relaxed) => Outcome::Panicked,
            Outcome::Running => Outcome::Returned,
            outcome => outcome,
        }
    }

    fn is_looked_into(&self) -> bool {
        // A handler or a `Debug` is not looked into in turn: that would never end.
        self.id.load(Relaxed) != 0
            && About(self.about.load(Relaxed)).is(About::LOOKED_INTO)
            && recorder::lane_level() == 0
    }
}

impl std::fmt::Debug for SpanCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpanCall").field("event", &self.event()).finish_non_exhaustive()
    }
}

fn has_event(id: u64) -> bool {
    id != 0 && id < recorder::LOST
}

/// How long, and how often, threads were in a span.
#[derive(Default)]
struct Within {
    busy: AtomicU64,
    entered: AtomicU64,
}

impl Within {
    const fn nothing() -> Self {
        Within { busy: AtomicU64::new(0), entered: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn forget(&self) {
        self.busy.store(0, Relaxed);
        self.entered.store(0, Relaxed);
    }

    /// Adds one stay, on the thread that began the span.
    #[inline(always)]
    fn add(&self, busy: u64) {
        self.busy.store(self.busy.load(Relaxed) + busy, Relaxed);
        self.entered.store(self.entered.load(Relaxed) + 1, Relaxed);
    }

    /// Adds one stay, on any other thread.
    #[cold]
    fn add_shared(&self, busy: u64) {
        self.busy.fetch_add(busy, Relaxed);
        self.entered.fetch_add(1, Relaxed);
    }

    #[inline(always)]
    fn with(&self, other: &Within) -> (u64, u64) {
        let sum = |mine: &AtomicU64, theirs: &AtomicU64| mine.load(Relaxed) + theirs.load(Relaxed);
        (sum(&self.busy, &other.busy), sum(&self.entered, &other.entered))
    }
}
