//! Calls that the tally counts, and that method profilers observe at their ends only or in a tree of calling contexts.
//!
//! If a tree is the only observer, the frames of these calls are the shadow stack: each holds the context around it. A frame
//! that is left without an end, as `longjmp` does, is left behind for good, because the calls around it go back to contexts
//! of their own.
//!
//! These frames replace the entries of method profilers where nothing else observes the call, so
//! nothing is pushed, and no clock is read.
//!
//! A call that profilers observe only at its end has a small frame instead of that of an event: its
//! place on the stack of its thread, and its row of the tally. Most of the 1,190 instructions of
//! such a call were spent on finding that row, and on copying entries. A thread remembers the words
//! of a method and its caller together.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;

use metaspy_probe::{Counters, Entered, Frame, Seen};

use crate::arm;
use crate::event::Outcome;
use crate::method_profilers::{self, Activation, Context, Tree, alone_at, go_to_context};
use crate::recorder::{self, Busy, Counter, Lane, Noted, Notes};
use crate::site::Site;

/// The mark in the address of such a call: neither that of a counted call nor that of a lean one.
pub(super) const MARK: usize = 1 << 2;
/// The bits in which it stands.
pub(super) const MARKS: usize = 7;

/// A call, in its frame. Hooks in assembly make and end those that are in a tree alone.
#[repr(C)]
pub(super) struct LightCall {
    /// In a tree alone: the context around it.
    pub around: Option<&'static Context>,
    /// The row of the tally, marked; null = none.
    pub row: *mut u8,
    /// Its place on the stack of its thread; `None` = it is in a tree alone.
    pub on_stack: Option<Activation>,
    /// The place of the cell of its site.
    pub cell: u32,
    pub announced: Outcome,
}

const _: () = assert!(size_of::<LightCall>() <= size_of::<Frame>() && align_of::<LightCall>() <= align_of::<Frame>());
const _: () = assert!(align_of::<Frame>() > MARK);

/// What is noted of the calls with this cell.
#[inline(always)]
fn noted(lane: &Lane, cell: u32) -> Option<Noted<'_>> {
    lane.cells.noted(cell, arm::settled())
}

/// What is noted of the calls at a site, and the lane of this thread.
#[inline(always)]
pub(super) fn notes_at(site: &Site) -> Option<(&'static Lane, Notes)> {
    let lane = recorder::near()?;
    Some((lane, noted(lane, site.cell.load(Relaxed))?.notes()))
}

/// Counts a call at a settled site about one of several objects that this thread has settled. The thread does not unwind.
#[inline(always)]
pub(super) fn count_further(site: &Site, receiver: (u64, u64)) -> Option<*mut u8> {
    recorder::near()?.cells.count_further(site.cell.load(Relaxed), arm::settled(), receiver)
}

/// Begins a call on the stack of its thread. The thread does not unwind, and no other function is called.
#[inline(always)]
pub(super) fn enter_known_stack(lane: &Lane, site: &Site, frame: &mut Frame, notes: Notes) -> Option<*mut u8> {
    let activation = method_profilers::begin_known(&lane.observed, notes, site.id.load(Relaxed))?;
    Some(put(frame, site, Observed::OnStack(activation), notes.row).into_raw())
}

/// Ends such a call on the stack of its thread, if it returned. False: nothing has changed, and it must end in another way.
///
/// # Safety
/// `begun` was entered and has not ended.
#[inline(always)]
pub(super) unsafe fn leave_known(begun: *mut u8) -> bool {
    if begun.addr() & MARKS != MARK {
        return false;
    }
    // SAFETY: as the caller states, and only `put` marks an address so.
    let Some(call) = (unsafe { LightCall::of(begun) }) else { return false };
    if !matches!(call.announced, Outcome::Returned | Outcome::Succeeded) || std::thread::panicking() {
        return false;
    }
    let Some((lane, activation)) = recorder::near().zip(call.on_stack) else { return false };
    noted(lane, call.cell)
        .is_some_and(|noted| method_profilers::end_known(&lane.observed, activation, noted.notes()).is_some())
}

/// Begins a call, if nothing of it is recorded but its number and what its profilers find at its end. Otherwise returns the
/// frame.
#[inline(never)]
pub(super) fn enter<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    seen: &Seen<'_>,
) -> Result<Entered<'f>, &'f mut Frame> {
    // That a thread unwinds is remembered in the frame of another kind of call.
    let lane = recorder::near().filter(|lane| lane.level() == 0 && !std::thread::panicking());
    let Some(lane) = lane else { return Err(frame) };
    let number = site.id.load(Relaxed);
    let notes = match noted(lane, site.cell.load(Relaxed)) {
        Some(noted) => Some(noted.notes()).filter(|notes| notes.are_about((seen.receiver.word, seen.kind))),
        None => find(site, lane, seen.counters, arm::settled()),
    };
    match notes.and_then(|notes| Some((Observed::begin(lane, number, notes)?, notes.row))) {
        Some((observed, row)) => Ok(put(frame, site, observed, row)),
        None => Err(frame),
    }
}

/// Where method profilers find a call.
enum Observed {
    /// In a tree alone: the context around it.
    Around(Option<&'static Context>),
    OnStack(Activation),
}

impl Observed {
    fn begin(lane: &Lane, number: u32, notes: Notes) -> Option<Self> {
        if notes.profilers.is_null() {
            // SAFETY: it is a tree, as these notes have no profilers, and trees are never freed.
            let tree: &'static Tree = unsafe { notes.tree.cast::<Tree>().as_ref() }?;
            return Some(Observed::Around(tree.enter(number)));
        }
        let known = method_profilers::begin_known(&lane.observed, notes, number);
        known.or_else(|| method_profilers::enter_for_end(number)).map(Observed::OnStack)
    }
}

/// Counts the call, and makes it in its frame.
#[inline(always)]
fn put<'f>(frame: &'f mut Frame, site: &Site, observed: Observed, row: *mut u8) -> Entered<'f> {
    if !row.is_null() {
        // SAFETY: it is a row, and rows stay.
        unsafe { Counter::at(unmarked(row)) }.begun();
    }
    let (around, on_stack) = match observed {
        Observed::Around(context) => (context, None),
        Observed::OnStack(activation) => (None, Some(activation)),
    };
    let call = LightCall { around, row, on_stack, cell: site.cell.load(Relaxed), announced: Outcome::Returned };
    // SAFETY: the frame has room for it, and is borrowed as long as what was entered.
    let call = unsafe { &mut *std::ptr::from_mut(frame).cast::<MaybeUninit<LightCall>>() }.write(call);
    let marked = std::ptr::from_mut(call).cast::<u8>().map_addr(|address| address | MARK);
    // SAFETY: it is what `adapter` ends.
    unsafe { Entered::from_raw(marked) }
}

/// What is noted of the site from now on. `None`: it has no light calls, or they must be counted in another way.
#[cold]
#[inline(never)]
fn find(site: &'static Site, lane: &'static Lane, counters: *const Counters, who: u64) -> Option<Notes> {
    let number = site.id.load(Relaxed);
    let notes = match alone_at(number) {
        Some(tree) => Notes { tree: std::ptr::from_ref(tree).cast(), ..Notes::NONE },
        None => method_profilers::notes_of(number)?,
    };
    let row = arm::recorded_row(site, lane).ok()?.map_or(null_mut(), Counter::marked);
    let _busy = Busy::unless_busy(lane)?;
    let notes = Notes { row, ..notes };
    lane.cells.note_ends(counters, site, who, notes);
    Some(notes)
}

fn unmarked(row: *mut u8) -> *mut u8 {
    row.wrapping_sub(metaspy_probe::COUNTED)
}

impl LightCall {
    /// The call at a marked address; `None` if it is no such call.
    ///
    /// # Safety
    /// `begun` was entered and has not ended, and it is neither counted nor lean.
    #[inline(always)]
    pub unsafe fn of<'c>(begun: *mut u8) -> Option<&'c mut Self> {
        let call = begun.map_addr(|address| address & !MARK).cast();
        // SAFETY: only `enter` marks an address so, and its frame is there until the call has ended.
        (begun.addr() & MARK != 0).then(|| unsafe { &mut *call })
    }

    /// An early way out that is about to be taken.
    pub fn exit(&mut self, outcome: Outcome) {
        self.announced = outcome;
    }

    /// The end of the call.
    #[inline]
    pub fn finish(&mut self, outcome: Outcome) {
        match self.on_stack {
            None => go_to_context(&recorder::here().observed, self.around),
            Some(activation) => method_profilers::finish(activation, outcome),
        }
        if !self.row.is_null() && !matches!(outcome, Outcome::Returned | Outcome::Succeeded) {
            // SAFETY: as in `put`.
            recorder::count_outcome_in(unsafe { Counter::at(unmarked(self.row)) }, outcome);
        }
    }

    /// Another way out. The thread did not unwind when the call began.
    #[inline]
    pub fn leave(&mut self) {
        let outcome = if std::thread::panicking() { Outcome::Panicked } else { self.announced };
        self.finish(outcome);
    }
}
