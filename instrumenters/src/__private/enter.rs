//! The guard of a call, made so that a call nobody looks at pays for a test and nothing else.
//!
//! What a call needs while it runs is in a [`Frame`], which stays uninitialised unless somebody looks. What the body
//! holds is a [`Guard`], which is a pointer and stays in a register. All that runs when somebody looks is out of line,
//! so that it takes no registers from the body.

use metaspy_core::hook::{self, Reify};
pub use metaspy_core::hook::{Entered, Frame, Guard};
use metaspy_core::{Site, Subject};

/// Begins a call at a site that is armed. `T` says nothing: what is generic is compiled with the code that is observed,
/// which in a program reaches its thread's lane without a call.
#[cold]
#[inline(never)]
pub fn enter<'f, T>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    hook::count(site, subject).unwrap_or_else(|| hook::enter_in(frame, site, subject))
}

/// Begins a call without a subject at a site that is armed. The thread counts it within the observed function.
#[inline(always)]
pub fn enter_site<'f>(frame: &'f mut Frame, site: &'static Site) -> Entered<'f> {
    Entered::counted(site).unwrap_or_else(|| hook::enter_site_in(frame, site))
}

/// Begins a call about its receiver, or where that is.
#[cold]
#[inline(never)]
pub fn enter_by<'f, T: ?Sized>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: impl FnOnce(&T) -> Subject,
) -> Entered<'f> {
    let subject = subject(receiver);
    hook::count(site, subject).unwrap_or_else(|| hook::enter_in(frame, site, subject))
}

/// Begins a call about its receiver, or where that is; handlers may be given the receiver.
#[cold]
#[inline(never)]
pub fn enter_on<'f, T: 'static>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: impl FnOnce(&T) -> Subject,
) -> Entered<'f> {
    let subject = subject(receiver);
    hook::count(site, subject)
        .unwrap_or_else(|| hook::enter_with_in(frame, site, subject, |reify| reify.receiver(receiver)))
}

/// Begins a call about somebody else than its receiver, which handlers may be given.
#[cold]
#[inline(never)]
pub fn enter_as<'f, T: 'static>(
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: Subject,
) -> Entered<'f> {
    hook::count(site, subject)
        .unwrap_or_else(|| hook::enter_with_in(frame, site, subject, |reify| reify.receiver(receiver)))
}

/// Begins a call that may be looked into.
#[cold]
#[inline(never)]
pub fn enter_with<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    hook::count(site, subject).unwrap_or_else(|| hook::enter_with_in(frame, site, subject, reify))
}
