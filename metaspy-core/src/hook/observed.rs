//! The begin of an armed call, as `#[observe]` makes it. An unarmed call pays for a test and
//! nothing else.
//!
//! The data of a call is in its [`Frame`], which stays uninitialised if the site is not armed. The
//! body holds a [`Guard`](super::Guard), which is a pointer and stays in a register. The code for
//! an armed site is out of line and keeps the registers of the body, but for the test for a panic.

use std::ptr::{from_ref, null};

use metaspy_probe::{Cell, Entered, Frame};

use crate::hook::Reify;
use crate::hook::call;
use crate::site::Site;
use crate::subject::{KindId, Subject};

/// True if this thread unwinds. Evaluated before the subject, because the subject may be a call,
/// and the compiler would save the registers that live across it.
#[derive(Clone, Copy, Debug)]
pub struct Unwinding(bool);

impl Unwinding {
    /// As it is now.
    #[inline(always)]
    pub fn now() -> Self {
        Unwinding(std::thread::panicking())
    }
}

/// Begins a call at an armed site.
#[inline(always)]
pub fn enter<'f>(
    unwinding: Unwinding,
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
) -> Entered<'f> {
    if unwinding.0 {
        enter_with(frame, site, subject, |_| ())
    } else {
        // SAFETY: the second function expects no receiver.
        unsafe { metaspy_probe::enter(frame, site, subject, null(), enter_slowly) }
    }
}

/// Begins a call without a subject at a site that is armed. The thread counts it within the
/// observed function.
#[inline(always)]
pub fn enter_site<'f>(frame: &'f mut Frame, site: &'static Site) -> Entered<'f> {
    let unwinding = Unwinding::now();
    let counted = if unwinding.0 { None } else { Entered::counted(site) };
    counted.unwrap_or_else(|| enter(unwinding, frame, site, Subject::NONE))
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
    enter(Unwinding::now(), frame, site, subject(receiver))
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
    enter_as(Unwinding::now(), frame, site, receiver, subject(receiver))
}

/// Begins a call with a subject of its own, for a receiver that handlers may use.
#[inline(always)]
pub fn enter_as<'f, T: 'static>(
    unwinding: Unwinding,
    frame: &'f mut Frame,
    site: &'static Site,
    receiver: &T,
    subject: Subject,
) -> Entered<'f> {
    if unwinding.0 {
        enter_with(frame, site, subject, |reify| reify.receiver(receiver))
    } else {
        // SAFETY: the second function expects such a receiver.
        unsafe {
            metaspy_probe::enter(
                frame,
                site,
                subject,
                from_ref(receiver).cast(),
                enter_slowly_as::<T>,
            )
        }
    }
}

/// A call that is neither counted at once nor an event as most are.
unsafe extern "C" fn enter_slowly(
    frame: *mut Frame,
    site: &'static Site,
    _receiver: *const u8,
    key: u64,
    kind: u64,
    cell: Option<&Cell>,
) -> *mut u8 {
    let subject = Subject::new(KindId(kind as u16), key);
    // SAFETY: the frame is the caller's, who holds it until the call ends.
    let frame = unsafe { &mut *frame };
    let counted = cell.and_then(|cell| call::count_in_bucket(cell, site, subject));
    counted.unwrap_or_else(|| enter_with(frame, site, subject, |_| ())).into_raw()
}

/// As [`enter_slowly`], with the receiver.
unsafe extern "C" fn enter_slowly_as<T: 'static>(
    frame: *mut Frame,
    site: &'static Site,
    receiver: *const u8,
    key: u64,
    kind: u64,
    cell: Option<&Cell>,
) -> *mut u8 {
    let subject = Subject::new(KindId(kind as u16), key);
    // SAFETY: as above; the receiver is that of `enter_as`.
    let (frame, receiver) = unsafe { (&mut *frame, &*receiver.cast::<T>()) };
    let counted = cell.and_then(|cell| call::count_in_bucket(cell, site, subject));
    counted
        .unwrap_or_else(|| enter_with(frame, site, subject, |reify| reify.receiver(receiver)))
        .into_raw()
}

/// Begins a call that may have details.
#[cold]
#[inline(never)]
pub fn enter_with<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    call::count(site, subject).unwrap_or_else(|| call::enter_with_in(frame, site, subject, reify))
}
