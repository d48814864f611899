//! What the body of an observed function holds: two words that stay in registers.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::event::Outcome;
use crate::hook::Call;
use crate::recorder::{self, Row};

/// A call that was entered, as it is handed from one function to the next: in one register, so that each can end by
/// calling the next one.
///
/// Where the call is; if it was only counted, where the row is that it was counted in. Both are aligned: the lowest bit
/// says which it is, and of a row, the next ones say how the call announced that it will end, and whether its thread was
/// unwinding when it began.
#[repr(transparent)]
#[must_use = "a guard ends it"]
pub struct Entered<'f>(*mut u8, PhantomData<&'f mut Call>);

impl<'f> Entered<'f> {
    #[inline(always)]
    pub(super) fn call(call: &'f mut Call) -> Self {
        Entered(std::ptr::from_mut(call).cast(), PhantomData)
    }

    #[inline(always)]
    pub(crate) fn counted(row: Row<'static>) -> Self {
        let marks = if std::thread::panicking() { COUNTED | UNWINDING } else { COUNTED };
        Entered(row.place().cast::<u8>().map_addr(|address| address | marks).cast_mut(), PhantomData)
    }

    /// It turned out that nobody looks.
    #[inline(always)]
    pub(super) fn nothing() -> Self {
        Entered(std::ptr::without_provenance_mut(COUNTED), PhantomData)
    }
}

/// A call, observed or not. Dropping it ends it.
#[must_use = "dropping it ends the call"]
pub struct Guard<'f> {
    at: *mut u8,
    /// Beside the mark: where nobody looks the compiler knows it, and leaves the end out.
    is_call: bool,
    _call: PhantomData<&'f mut Call>,
}

pub(crate) const COUNTED: usize = 1;
const SAID: usize = 7 << 1;
pub(crate) const UNWINDING: usize = 1 << 4;
const MARKS: usize = COUNTED | SAID | UNWINDING;

const _: () = assert!(align_of::<Call>() > COUNTED && Row::ALIGN > MARKS);

impl<'f> Guard<'f> {
    /// Of a call that nobody looks at.
    #[inline(always)]
    pub const fn unarmed() -> Self {
        Guard { at: std::ptr::null_mut(), is_call: false, _call: PhantomData }
    }

    /// Of a call that was entered.
    #[inline(always)]
    pub fn of(entered: Entered<'f>) -> Self {
        Guard { at: entered.0, is_call: entered.0.addr() & COUNTED == 0, _call: PhantomData }
    }

    /// For a frame of code that knows no guard; whoever takes it ends the call with [`Guard::from_raw`].
    pub(crate) fn into_raw(self) -> *mut u8 {
        ManuallyDrop::new(self).at
    }

    /// What [`Guard::into_raw`] gave.
    ///
    /// # Safety
    /// It must come from there, once, and the frame that the call was made in must still be where it was.
    pub(crate) unsafe fn from_raw(at: *mut u8) -> Self {
        Guard { at, is_call: at.addr() & COUNTED == 0, _call: PhantomData }
    }

    /// The normal way out.
    #[inline(always)]
    pub fn done(self, outcome: Outcome) {
        let this = ManuallyDrop::new(self);
        // A call that was only counted has nothing more to tell if it ended well.
        let tells = !matches!(outcome, Outcome::Returned | Outcome::Succeeded);
        if this.is_call || tells && !this.at.is_null() {
            finish(this.at, outcome);
        }
    }

    /// An early way out that is about to be taken.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        match State::of(self.at) {
            State::Unarmed => {}
            State::Call(call) => call.exit(outcome),
            State::Counted => self.at = self.at.map_addr(|address| address & !SAID | (outcome as usize) << 1),
        }
    }

    /// A return value, where somebody asked for it.
    #[inline(always)]
    pub fn returns(&mut self, value: &dyn Debug) {
        if let State::Call(call) = State::of(self.at) {
            call.returns(value);
        }
    }
}

/// The normal way out of a call that somebody looks at.
#[inline(never)]
fn finish(at: *mut u8, outcome: Outcome) {
    match State::of(at) {
        State::Call(call) => call.finish_last(outcome),
        State::Counted => count_end(at, outcome),
        State::Unarmed => {}
    }
}

/// The way out of a call that somebody looks at and that did not say how: by `return`, by `?`, or by a panic that began
/// since.
#[inline(never)]
fn leave(at: *mut u8) {
    match State::of(at) {
        State::Call(call) => call.leave(),
        State::Counted => {
            let outcome = match Outcome::from_bits((at.addr() & SAID) as u8 >> 1) {
                _ if std::thread::panicking() && at.addr() & UNWINDING == 0 => Outcome::Panicked,
                said => said,
            };
            count_end(at, outcome);
        }
        State::Unarmed => {}
    }
}

fn count_end(at: *mut u8, outcome: Outcome) {
    let row = at.map_addr(|address| address & !MARKS);
    if !row.is_null() {
        // SAFETY: it was made of a row, and rows stay.
        recorder::count_outcome_in(unsafe { Row::at(row.cast()) }, outcome);
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.at.is_null() {
            leave(self.at);
        }
    }
}

enum State<'c> {
    Unarmed,
    Call(&'c mut Call),
    Counted,
}

impl State<'_> {
    #[inline(always)]
    fn of(at: *mut u8) -> Self {
        if at.is_null() {
            State::Unarmed
        } else if at.addr() & COUNTED != 0 {
            State::Counted
        } else {
            // SAFETY: without the mark it is the reference that the guard was made of, which nobody else has.
            State::Call(unsafe { &mut *at.cast::<Call>() })
        }
    }
}
