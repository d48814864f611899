//! Calls that still run when their lane leaves their block: the data to end the lean ones, and the
//! calls around later calls.

use std::alloc::Layout;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use metaspy_probe::Lean;

use crate::format::nesting::{Nesting, OPEN_MOST, OpenCall, Unnamed};
use crate::format::slot::{self, FIRST_MARK, Mark};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS};
use crate::platform::own_pages;
use crate::recorder::begin::{About, Begun, block_cells};
use crate::recorder::folder::Inside;
use crate::recorder::lane::Lane;
use crate::site::is_entered;

/// Maximum number of events that outlive their block. A thread that may have more begins no further
/// lean events.
const MOST: usize = 1024;

/// An event that is no longer lean: the data that its end needs.
#[derive(Clone, Copy)]
pub(crate) struct OutlivingEvent {
    pub begun: Begun,
    pub site: u32,
    pub key: u64,
}

impl OutlivingEvent {
    /// A lean event in the block that the lane holds. From now on it is an event as others are.
    pub fn of(lane: &Lane, id: u64, cells: &[AtomicU64; SLOT_WORDS]) -> Self {
        let last = cells[3].load(Relaxed);
        cells[3].store(slot::let_go(last), Relaxed);
        OutlivingEvent::read(lane, id, cells)
    }

    /// Any event in the block that the lane holds.
    fn read(lane: &Lane, id: u64, cells: &[AtomicU64; SLOT_WORDS]) -> Self {
        let [commit, before, key, last] = cells.each_ref().map(|cell| cell.load(Relaxed));
        let of_lane = About(lane.about.load(Relaxed));
        let about = About::of_event(of_lane.epoch(), of_lane.log(), last);
        let start = lane.base.load(Relaxed) + slot::start(commit);
        OutlivingEvent { begun: Begun { id, before, start, about }, site: slot::site(commit), key }
    }

    fn is_event(&self, id: u64, log: u8) -> bool {
        self.begun.id == id && self.begun.about.log() == log
    }

    fn open_call(&self) -> OpenCall {
        let Begun { id, about, .. } = self.begun;
        OpenCall { id, key: self.key, site: self.site, kind: about.kind(), is_end_marked: true }
    }
}

/// The calls that a new block names, the outermost one first.
pub(crate) struct OpenCalls {
    pub calls: [OpenCall; OPEN_MOST],
    pub count: usize,
    pub unnamed: Unnamed,
}

/// Sites whose outermost call is named in any case, if there are too many open calls.
const SITES_MOST: usize = OPEN_MOST / 2;

/// The list of these events, oldest first. Only its thread reads and writes it, and only while its
/// lane is busy.
///
/// The system gives the memory, because a hook must not call the allocator of the program for every
/// deep recursion.
pub struct OutlivingEvents {
    /// Null without memory.
    first: AtomicPtr<OutlivingEvent>,
    length: AtomicUsize,
}

const LAYOUT: Layout = match Layout::array::<OutlivingEvent>(MOST) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

impl OutlivingEvents {
    pub const fn none() -> Self {
        OutlivingEvents { first: AtomicPtr::new(std::ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    /// True if no call runs on.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length.load(Relaxed) == 0
    }

    /// True if there is room for all events of a block.
    #[inline]
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

    /// Moves the calls that run in the block of this lane into the list: all lean ones, and those
    /// that later calls may be inside of. Only calls are both timed and neither entered nor left,
    /// and their guards stay on their thread, so a running call is around all later ones, whatever
    /// causes are named.
    pub fn add_all(&self, lane: &Lane) {
        let block = block_cells(lane);
        // Most often none runs, which is seen without looking at each slot.
        let together = block[1..].iter().fold(0, |words, cells| words | cells[3].load(Relaxed));
        if !slot::is_running(together) {
            return;
        }
        let sequence = lane.sequence.load(Relaxed);
        let lap = lane.lap.load(Relaxed) as u8;
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
            let id = sequence * BLOCK_SLOTS as u64 + at as u64;
            let last = cells[3].load(Relaxed);
            if site < FIRST_MARK && slot::is_held_in(last, sequence) {
                self.push(OutlivingEvent::of(lane, id, cells));
            } else if site < FIRST_MARK
                && slot::is_timed(last)
                && slot::is_running_in(last, sequence)
                && !is_entered(site)
            {
                self.push(OutlivingEvent::read(lane, id, cells));
            }
            at += 1;
        }
    }

    /// The timed calls of a recording, for the block that the lane goes on in.
    pub(super) fn open_calls(&self, log: u8) -> OpenCalls {
        let mut open = OpenCalls {
            calls: [OpenCall::default(); OPEN_MOST],
            count: 0,
            unnamed: Unnamed::default(),
        };
        let is_open =
            |event: &&OutlivingEvent| event.begun.about.log() == log && event.begun.about.timed();
        let calls = || self.all().iter().filter(is_open).map(OutlivingEvent::open_call);
        let all = calls().take(OPEN_MOST + 1).count();
        if all > OPEN_MOST {
            // The outermost call of each site and the innermost calls are enough in most cases to
            // know the calls around later ones.
            open.unnamed.subjects = true;
            for call in calls() {
                let named = &open.calls[..open.count];
                if named.iter().any(|it| it.site == call.site) {
                    continue;
                }
                if open.count == SITES_MOST {
                    open.unnamed.sites = true;
                    break;
                }
                open.add(call);
            }
        }
        let first = open.count;
        for call in calls().rev() {
            if open.count == OPEN_MOST {
                break;
            }
            if !open.calls[..first].iter().any(|it| it.id == call.id) {
                open.add(call);
            }
        }
        open.calls[..open.count].sort_unstable_by_key(|call| call.id);
        open
    }

    /// The calls around one that began in an earlier block of this lane, and has ended.
    pub(super) fn inside(&self, begun: &Begun, site: u32, key: u64) -> Inside {
        let mut nesting = Nesting::new();
        let is_around = |event: &&OutlivingEvent| {
            event.begun.about.log() == begun.about.log()
                && event.begun.about.timed()
                && event.begun.id < begun.id
        };
        for event in self.all().iter().filter(is_around) {
            nesting.enter(event.open_call(), u64::MAX);
        }
        Inside::of(&nesting, site, begun.about.kind(), key)
    }

    /// Takes out the calls of an earlier log with this number.
    pub fn forget(&self, log: u8) {
        while let Some(event) = self.all().iter().find(|event| event.begun.about.log() == log) {
            self.take_event(event.begun.id, log);
        }
    }

    /// Takes out a call that is not lean.
    pub fn leave(&self, begun: &Begun) {
        self.take_event(begun.id, begun.about.log());
    }

    fn all(&self) -> &[OutlivingEvent] {
        match self.length.load(Relaxed) {
            0 => &[],
            // SAFETY: that many were written, and only this thread uses them.
            length => unsafe { std::slice::from_raw_parts(self.first.load(Relaxed), length) },
        }
    }

    fn push(&self, event: OutlivingEvent) {
        let first = self.first.load(Relaxed);
        let length = self.length.load(Relaxed);
        if length < MOST && !first.is_null() {
            // SAFETY: the memory has room for `MOST` of them, and only this thread uses it.
            unsafe { first.add(length).write(event) };
            self.length.store(length + 1, Relaxed);
        }
    }

    /// Takes an event out. Most often it is the last one.
    pub(super) fn take(&self, lean: Lean) -> Option<OutlivingEvent> {
        self.take_event(lean.id(), lean.log())
    }

    fn take_event(&self, id: u64, log: u8) -> Option<OutlivingEvent> {
        let first = self.first.load(Relaxed);
        let length = self.length.load(Relaxed);
        if length == 0 {
            return None;
        }
        // SAFETY: that many were written, and only this thread uses them.
        let all = unsafe { std::slice::from_raw_parts_mut(first, length) };
        let at = all.iter().rposition(|event| event.is_event(id, log))?;
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

impl OpenCalls {
    fn add(&mut self, call: OpenCall) {
        self.calls[self.count] = call;
        self.count += 1;
    }
}

/// True if the block of the lane names this call among those that were open when the lane took it.
pub(super) fn is_named(lane: &Lane, id: u64) -> bool {
    if lane.sequence.load(Relaxed) == 0 {
        return false;
    }
    let lap = lane.lap.load(Relaxed) as u8;
    let is_mark = |commit| slot::lap(commit) == lap && slot::site(commit) == Mark::Open as u32;
    let mut marks =
        block_cells(lane)[1..].iter().take_while(|cells| is_mark(cells[0].load(Relaxed)));
    marks.any(|cells| cells[1].load(Relaxed) == id)
}
