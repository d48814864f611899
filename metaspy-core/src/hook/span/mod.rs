//! A span: one event from its creation to its close, entered and left in between, on whatever threads.

mod late;
mod stays;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

use crate::arm::Config;
use crate::clock;
use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::details::Reify;
use crate::hook::handler;
use crate::log::{self, About, Begun, Current};
use crate::site::Site;
use crate::subject::Subject;
use late::Later;

/// What caused an event, as far as whoever begins it knows.
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
    let _current = Current::enter(event);
    begin()
}

/// One span, or room for one. While it lasts it may be entered and left on any number of threads, again and again, and
/// out of order; the event of a thread is that of the span it entered last.
///
/// Words only, so that a span costs no allocation where its room is used again: `begin` may follow `end`. Whoever holds
/// it orders the two.
#[derive(Default)]
pub struct SpanCall {
    /// The event, as in [`Begun`]; 0 = nothing began.
    id: AtomicU64,
    start: AtomicU64,
    about: AtomicU64,
    key: AtomicU64,
    busy: AtomicU64,
    entered: AtomicU64,
    site: AtomicU32,
    /// An outcome that was said; *running* = none.
    said: AtomicU8,
    /// A panic left it last.
    unwound: AtomicBool,
    /// Its thread, by its lane.
    lane: AtomicUsize,
    later: Later,
}

impl SpanCall {
    /// Room for a span.
    pub const fn vacant() -> Self {
        SpanCall {
            id: AtomicU64::new(0),
            start: AtomicU64::new(0),
            about: AtomicU64::new(0),
            key: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            entered: AtomicU64::new(0),
            site: AtomicU32::new(0),
            said: AtomicU8::new(0),
            unwound: AtomicBool::new(false),
            lane: AtomicUsize::new(0),
            later: Later::nothing(),
        }
    }

    /// Begins a span at a site that is armed. The thread stays in the event that it is in.
    #[inline]
    pub fn begin<'a>(&self, site: &'static Site, subject: Subject, cause: Cause, reify: impl FnOnce(&mut Reify<'a>)) {
        let begun = cause.of(|| {
            let begun = super::enter_with(site, subject, reify).into_begun();
            if has_event(begun.id) {
                log::swap_current(begun.before);
            }
            begun
        });
        self.key.store(subject.key, Relaxed);
        self.site.store(Config(site.config.load(Relaxed)).site(), Relaxed);
        self.start.store(begun.start, Relaxed);
        self.about.store(begun.about.0, Relaxed);
        self.busy.store(0, Relaxed);
        self.entered.store(0, Relaxed);
        self.said.store(Outcome::Running as u8, Relaxed);
        self.unwound.store(false, Relaxed);
        self.lane.store(here(), Relaxed);
        if begun.about.is(About::LOOKED_INTO) {
            self.later.open(handler::take(begun.id));
        }
        self.id.store(begun.id, Relaxed);
    }

    /// The event, if the span has one.
    #[inline]
    pub fn event(&self) -> Option<EventId> {
        EventId::from_raw(self.id.load(Relaxed)).filter(|id| has_event(id.raw()))
    }

    /// This thread goes into the span.
    #[inline]
    pub fn enter(&self) {
        let id = self.id.load(Relaxed);
        if id != 0 {
            let about = About(self.about.load(Relaxed));
            stays::enter(id, about);
            // Entered on several threads at once, none may be forgotten.
            self.entered.fetch_add(1, Relaxed);
        }
    }

    /// This thread comes out of it, and is where it was before; if it went further in since, it stays there.
    #[inline]
    pub fn leave(&self) {
        let id = self.id.load(Relaxed);
        if id == 0 {
            return;
        }
        if let Some(stay) = stays::leave(id) {
            if stay.busy != 0 {
                self.busy.fetch_add(stay.busy, Relaxed);
            }
            if stay.unwound != self.unwound.load(Relaxed) {
                self.unwound.store(stay.unwound, Relaxed);
            }
        }
    }

    /// Arguments that became known since it began, where somebody asked for them.
    pub fn record<'a>(&self, reify: impl FnOnce(&mut Reify<'a>)) {
        if self.is_looked_into() {
            self.later.arguments(reify);
        }
    }

    /// What it returns, where somebody asked for that.
    pub fn returns(&self, value: &dyn std::fmt::Debug) {
        if self.is_looked_into() {
            self.later.returns(value);
        }
    }

    /// How it will have ended.
    pub fn exit(&self, outcome: Outcome) {
        self.said.store(outcome as u8, Relaxed);
    }

    /// A further reason of it.
    pub fn follows(&self, cause: EventId) {
        let Some(event) = self.event() else { return };
        crate::link(event, cause);
        // Links are looked for where an event's thread was. What another thread says is said once more at the end.
        if self.lane.load(Relaxed) != here() {
            self.later.follows(cause);
        }
    }

    /// The span is closed, on whichever thread.
    pub fn end(&self) {
        let id = self.id.swap(0, Relaxed);
        if id == 0 {
            return;
        }
        let about = About(self.about.load(Relaxed));
        let begun = Begun { id, before: 0, start: self.start.load(Relaxed), about };
        let (site, key) = (self.site.load(Relaxed), self.key.load(Relaxed));
        let outcome = self.outcome();
        let told = self.later.take();
        if has_event(id) {
            if log::current_event() == id {
                // The guard that was to leave it was forgotten.
                stays::leave(id);
            }
            let ended = if about.timed() { clock::now() } else { 0 };
            let entered = self.entered.load(Relaxed);
            let mut marked = entered != 0;
            if marked {
                marked = log::mark_at(ended, Mark::Polls, id, [self.busy.load(Relaxed), entered], &[]).is_some();
            }
            marked |= told.as_ref().is_some_and(|told| told.write(id));
            // Whoever ends an event is in it.
            let before = log::swap_current(id);
            log::end_marked_at(ended, &Begun { before, ..begun }, site, key, outcome, marked);
        } else {
            log::end(log::here(), &begun, site, key, outcome);
        }
        if let Some(told) = told {
            told.finish(outcome);
        }
    }

    fn outcome(&self) -> Outcome {
        match Outcome::from_bits(self.said.load(Relaxed)) {
            _ if self.unwound.load(Relaxed) => Outcome::Panicked,
            Outcome::Running => Outcome::Returned,
            said => said,
        }
    }

    fn is_looked_into(&self) -> bool {
        // What a handler or a `Debug` says is not looked into in turn: it would never end.
        self.id.load(Relaxed) != 0 && About(self.about.load(Relaxed)).is(About::LOOKED_INTO) && log::lane_level() == 0
    }
}

impl std::fmt::Debug for SpanCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpanCall").field("event", &self.event()).finish_non_exhaustive()
    }
}

fn has_event(id: u64) -> bool {
    id != 0 && id < log::LOST
}

/// A number for this thread, as long as it runs.
fn here() -> usize {
    std::ptr::from_ref(log::here()).addr()
}
