//! The guard of a call, made so that a call nobody looks at pays for a test and nothing else.
//!
//! What a call needs while it runs is in a [`Frame`], which the body declares and leaves uninitialised unless somebody
//! looks. What the body holds is a [`Guard`], which is a pointer and stays in a register. All that runs when somebody
//! looks is out of line, so that it takes no registers from the body.

use std::fmt::Debug;
use std::mem::ManuallyDrop;

use metaspy_core::hook::{self, Call, Reify};
use metaspy_core::{Outcome, Site, Subject};

/// Room for a call under way. It is emptied by its [`Guard`], so dropping it does nothing.
pub struct Frame(ManuallyDrop<Option<Call>>);

/// Begins a call at a site that is armed.
#[cold]
#[inline(never)]
pub fn enter(site: &'static Site, subject: Subject) -> Frame {
    Frame::of(hook::enter(site, subject))
}

/// Begins a call about its receiver, or where that is.
#[cold]
#[inline(never)]
pub fn enter_by<T: ?Sized>(site: &'static Site, receiver: &T, subject: impl FnOnce(&T) -> Subject) -> Frame {
    Frame::of(hook::enter(site, subject(receiver)))
}

/// Begins a call about its receiver, or where that is; handlers may be given the receiver.
#[cold]
#[inline(never)]
pub fn enter_on<T: 'static>(site: &'static Site, receiver: &T, subject: impl FnOnce(&T) -> Subject) -> Frame {
    Frame::of(hook::enter_with(site, subject(receiver), |reify| reify.receiver(receiver)))
}

/// Begins a call about somebody else than its receiver, which handlers may be given.
#[cold]
#[inline(never)]
pub fn enter_as<T: 'static>(site: &'static Site, receiver: &T, subject: Subject) -> Frame {
    Frame::of(hook::enter_with(site, subject, |reify| reify.receiver(receiver)))
}

/// Begins a call that may be looked into.
#[cold]
#[inline(never)]
pub fn enter_with<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Frame {
    Frame::of(hook::enter_with(site, subject, reify))
}

impl Frame {
    #[inline(always)]
    fn of(call: Call) -> Frame {
        Frame(ManuallyDrop::new(Some(call)))
    }

    /// The call fails unless it is said otherwise: an early way out that says nothing is a `?`.
    #[must_use]
    pub fn failing(mut self) -> Self {
        if let Some(call) = &mut *self.0 {
            call.exit(Outcome::Failed);
        }
        self
    }
}

/// A call, observed or not. Dropping it ends it.
#[must_use = "dropping it ends the call"]
pub struct Guard<'f>(Option<&'f mut Frame>);

impl<'f> Guard<'f> {
    /// Of a call that nobody looks at.
    #[inline(always)]
    pub const fn unarmed() -> Self {
        Guard(None)
    }

    /// Of the call in this frame.
    #[inline(always)]
    pub const fn of(frame: &'f mut Frame) -> Self {
        Guard(Some(frame))
    }

    /// The normal way out.
    #[inline(always)]
    pub fn done(mut self, outcome: Outcome) {
        if let Some(frame) = self.0.take() {
            done(frame, outcome);
        }
    }

    /// An early way out that is about to be taken.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        if let Some(frame) = &mut self.0 {
            exit(frame, outcome);
        }
    }

    /// A return value, where somebody asked for it.
    #[inline(always)]
    pub fn returns(&mut self, value: &dyn Debug) {
        if let Some(frame) = &mut self.0 {
            returns(frame, value);
        }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(frame) = self.0.take() {
            left(frame);
        }
    }
}

#[cold]
#[inline(never)]
fn done(frame: &mut Frame, outcome: Outcome) {
    if let Some(call) = frame.0.take() {
        call.done(outcome);
    }
}

#[cold]
#[inline(never)]
fn exit(frame: &mut Frame, outcome: Outcome) {
    if let Some(call) = &mut *frame.0 {
        call.exit(outcome);
    }
}

#[cold]
#[inline(never)]
fn returns(frame: &mut Frame, value: &dyn Debug) {
    if let Some(call) = &mut *frame.0 {
        call.returns(value);
    }
}

#[cold]
#[inline(never)]
fn left(frame: &mut Frame) {
    drop(frame.0.take());
}
