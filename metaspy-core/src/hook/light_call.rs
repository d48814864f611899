//! Calls that the tally counts, and that method profilers observe at their ends only or in a tree
//! of calling contexts.
//!
//! If a tree is the only observer, the frames of these calls are the shadow stack: each holds the
//! context around it. If `longjmp` skips a frame, its context stays open. The callers return to
//! their own contexts, so the tree stays correct.
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
use crate::recorder::{self, Busy, CachedCell, CachedObservers, Counter, Lane};
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

const _: () = assert!(
    size_of::<LightCall>() <= size_of::<Frame>() && align_of::<LightCall>() <= align_of::<Frame>()
);
const _: () = assert!(align_of::<Frame>() > MARK);

/// The cached observers of the calls with this cell.
#[inline(always)]
fn cached(lane: &Lane, cell: u32) -> Option<CachedCell<'_>> {
    lane.cells.cached(cell, arm::settled())
}

/// The cached observers of a site, and the lane of this thread.
#[inline(always)]
pub(super) fn cached_at(site: &Site) -> Option<(&'static Lane, CachedObservers)> {
    let lane = recorder::joined_lane()?;
    Some((lane, cached(lane, site.cell.load(Relaxed))?.observers()))
}

/// Counts a call at a settled site about one of several objects that this thread has settled. The
/// thread does not unwind.
#[inline(always)]
pub(super) fn count_further(site: &Site, receiver: (u64, u64)) -> Option<*mut u8> {
    recorder::joined_lane()?.cells.count_further(site.cell.load(Relaxed), arm::settled(), receiver)
}

/// Begins a call on the stack of its thread. The thread does not unwind, and no other function is
/// called.
#[inline(always)]
pub(super) fn enter_known_stack(
    lane: &Lane,
    site: &Site,
    frame: &mut Frame,
    observers: CachedObservers,
) -> Option<*mut u8> {
    let activation =
        method_profilers::begin_known(&lane.profilers, observers, site.id.load(Relaxed))?;
    Some(put(frame, site, Observed::OnStack(activation), observers.row).into_raw())
}

/// Ends such a call on the stack of its thread, if it returned. False: nothing has changed, and it
/// must end in another way.
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
    if !matches!(call.announced, Outcome::Returned | Outcome::Succeeded) || std::thread::panicking()
    {
        return false;
    }
    let Some((lane, activation)) = recorder::joined_lane().zip(call.on_stack) else { return false };
    cached(lane, call.cell).is_some_and(|cached| {
        method_profilers::end_known(&lane.profilers, activation, cached.observers()).is_some()
    })
}

/// Begins a call of which only the number and the profilers' results at its end are recorded.
/// Returns the frame for every other call.
#[inline(never)]
pub(super) fn enter<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    seen: &Seen<'_>,
) -> Result<Entered<'f>, &'f mut Frame> {
    // That a thread unwinds is remembered in the frame of another kind of call.
    let lane =
        recorder::joined_lane().filter(|lane| lane.level() == 0 && !std::thread::panicking());
    let Some(lane) = lane else { return Err(frame) };
    let number = site.id.load(Relaxed);
    let observers = match cached(lane, site.cell.load(Relaxed)) {
        Some(cached) => Some(cached.observers())
            .filter(|observers| observers.are_about((seen.receiver.word, seen.kind))),
        None => find(site, lane, seen.counters, arm::settled()),
    };
    match observers
        .and_then(|observers| Some((Observed::begin(lane, number, observers)?, observers.row)))
    {
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
    fn begin(lane: &Lane, number: u32, observers: CachedObservers) -> Option<Self> {
        if observers.profilers.is_null() {
            // SAFETY: it is a tree, as there are no profilers, and trees are never freed.
            let tree: &'static Tree = unsafe { observers.tree.cast::<Tree>().as_ref() }?;
            return Some(Observed::Around(tree.enter(number)));
        }
        let known = method_profilers::begin_known(&lane.profilers, observers, number);
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
    let call = LightCall {
        around,
        row,
        on_stack,
        cell: site.cell.load(Relaxed),
        announced: Outcome::Returned,
    };
    // SAFETY: the frame has room for it, and is borrowed as long as the entered call.
    let call =
        unsafe { &mut *std::ptr::from_mut(frame).cast::<MaybeUninit<LightCall>>() }.write(call);
    let marked = std::ptr::from_mut(call).cast::<u8>().map_addr(|address| address | MARK);
    // SAFETY: `adapter` ends the call by this pointer.
    unsafe { Entered::from_raw(marked) }
}

/// Finds the observers of a site and caches them. `None`: it has no light calls, or they must be
/// counted in another way.
#[cold]
#[inline(never)]
fn find(
    site: &'static Site,
    lane: &'static Lane,
    counters: *const Counters,
    who: u64,
) -> Option<CachedObservers> {
    let number = site.id.load(Relaxed);
    let observers = match alone_at(number) {
        Some(tree) => {
            CachedObservers { tree: std::ptr::from_ref(tree).cast(), ..CachedObservers::NONE }
        }
        None => method_profilers::observers_at_end(number)?,
    };
    let row = arm::recorded_row(site, lane).ok()?.map_or(null_mut(), Counter::marked);
    let _busy = Busy::unless_busy(lane)?;
    let observers = CachedObservers { row, ..observers };
    lane.cells.cache_observers(counters, site, who, observers);
    Some(observers)
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
        // SAFETY: only `enter` marks an address so, and its frame is there until the call has
        // ended.
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
            None => go_to_context(&recorder::own_lane().profilers, self.around),
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
