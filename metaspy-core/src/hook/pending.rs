//! An event without a length whose outcome is not known yet: a message is being sent.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{Ordering, fence};

use crate::arm::{ALL_SUBJECTS, Config};
use crate::event::{EventId, Outcome};
use crate::recorder::{self, Begun};
use crate::site::Site;
use crate::subject::Subject;

/// Something that happens at an instant, and may fail. Its event exists before it happens, so that
/// its effects can name the event. The event is never the current one of its thread, and its end
/// costs one store. Dropping it ends it as a guard of a call does.
#[must_use = "dropping it ends the event"]
pub struct Pending {
    begun: Begun,
    site: u32,
    key: u64,
}

impl Pending {
    /// Begins it at a site that is armed. `None` if the site has handlers or details, or records
    /// less than events: then it is a call.
    #[inline(always)]
    pub fn begin(site: &'static Site, subject: Subject) -> Option<Pending> {
        fence(Ordering::Acquire);
        let config = Config::of(site);
        if site.filter.load(Relaxed) != ALL_SUBJECTS || !config.is_simple() || !config.is_full() {
            return None;
        }
        let begun = recorder::point(config.site(), subject, None, None);
        Some(Pending { begun, site: config.site(), key: subject.key })
    }

    /// The event; `None` if it found no room in the log.
    #[inline(always)]
    pub fn event(&self) -> Option<EventId> {
        self.begun.event()
    }

    /// Ends it with this outcome.
    #[inline(always)]
    pub fn done(self, outcome: Outcome) {
        recorder::end_point(&self.begun, self.site, self.key, outcome);
        std::mem::forget(self);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let outcome = if std::thread::panicking() { Outcome::Panicked } else { Outcome::Returned };
        recorder::end_point(&self.begun, self.site, self.key, outcome);
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pending").field(&self.event()).finish()
    }
}
