//! The guard of a call, made so that a call nobody looks at pays for a test and nothing else.
//!
//! What a call needs while it runs is in a [`Frame`], which stays uninitialised unless somebody looks. What the body holds is a [`Guard`], which is a pointer and stays in a register. All that runs when somebody
//! looks is out of line, so that it takes no registers from the body.

use std::fmt::Debug;

pub use metaspy_core::hook::Frame;
use metaspy_core::hook::{self, Call, Reify};
use metaspy_core::{Outcome, Site, Subject};

/// Begins a call at a site that is armed.
#[cold]
#[inline(never)]
pub fn enter<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> &'f mut Call {
    hook::enter_in(frame, site, subject)
}

/// Begins a call about its receiver, or where that is.
#[cold]
#[inline(never)]
pub fn enter_by<'f, T: ?Sized>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: impl FnOnce(&T) -> Subject,
) -> &'f mut Call {
    hook::enter_in(frame, site, subject(receiver))
}

/// Begins a call about its receiver, or where that is; handlers may be given the receiver.
#[cold]
#[inline(never)]
pub fn enter_on<'f, T: 'static>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: impl FnOnce(&T) -> Subject,
) -> &'f mut Call {
    hook::enter_with_in(frame, site, subject(receiver), |reify| reify.receiver(receiver))
}

/// Begins a call about somebody else than its receiver, which handlers may be given.
#[cold]
#[inline(never)]
pub fn enter_as<'f, T: 'static>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: Subject,
) -> &'f mut Call {
    hook::enter_with_in(frame, site, subject, |reify| reify.receiver(receiver))
}

/// Begins a call that may be looked into.
#[cold]
#[inline(never)]
pub fn enter_with<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> &'f mut Call {
    hook::enter_with_in(frame, site, subject, reify)
}

/// A call, observed or not. Dropping it ends it.
#[must_use = "dropping it ends the call"]
pub struct Guard<'f>(Option<&'f mut Call>);

impl<'f> Guard<'f> {
    /// Of a call that nobody looks at.
    #[inline(always)]
    pub const fn unarmed() -> Self {
        Guard(None)
    }

    /// Of this call.
    #[inline(always)]
    pub const fn of(call: &'f mut Call) -> Self {
        Guard(Some(call))
    }

    /// The normal way out.
    #[inline(always)]
    pub fn done(mut self, outcome: Outcome) {
        if let Some(call) = self.0.take() {
            call.finish(outcome);
        }
    }

    /// An early way out that is about to be taken.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        if let Some(call) = &mut self.0 {
            call.exit(outcome);
        }
    }

    /// A return value, where somebody asked for it.
    #[inline(always)]
    pub fn returns(&mut self, value: &dyn Debug) {
        if let Some(call) = &mut self.0 {
            call.returns(value);
        }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call.leave();
        }
    }
}
