//! Operation that waits, and that the program can cancel.

use metaspy_core::hook::{Reify, Resource};
use metaspy_core::{Outcome, Site, Subject};

/// Operation that may be cancelled before it ends. Dropping it records the cancellation.
pub(crate) struct Attempt(Resource);

impl Attempt {
    /// Begins an operation, if the site is armed for the subject.
    pub fn begin<'a>(
        site: &'static Site,
        subject: Subject,
        reify: impl FnOnce(&mut Reify<'a>),
    ) -> Self {
        Attempt(Resource::begin(site, subject, reify))
    }

    /// Returns the event, or `None` if the operation is not recorded.
    #[cfg(any(feature = "async-channel", feature = "flume"))]
    pub fn event(&self) -> Option<metaspy_core::EventId> {
        self.0.event()
    }

    /// Records the returned value, if details are recorded.
    #[cfg(all(feature = "io", feature = "tokio"))]
    pub fn returns(&mut self, value: &dyn std::fmt::Debug) {
        self.0.returns(value);
    }

    /// Ends the operation with an outcome.
    pub fn end(&mut self, outcome: Outcome) {
        std::mem::replace(&mut self.0, Resource::inert()).end(outcome);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.end(Outcome::Cancelled);
    }
}
