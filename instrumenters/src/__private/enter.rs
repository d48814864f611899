//! The begin of an armed call. An unarmed call pays for a test and nothing else.
//!
//! The data of a call is in its [`Frame`], which stays uninitialised if the site is not armed. The body holds a [`Guard`],
//! which is a pointer and stays in a register. All that runs for an armed site is out of line, so that it takes no registers
//! from the body.

use metaspy_core::hook::{self, Reify};
pub use metaspy_core::hook::{Entered, Frame, Guard};
use metaspy_core::{Site, Subject};

/// Begins a call at an armed site. `T` is unused: generic code is compiled in the observed crate, where a program reaches
/// its thread's lane without a call.
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

/// Begins a call whose subject is its receiver, or the place of the receiver.
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

/// As [`enter_by`], for a receiver that handlers may use.
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

/// Begins a call with a subject of its own, for a receiver that handlers may use.
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

/// Begins a call with details.
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
