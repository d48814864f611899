//! Calls that the tally counts, and that method profilers observe at their ends only or in a tree of calling contexts.
//!
//! If a tree is the only observer, the frames of these calls are the shadow stack: each holds the context around it. A frame
//! that is left without an end, as `longjmp` does, is left behind for good, because the calls around it go back to contexts
//! of their own.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;

use metaspy_probe::{Counters, Entered, Frame};

use crate::arm;
use crate::event::Outcome;
use crate::method_profilers::{self, Activation, Context, Tree, alone_at, go_to_context};
use crate::recorder::{self, Busy, Counter, Lane};
use crate::site::Site;

/// The mark in the address of such a call: neither that of a counted call nor that of a lean one.
const MARK: usize = 1 << 2;

/// The bit by which words of cells differ that hold rows of such calls: no hook finds them by itself.
const IN_LIGHT_CALLS: u64 = 0x4000_0000_0000_0000;

/// A call, in its frame.
pub(super) struct LightCall {
    observed: Observed,
    /// The row of the tally, marked; null = none.
    row: *mut u8,
    announced: Outcome,
}

/// Where method profilers find the call.
enum Observed {
    /// In a tree alone: the context around it.
    Around(Option<&'static Context>),
    /// On the stack of its thread.
    AtEnd(Activation),
}

const _: () = assert!(size_of::<LightCall>() <= size_of::<Frame>() && align_of::<LightCall>() <= align_of::<Frame>());
const _: () = assert!(align_of::<Frame>() > MARK);

/// Begins a call, if nothing of it is recorded but its number and what its profilers find at its end. Otherwise returns the
/// frame.
#[inline(never)]
pub(super) fn enter<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    counters: *const Counters,
) -> Result<Entered<'f>, &'f mut Frame> {
    // That a thread unwinds is remembered in the frame of another kind of call.
    let lane = recorder::near().filter(|lane| lane.level() == 0 && !std::thread::panicking());
    let Some(lane) = lane else { return Err(frame) };
    let who = arm::settled() | IN_LIGHT_CALLS;
    let row = lane.cells.noted(site, who).or_else(|| find(site, lane, counters, who));
    let Some(row) = row else { return Err(frame) };
    let number = site.id.load(Relaxed);
    match alone_at(number) {
        Some(tree) => Ok(enter_in_tree(frame, tree, number, row)),
        None => match method_profilers::enter_for_end(number) {
            Some(activation) => Ok(put(frame, Observed::AtEnd(activation), row)),
            None => Err(frame),
        },
    }
}

#[inline(never)]
fn enter_in_tree<'f>(frame: &'f mut Frame, tree: &'static Tree, number: u32, row: *mut u8) -> Entered<'f> {
    let around = tree.enter(number);
    put(frame, Observed::Around(around), row)
}

/// Counts the call, and makes it in its frame.
#[inline(always)]
fn put(frame: &mut Frame, observed: Observed, row: *mut u8) -> Entered<'_> {
    if !row.is_null() {
        // SAFETY: it is a row, and rows stay.
        unsafe { Counter::at(unmarked(row)) }.begun();
    }
    let call = LightCall { observed, row, announced: Outcome::Returned };
    // SAFETY: the frame has room for it, and is borrowed as long as what was entered.
    let call = unsafe { &mut *std::ptr::from_mut(frame).cast::<MaybeUninit<LightCall>>() }.write(call);
    let marked = std::ptr::from_mut(call).cast::<u8>().map_addr(|address| address | MARK);
    // SAFETY: it is what `adapter` ends.
    unsafe { Entered::from_raw(marked) }
}

/// The row of the tally, marked; null if no call is counted there. `None`: the site has no light calls, or they must be
/// counted in another way.
#[cold]
#[inline(never)]
fn find(site: &'static Site, lane: &'static Lane, counters: *const Counters, who: u64) -> Option<*mut u8> {
    let number = site.id.load(Relaxed);
    if alone_at(number).is_none() && !method_profilers::see_only_ends(number) {
        return None;
    }
    let row = arm::recorded_row(site, lane).ok()?.map_or(null_mut(), Counter::marked);
    let _busy = Busy::unless_busy(lane)?;
    lane.cells.note_marked(counters, site, who, row);
    Some(row)
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
        match self.observed {
            Observed::Around(context) => _ = go_to_context(context),
            Observed::AtEnd(activation) => method_profilers::finish(activation, outcome),
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
