//! An operation that waits, and that can be given up.

use metaspy_core::hook::{Reify, Resource};
use metaspy_core::{EventId, Outcome, Site, Subject};

/// An operation that may be given up before it ends. Dropping it cancels it.
pub(crate) struct Attempt(Resource);

impl Attempt {
    /// Begins, if the site is armed for the subject.
    pub fn begin<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Self {
        Attempt(Resource::begin(site, subject, reify))
    }

    /// The event, if there is one.
    #[cfg(any(feature = "async-channel", feature = "flume"))]
    pub fn event(&self) -> Option<EventId> {
        self.0.event()
    }

    /// Records what it returned, if that is required.
    #[cfg(all(feature = "io", feature = "tokio"))]
    pub fn returns(&mut self, value: &dyn std::fmt::Debug) {
        self.0.returns(value);
    }

    /// Ends it.
    pub fn end(&mut self, outcome: Outcome) {
        std::mem::replace(&mut self.0, Resource::inert()).end(outcome);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.end(Outcome::Cancelled);
    }
}
