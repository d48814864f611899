//! The guard of a call, which the body of an instrumented function holds.
//!
//! A call that begins while its thread unwinds is made in a frame, also where calls are only
//! counted, instead of a mark in each guard. Whether a thread unwinds is then tested once, before
//! the subject is in a register.

use core::fmt::Debug;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::null_mut;

use crate::hook::lean::{ANNOUNCED, COUNTED};
use crate::{
    Cell, Counters, Hash, Identity, Lean, Object, Outcome, Receiver, Seen, Site, Subject, Text,
    Value,
};

/// Room for a call under way: uninitialised unless the core observes it, so that any other call
/// costs nothing.
///
/// The core makes a call in its frame and never moves it, because the processor waits for a copy of
/// words that were just stored: 10 ns a call. Dropping a frame does nothing; the guard ends the
/// call.
#[repr(C, align(8))]
pub struct Frame(MaybeUninit<[u64; 8]>);

impl Frame {
    /// Empty room.
    #[inline(always)]
    pub const fn vacant() -> Self {
        Frame(MaybeUninit::uninit())
    }
}

/// A call that was entered, as one function returns it to the next: in one register, so that each
/// can end by calling the next one.
///
/// The address of its frame, or of the row that it was only counted in, or a [`Lean`] event. Frames
/// and rows are aligned, so their lowest bits distinguish the three. The next ones of a row are the
/// outcome that the call announced. A counted call that begins while its thread unwinds is always
/// made in a frame, which remembers that.
#[repr(transparent)]
#[must_use = "a guard ends it"]
pub struct Entered<'f>(*mut u8, PhantomData<&'f mut Frame>);

impl Entered<'_> {
    /// A call that is not observed after all.
    pub const NOTHING: Self = Entered(NOT_OBSERVED, PhantomData);

    /// A call without a subject, if the thread counted one at this site before and nothing has
    /// changed since. The thread does not unwind.
    #[inline(always)]
    pub fn counted(site: &'static Site) -> Option<Self> {
        unlikely();
        Counters::count_calm(site, (0, 0)).map(|begun| Entered(begun, PhantomData))
    }

    /// As [`Entered::counted`], of a call about a subject whose key is a small number.
    #[inline(always)]
    pub fn counted_about(cell: &Cell, site: &'static Site, subject: Subject) -> Option<Self> {
        cell.count_about(site, subject).map(|begun| Entered(begun, PhantomData))
    }

    /// A call that is an event and nothing else.
    #[inline(always)]
    pub const fn lean(lean: Lean) -> Self {
        Entered(lean.into_raw(), PhantomData)
    }

    /// Returns the pointer that [`Adapter::enter`](crate::Adapter::enter) returns.
    #[inline(always)]
    pub const fn into_raw(self) -> *mut u8 {
        self.0
    }

    /// Wraps a pointer that [`Adapter::enter`](crate::Adapter::enter) returned.
    ///
    /// # Safety
    /// It must come from there, or be the address of a row with the mark [`COUNTED`], and the frame
    /// that the call was made in must stay where it is.
    #[inline(always)]
    pub const unsafe fn from_raw(begun: *mut u8) -> Self {
        Entered(begun, PhantomData)
    }
}

/// A call at an armed site that is not observed: counted in no row, so that one test distinguishes
/// it from calls.
pub const NOT_OBSERVED: *mut u8 = core::ptr::without_provenance_mut(COUNTED);
/// A call, observed or not. Dropping it ends it.
#[must_use = "dropping it ends the call"]
pub struct Guard<'f> {
    begun: *mut u8,
    /// Beside the mark in `begun`: of a call that is not observed the compiler knows it, and leaves
    /// the end out.
    is_call: bool,
    site: &'static Site,
    _frame: PhantomData<&'f mut Frame>,
}

impl<'f> Guard<'f> {
    /// A call that is not observed.
    #[inline(always)]
    pub const fn unarmed(site: &'static Site) -> Self {
        Guard { begun: null_mut(), is_call: false, site, _frame: PhantomData }
    }

    /// A call that was entered.
    #[inline(always)]
    pub fn of(site: &'static Site, entered: Entered<'f>) -> Self {
        Guard {
            begun: entered.0,
            is_call: entered.0.addr() & COUNTED == 0,
            site,
            _frame: PhantomData,
        }
    }

    /// Begins a call about an object.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn begin(site: &'static Site, frame: &'f mut Frame, object: Object) -> Self {
        if !site.is_armed() {
            return Guard::unarmed(site);
        }
        unlikely();
        Guard::new(site, crate::hook::thunk::begin(site, frame, object))
    }

    /// As [`Guard::begin`], about any receiver, at a site that is armed.
    pub fn about(site: &'static Site, frame: &'f mut Frame, receiver: Receiver) -> Self {
        let kind = receiver.type_name.get().as_ptr().addr() as u64;
        let begun = Counters::count(site, (receiver.word, kind));
        Guard::new(site, begun.unwrap_or_else(|| ask(site, frame, &Seen::about(receiver, kind))))
    }

    /// Begins a call at a site that is armed, and shows its arguments.
    pub fn showing(site: &'static Site, frame: &'f mut Frame, seen: &Seen<'_>) -> Self {
        Guard::new(site, ask(site, frame, seen))
    }

    #[inline(always)]
    fn new(site: &'static Site, begun: *mut u8) -> Self {
        Guard::of(site, Entered(begun, PhantomData))
    }

    /// Returns true if the return value of the call may be recorded, or its failure counted.
    #[inline]
    pub fn is_seen(&self) -> bool {
        self.begun.addr() > COUNTED
    }

    /// Records the return value of the call. For a call that is only counted, it records whether
    /// the call failed. See [`Guard::is_seen`].
    pub fn returned(&mut self, value: &Value<'_>) {
        if !self.is_call {
            if value.failed() == Some(true) {
                self.exit(Outcome::Failed);
            }
        } else if let Some(adapter) = self.site.adapter() {
            self.begun = (adapter.returned)(self.begun, value);
        }
    }

    /// Records the return value of a call, if that is required.
    #[inline(always)]
    pub fn returns<T: Debug>(&mut self, value: &T) {
        if self.is_call {
            self.returned(&Value::printed("", value));
        }
    }

    /// Announces the outcome of an early way out that is about to be taken.
    #[inline(always)]
    pub fn exit(&mut self, outcome: Outcome) {
        if self.is_call {
            match Lean::from_raw(self.begun) {
                Some(lean) => self.begun = lean.announcing(outcome).into_raw(),
                None => announce(self.site, self.begun, outcome),
            }
        } else if !self.begun.is_null() {
            self.begun =
                self.begun.map_addr(|address| address & !ANNOUNCED | (outcome as usize) << 1);
        }
    }

    /// The normal way out.
    #[inline(always)]
    pub fn done(self, outcome: Outcome) {
        let this = ManuallyDrop::new(self);
        // A call that was only counted needs nothing more if it ended well.
        let is_well = matches!(outcome, Outcome::Returned | Outcome::Succeeded);
        if this.is_call || !is_well && !this.begun.is_null() {
            crate::hook::thunk::finish(this.begun, outcome, this.site);
        }
    }
}

impl Drop for Guard<'_> {
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    fn drop(&mut self) {
        if self.begun.is_null() {
            return;
        }
        let unwinds = is_panicking();
        // A call that was only counted needs nothing more, unless it announced an outcome or a
        // panic leaves it.
        if unwinds || self.begun.addr() & (COUNTED | ANNOUNCED) != COUNTED {
            crate::hook::thunk::leave(self.site, self.begun, unwinds);
        }
    }
}

impl Site {
    /// Counts the beginning of a call. Nothing of the call is kept, so the future that it returns
    /// is unchanged.
    #[inline]
    pub fn began(&'static self) {
        if let (true, Some(adapter)) = (self.is_armed(), self.adapter()) {
            (adapter.began)(self);
        }
    }

    /// The receiver with the key of a value; none if it cannot be hashed, or if metaspy itself is
    /// the caller.
    pub fn keyed(&self, value: *const u8, how: Option<Hash>, type_name: Text) -> Receiver {
        match (self.adapter(), how) {
            (Some(adapter), Some(hash)) => match (adapter.key)(value, hash) {
                Some(word) => Receiver { identity: Identity::Keyed, word, type_name },
                None => Receiver::NONE,
            },
            _ => Receiver::NONE,
        }
    }
}

fn ask(site: &'static Site, frame: &mut Frame, seen: &Seen<'_>) -> *mut u8 {
    site.adapter().map_or(NOT_OBSERVED, |adapter| (adapter.enter)(site, frame, seen))
}

#[cold]
#[inline(never)]
fn announce(site: &'static Site, begun: *mut u8, outcome: Outcome) {
    if let Some(adapter) = site.adapter() {
        (adapter.exit)(begun, outcome);
    }
}

/// Marks the path that contains it as rare, so that the compiler moves it out of the way of the
/// other.
#[cold]
#[inline(always)]
fn unlikely() {}

#[cfg(not(metaspy_bare))]
#[inline(always)]
pub(crate) fn is_panicking() -> bool {
    std::thread::panicking()
}

/// Without `std` only the core has the answer.
#[cfg(metaspy_bare)]
pub(crate) fn is_panicking() -> bool {
    true
}
