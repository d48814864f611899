//! An event that is no thread's current one: a lock that is held, a connection that is open.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::Relaxed;

use crate::arm::Config;
use crate::event::{EventId, Outcome};
use crate::hook::details::Reify;
use crate::hook::handler::{self, Open};
use crate::log::{self, Begun};
use crate::site::Site;
use crate::subject::Subject;

/// Something that lasts while its thread goes on with other things, and may end on another one. What happens meanwhile
/// is not its effect. Dropping it ends it: *panicked* if its thread unwinds and did not before, else *returned*.
///
/// It holds numbers and text, so nothing loses `Send`, `Sync`, `Unpin` or `UnwindSafe` by it.
#[must_use = "dropping it ends the event"]
pub struct Held {
    begun: Begun,
    site: Option<&'static Site>,
    key: u64,
    /// It began while its thread unwound.
    unwinding: bool,
    /// What handlers were told of it, for those that run after it.
    open: Option<Box<Open>>,
}

impl Held {
    /// Nobody looks: nothing to end.
    #[inline(always)]
    pub const fn inert() -> Self {
        Held { begun: Begun::NOTHING, site: None, key: 0, unwinding: false, open: None }
    }

    /// Begins, if the site is armed for the subject. The thread stays in the event that it is in.
    #[inline]
    pub fn begin<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Self {
        match site.is_armed() {
            true => Self::observed(site, subject, reify),
            false => Self::inert(),
        }
    }

    fn observed<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Self {
        let begun = super::enter_with(site, subject, reify).into_begun();
        if has_event(&begun) {
            log::swap_current(begun.before);
        }
        let open = handler::take(begun.id).map(Box::new);
        Held { begun, site: Some(site), key: subject.key, unwinding: std::thread::panicking(), open }
    }

    /// The event, if there is one.
    pub fn event(&self) -> Option<EventId> {
        EventId::from_raw(self.begun.id).filter(|_| has_event(&self.begun))
    }

    /// It ends.
    pub fn end(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        let begun = std::mem::replace(&mut self.begun, Begun::NOTHING);
        let Some(site) = self.site.filter(|_| begun.id != 0) else { return };
        let number = Config(site.config.load(Relaxed)).site();
        if has_event(&begun) {
            // Whoever ends an event is in it.
            let before = log::swap_current(begun.id);
            log::end(log::here(), &Begun { before, ..begun }, number, self.key, outcome);
        } else {
            log::end(log::here(), &begun, number, self.key, outcome);
        }
        if let Some(open) = self.open.take() {
            handler::finish(*open, outcome);
        }
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if self.begun.id != 0 {
            let unwound = std::thread::panicking() && !self.unwinding;
            self.finish(if unwound { Outcome::Panicked } else { Outcome::Returned });
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("event", &self.event()).finish_non_exhaustive()
    }
}

fn has_event(begun: &Begun) -> bool {
    begun.id != 0 && begun.id < log::LOST
}

// What runs after a panic reads text and calls handlers, each of which catches its own panics.
impl UnwindSafe for Held {}
impl RefUnwindSafe for Held {}

const _: () = {
    const fn stays_everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    stays_everywhere::<Held>();
};
