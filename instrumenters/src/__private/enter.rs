//! The begin of an armed call. An unarmed call pays for a test and nothing else.
//!
//! The data of a call is in its [`Frame`], which stays uninitialised if the site is not armed. The body holds a [`Guard`],
//! which is a pointer and stays in a register. What runs for an armed site takes no registers from the body: it is out of
//! line, but for the count.

use metaspy_core::hook::FrameWithCell;
use metaspy_core::hook::{self, Reify};
pub use metaspy_core::hook::{Entered, Frame, Guard};
use metaspy_core::{Site, Subject};

/// Begins a call at an armed site. The thread counts it within the observed function, where it can.
#[inline(always)]
pub fn enter<'f, T>(frame: FrameWithCell<'f>, site: &'static Site, subject: Subject) -> Entered<'f> {
    match frame.cell() {
        Some(cell) => {
            Entered::counted_about(cell, site, subject).unwrap_or_else(|| enter_uncounted::<T>(frame, site, subject))
        }
        None if frame.is_event() => hook::enter_event(frame.into_frame(), site, subject),
        None => enter_with(frame.into_frame(), site, subject, |_| ()),
    }
}

/// Counts a call, or makes it an event.
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "generic code is compiled in the observed crate, where a program reaches its thread's lane without a call"
)]
#[inline(never)]
fn enter_uncounted<'f, T>(frame: FrameWithCell<'f>, site: &'static Site, subject: Subject) -> Entered<'f> {
    match frame.cell().and_then(|cell| hook::count_in_bucket(cell, site, subject)) {
        Some(entered) => entered,
        None => enter_with(frame.into_frame(), site, subject, |_| ()),
    }
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
    let frame = frame.find_cell(site);
    enter::<()>(frame, site, subject(receiver))
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
    let frame = frame.find_cell(site);
    enter_as(frame, site, receiver, subject(receiver))
}

/// Begins a call with a subject of its own, for a receiver that handlers may use. The thread counts it within the observed
/// function, where it can.
#[inline(always)]
pub fn enter_as<'f, T: 'static>(
    frame: FrameWithCell<'f>,
    site: &'static Site,
    receiver: &T,
    subject: Subject,
) -> Entered<'f> {
    match frame.cell() {
        Some(cell) => Entered::counted_about(cell, site, subject)
            .unwrap_or_else(|| enter_uncounted_as(frame, site, receiver, subject)),
        None if frame.is_event() => hook::enter_event(frame.into_frame(), site, subject),
        None => enter_with(frame.into_frame(), site, subject, |reify| reify.receiver(receiver)),
    }
}

/// As [`enter_uncounted`].
#[inline(never)]
fn enter_uncounted_as<'f, T: 'static>(
    frame: FrameWithCell<'f>,
    site: &'static Site,
    receiver: &T,
    subject: Subject,
) -> Entered<'f> {
    match frame.cell().and_then(|cell| hook::count_in_bucket(cell, site, subject)) {
        Some(entered) => entered,
        None => enter_with(frame.into_frame(), site, subject, |reify| reify.receiver(receiver)),
    }
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
    hook::count_or_enter_with_in(frame, site, subject, reify)
}
