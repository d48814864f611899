//! The gate of a lane: it keeps a hook out while another one of the same thread is at work.
//!
//! While events may begin at once, the gate is the epoch. One comparison then covers a hook at
//! work, a new epoch and a full list, instead of tests of a busy byte, an epoch and a clock range
//! one after another.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, compiler_fence};

use crate::format::superblock as sb;
use crate::recorder::lane::Lane;
use crate::recorder::log::current;

/// A hook is at work.
const BUSY: u64 = u64::MAX;
/// No hook is at work, and no event begins without further tests.
const NARROW: u64 = u64::MAX - 1;

/// Whether an event may begin on a lane without further tests, in one word.
pub struct Gate {
    /// The epoch in which it may, or [`BUSY`], or [`NARROW`].
    now: AtomicU64,
    /// The same, while no hook is at work.
    at_rest: AtomicU64,
}

impl Gate {
    /// Where its words are.
    pub const NOW: usize = offset_of!(Gate, now);
    pub const AT_REST: usize = offset_of!(Gate, at_rest);

    pub const fn narrow() -> Self {
        Gate { now: AtomicU64::new(NARROW), at_rest: AtomicU64::new(NARROW) }
    }

    /// True if an event of this epoch may begin without further tests.
    #[inline(always)]
    pub fn is_open(&self, epoch: u32) -> bool {
        self.now.load(Relaxed) == u64::from(epoch)
    }

    /// True if a hook is at work.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.now.load(Relaxed) == BUSY
    }

    /// Events of this epoch may begin without further tests.
    #[inline]
    pub fn open(&self, epoch: u32) {
        self.rest(u64::from(epoch));
    }

    /// No event may begin without further tests.
    #[inline]
    pub(crate) fn narrow_down(&self) {
        self.rest(NARROW);
    }

    #[inline]
    fn rest(&self, at_rest: u64) {
        self.at_rest.store(at_rest, Relaxed);
        if !self.is_busy() {
            self.now.store(at_rest, Relaxed);
        }
    }
}

/// A hook at work. One that starts meanwhile (in a signal handler, an allocator, a formatter) is
/// counted by number only.
pub struct Busy<'a>(&'a Gate);

impl<'a> Busy<'a> {
    #[inline(always)]
    pub fn enter(lane: &'a Lane) -> Option<Self> {
        if lane.gate.is_busy() {
            reentrant();
            return None;
        }
        Some(Busy::of(lane))
    }

    /// Like [`Busy::enter`], for hooks that are not calls and so are not counted.
    #[inline]
    pub fn unless_busy(lane: &'a Lane) -> Option<Self> {
        (!lane.gate.is_busy()).then(|| Busy::of(lane))
    }

    /// Of a lane that is not busy.
    #[inline(always)]
    pub fn of(lane: &'a Lane) -> Self {
        lane.gate.now.store(BUSY, Relaxed);
        // A signal handler on this thread sees the gate before it sees anything half done.
        compiler_fence(SeqCst);
        Busy(&lane.gate)
    }
}

impl Drop for Busy<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        self.0.now.store(self.0.at_rest.load(Relaxed), Relaxed);
    }
}

#[cold]
#[inline(never)]
fn reentrant() {
    if let Some(log) = current() {
        log.count(sb::REENTRANT, 1);
    }
}
