//! Lean events that still run when their lane leaves their block.

use std::alloc::Layout;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use metaspy_probe::Lean;

use crate::format::slot::{self, FIRST_MARK, Mark};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS};
use crate::platform::own_pages;
use crate::recorder::begin::{About, Begun, block_cells};
use crate::recorder::lane::Lane;

/// Events that run on at most. A thread that may have more begins no further lean events.
const MOST: usize = 1024;

/// What ends an event that is lean no more.
#[derive(Clone, Copy)]
pub(crate) struct RunsOn {
    pub begun: Begun,
    pub site: u32,
    pub key: u64,
}

impl RunsOn {
    /// A lean event in the block that the lane holds. From now on it is an event as others are.
    pub fn of(lane: &Lane, id: u64, cells: &[AtomicU64; SLOT_WORDS]) -> Self {
        let [commit, before, key, last] = cells.each_ref().map(|cell| cell.load(Relaxed));
        cells[3].store(slot::let_go(last), Relaxed);
        let of_lane = About(lane.about.load(Relaxed));
        let about = About::of_event(of_lane.epoch(), of_lane.log(), last);
        let start = lane.base.load(Relaxed) + slot::start(commit);
        RunsOn { begun: Begun { id, before, start, about }, site: slot::site(commit), key }
    }

    fn is(&self, lean: Lean) -> bool {
        self.begun.id == lean.id() && self.begun.about.log() == lean.log()
    }
}

/// The list of these events, oldest first. Only its thread reads and writes it, and only while its lane is busy.
///
/// The system gives the memory, because a hook must not call the allocator of the program for every deep recursion.
pub(crate) struct RunningOn {
    /// Null without memory.
    first: AtomicPtr<RunsOn>,
    length: AtomicUsize,
}

const LAYOUT: Layout = match Layout::array::<RunsOn>(MOST) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

impl RunningOn {
    pub const fn none() -> Self {
        RunningOn { first: AtomicPtr::new(std::ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    /// True if there is room for all events of a block.
    pub fn has_room(&self) -> bool {
        if self.first.load(Relaxed).is_null() {
            let first = own_pages::take(LAYOUT);
            if first.is_null() {
                return false;
            }
            self.first.store(first.cast(), Relaxed);
        }
        self.length.load(Relaxed) + BLOCK_SLOTS <= MOST
    }

    /// Moves the lean events that run in the block of this lane into the list.
    pub fn add_all(&self, lane: &Lane) {
        let block = block_cells(lane);
        // Most often none runs, which is seen without looking at each slot.
        let together = block[1..].iter().fold(0, |words, cells| words | cells[3].load(Relaxed));
        if !slot::is_running(together) {
            return;
        }
        let (sequence, lap) = (lane.sequence.load(Relaxed), lane.lap.load(Relaxed) as u8);
        let mut at = 1;
        while let Some(cells) = block.get(at) {
            let commit = cells[0].load(Relaxed);
            if slot::lap(commit) != lap {
                break;
            }
            let site = slot::site(commit);
            if site == Mark::Detail as u32 {
                at += slot::detail_slots(slot::start(commit) as usize);
                continue;
            }
            if site < FIRST_MARK && slot::is_held_in(cells[3].load(Relaxed), sequence) {
                self.push(RunsOn::of(lane, sequence * BLOCK_SLOTS as u64 + at as u64, cells));
            }
            at += 1;
        }
    }

    fn push(&self, event: RunsOn) {
        let (first, length) = (self.first.load(Relaxed), self.length.load(Relaxed));
        if length < MOST && !first.is_null() {
            // SAFETY: the memory has room for `MOST` of them, and only this thread uses it.
            unsafe { first.add(length).write(event) };
            self.length.store(length + 1, Relaxed);
        }
    }

    /// Takes an event out. Most often it is the last one.
    pub fn take(&self, lean: Lean) -> Option<RunsOn> {
        let (first, length) = (self.first.load(Relaxed), self.length.load(Relaxed));
        if length == 0 {
            return None;
        }
        // SAFETY: that many were written, and only this thread uses them.
        let all = unsafe { std::slice::from_raw_parts_mut(first, length) };
        let at = all.iter().rposition(|event| event.is(lean))?;
        let taken = all[at];
        all.copy_within(at + 1.., at);
        self.length.store(length - 1, Relaxed);
        Some(taken)
    }

    /// Gives the memory back when the thread ends, unless a guard may still come.
    pub fn give_up(&self) {
        if self.length.load(Relaxed) != 0 {
            return;
        }
        let first = self.first.swap(std::ptr::null_mut(), Relaxed);
        if !first.is_null() {
            // SAFETY: `has_room` took it so, and nothing uses it any more.
            unsafe { own_pages::give_back(first.cast(), LAYOUT) };
        }
    }
}
