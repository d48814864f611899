//! An event that is no thread's current one: a lock that is held, a connection that is open.
//!
//! A held lock does not nest in the thread as a call does. Locks are released in any order and on
//! other threads, and all work that is done meanwhile would appear as an effect of the lock.

use std::fmt::{self, Debug};
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::arm::Config;
use crate::clock;
use crate::event::{EventId, Outcome};
use crate::hook::details::Reify;
use crate::hook::handler::{self, Open};
use crate::recorder::{self, Begun};
use crate::site::Site;
use crate::subject::Subject;

/// Something that lasts while its thread goes on with other things, and may end on another thread.
/// Events that happen meanwhile are not its effects. Dropping it ends it: *panicked* if its thread
/// unwinds and did not before, else *returned*.
///
/// It holds numbers and text, so nothing loses `Send`, `Sync`, `Unpin` or `UnwindSafe` by it.
#[must_use = "dropping it ends the event"]
pub struct Resource(Option<Box<Holding>>);

/// In a box, so that a resource at a site that is not armed takes one word.
struct Holding {
    begun: Begun,
    site: &'static Site,
    key: u64,
    /// It began while its thread unwound.
    unwinding: bool,
    /// The view that handlers had of it, for handlers that run after it.
    open: Option<Open>,
}

impl Resource {
    /// Nothing to end: the site is not armed.
    #[inline(always)]
    pub const fn inert() -> Self {
        Resource(None)
    }

    /// Begins, if the site is armed for the subject. The thread stays in the event that it is in.
    #[inline]
    pub fn begin<'a>(
        site: &'static Site,
        subject: Subject,
        reify: impl FnOnce(&mut Reify<'a>),
    ) -> Self {
        if site.is_armed() { Self::observed(site, subject, reify) } else { Self::inert() }
    }

    #[cold]
    fn observed<'a>(
        site: &'static Site,
        subject: Subject,
        reify: impl FnOnce(&mut Reify<'a>),
    ) -> Self {
        let begun = super::enter_with(site, subject, reify).into_begun();
        if begun.id == 0 {
            return Self::inert();
        }
        if has_event(&begun) {
            recorder::swap_current(begun.before);
        }
        let key = subject.key;
        let unwinding = std::thread::panicking();
        Resource(Some(Box::new(Holding {
            begun,
            site,
            key,
            unwinding,
            open: handler::take(begun.id),
        })))
    }

    /// The event, if there is one.
    pub fn event(&self) -> Option<EventId> {
        let begun = &self.0.as_ref()?.begun;
        EventId::from_raw(begun.id).filter(|_| has_event(begun))
    }

    /// Records its return value, if that is required. The event ends afterwards.
    pub fn returns(&mut self, value: &dyn Debug) {
        if let Some(open) = self.0.as_mut().and_then(|holding| holding.open.as_mut()) {
            open.returns(value);
        }
    }

    /// Ends it.
    pub fn end(mut self, outcome: Outcome) {
        if let Some(holding) = self.0.take() {
            holding.end(outcome);
        }
    }
}

impl Holding {
    #[cold]
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "whoever drops it hands on one word")]
    fn leave(self: Box<Self>) {
        let unwound = std::thread::panicking() && !self.unwinding;
        self.end(if unwound { Outcome::Panicked } else { Outcome::Returned });
    }

    fn end(self, outcome: Outcome) {
        let number = Config::of(self.site).site();
        // The thread that ends an event is in it.
        let is_here = has_event(&self.begun) && recorder::own_lane().is_in_log_of(self.begun.about);
        let before = if is_here { recorder::swap_current(self.begun.id) } else { 0 };
        let begun = Begun { before, ..self.begun };
        let wrote = has_event(&begun)
            && self.open.as_ref().is_some_and(|open| open.write_return(clock::now()));
        if wrote {
            recorder::end_marked(&begun, number, self.key, outcome, true)
        } else {
            recorder::end(recorder::own_lane(), &begun, number, self.key, outcome)
        }
        if let Some(open) = self.open {
            handler::finish(open, outcome);
        }
    }
}

impl Drop for Resource {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(holding) = self.0.take() {
            holding.leave();
        }
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("event", &self.event()).finish_non_exhaustive()
    }
}

fn has_event(begun: &Begun) -> bool {
    begun.id != 0 && begun.id < recorder::LOST
}

// The code that runs after a panic reads text and calls handlers, each of which catches its own
// panics.
impl UnwindSafe for Resource {}
impl RefUnwindSafe for Resource {}

const _: () = {
    const fn stays_everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    stays_everywhere::<Resource>();
};
