//! The first half of a hook: an event begins.
//!
//! One word (`About`) holds the properties of an event that a frame remembers: epoch, kind, log,
//! level and flags. With a struct of small fields, the processor waits for a wide load of narrow
//! stores, which alone cost 15 ns a call.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::clock;
use crate::event::{EventId, Outcome};
use crate::format::slot::{self, DETAIL_MAX, Mark, START_MAX};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, high, join, low, superblock as sb};
use crate::recorder::blocks::commit;
use crate::recorder::busy::Busy;
use crate::recorder::count::lost;
use crate::recorder::epoch::EPOCH;
use crate::recorder::lane::{self, Lane};
use crate::recorder::log::current;
use crate::subject::Subject;

/// The data of a begun event that its end needs. An id of 0 means that there is nothing to end.
///
/// Words only: a struct of smaller fields would be written piece by piece and read whole, and the
/// processor waits for that twice a call.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The event's id, or [`COUNTED`] or [`LOST`]: a call that has no event.
    pub id: u64,
    /// The event that the thread was in before.
    pub before: u64,
    /// The tick at which it began.
    pub start: u64,
    /// The rest.
    pub about: About,
}

/// Epoch 32 bits | flags of the slot without details 22 (kind, outcome, level, timed) | number of
/// the log 8 | two bits for guards.
#[derive(Clone, Copy, Debug)]
pub struct About(pub u64);

impl About {
    /// The first bit of the log's number.
    const LOG_AT: u32 = 54;
    /// A panic was under way when the call began.
    pub const PANICKING: u64 = 1 << 62;
    /// Handlers or details look inside the call.
    pub const LOOKED_INTO: u64 = 1 << 63;

    /// The properties that all events of a lane share.
    #[inline]
    pub const fn of_lane(epoch: u32, log: u8, level: u8) -> Self {
        About(join(epoch, slot::flags_at_level(level) as u32) | (log as u64) << Self::LOG_AT)
    }

    /// A running event with this last word.
    pub(super) fn of_event(epoch: u32, log: u8, last: u64) -> Self {
        About(join(epoch, slot::without_details(last) as u32) | (log as u64) << Self::LOG_AT)
    }

    #[inline(always)]
    pub(super) fn new(lane: &Lane, kind: u16, timed: bool) -> Self {
        About(lane.about.load(Relaxed) | join(0, slot::flags(kind, timed) as u32))
    }

    /// True if it has the epoch and the log of a block, or of another call.
    #[inline(always)]
    pub const fn is_of_block(self, block: About) -> bool {
        self.epoch() == block.epoch() && self.log() == block.log()
    }

    /// The flags of the slot in the low bits, without details.
    #[inline(always)]
    const fn slot_flags(self) -> u64 {
        high(self.0) as u64
    }

    /// The same call, counted in another epoch than the lane's block.
    #[inline(always)]
    pub(super) fn in_epoch(self, epoch: u32) -> Self {
        About(join(epoch, high(self.0)))
    }

    /// The epoch in which it began.
    #[inline(always)]
    pub const fn epoch(self) -> u32 {
        low(self.0)
    }

    /// The subject's kind.
    #[inline(always)]
    pub const fn kind(self) -> u16 {
        slot::kind(self.slot_flags())
    }

    /// The log's number.
    #[inline(always)]
    pub const fn log(self) -> u8 {
        (self.0 >> Self::LOG_AT) as u8
    }

    /// Its outcome, if it is known already.
    #[inline(always)]
    pub const fn outcome(self) -> Outcome {
        slot::outcome(self.slot_flags())
    }

    /// Says how it will have ended.
    #[inline(always)]
    pub const fn with_outcome(self, outcome: Outcome) -> Self {
        About(join(low(self.0), slot::with_outcome(self.slot_flags(), outcome) as u32))
    }

    /// The meta level.
    #[inline(always)]
    pub const fn level(self) -> u8 {
        slot::level(self.slot_flags())
    }

    /// True if its time is measured.
    #[inline(always)]
    pub const fn timed(self) -> bool {
        slot::is_timed(self.slot_flags())
    }

    /// True if a flag of a guard is set.
    #[inline(always)]
    pub const fn is(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    /// The low bits of word 3 of its slot, with this outcome and these details.
    #[inline(always)]
    pub const fn flags(self, outcome: Outcome, details: u8) -> u64 {
        let flags = slot::without_details(self.slot_flags());
        slot::with_details(slot::with_outcome(flags, outcome), details)
    }
}

/// The call was counted and is no event: tally mode.
pub const COUNTED: u64 = u64::MAX;
/// The call was counted because no block was ready.
pub const LOST: u64 = u64::MAX - 1;

impl Begun {
    pub const NOTHING: Begun = Begun { id: 0, before: 0, start: 0, about: About(0) };

    /// The event, if there is one.
    #[inline(always)]
    pub fn event(&self) -> Option<EventId> {
        EventId::from_raw(self.id).filter(|id| id.raw() < LOST)
    }
}

/// Begins an event, if this is the common case: a slot is left, and the epoch is the same.
///
/// Nothing is called here, so that the common case saves no registers. `None`: nothing was begun.
#[inline(always)]
pub fn begin_at_once(lane: &Lane, site: u32, subject: Subject, timed: bool) -> Option<Begun> {
    if lane.gate.is_busy() {
        return None;
    }
    let busy = Busy::of(lane);
    let id = lane.next.load(Relaxed);
    let now = if timed { clock::counter()? } else { lane.seen() };
    let start = now.wrapping_sub(lane.base.load(Relaxed));
    let stale = EPOCH.load(Relaxed) != lane.about.load(Relaxed) as u32;
    if (id as usize).is_multiple_of(BLOCK_SLOTS) || stale || start > START_MAX {
        return None;
    }
    let begun = put(lane, id, site, subject, timed, now, start);
    drop(busy);
    Some(begun)
}

/// Writes an event that has a slot.
#[inline(always)]
fn put(
    lane: &Lane,
    id: u64,
    site: u32,
    subject: Subject,
    timed: bool,
    now: u64,
    start: u64,
) -> Begun {
    let about = About::new(lane, subject.kind.0, timed);
    write(lane, id, site, subject.key, start, slot::flags(subject.kind.0, timed));
    lane.note(now);
    lane.next.store(id + 1, Relaxed);
    Begun { id, before: enter(lane, id), start: now, about }
}

/// Begins an event, timed or not.
pub fn begin(site: u32, subject: Subject, timed: bool) -> Begun {
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return Begun::NOTHING };
    let mut id = lane.next.load(Relaxed);
    let now = if timed { clock::now() } else { lane.seen() };
    let mut start = now.wrapping_sub(lane.base.load(Relaxed));
    // One branch for all that is rare: no slot left, a new epoch, a start out of range.
    let stale = EPOCH.load(Relaxed) != lane.about.load(Relaxed) as u32;
    if (id as usize).is_multiple_of(BLOCK_SLOTS) || stale || start > START_MAX {
        match room(lane, 1, now, stale) {
            Some((next, from_base)) => (id, start) = (next, from_base),
            None => return lost(lane, site, subject),
        }
    }
    put(lane, id, site, subject, timed, now, start)
}

/// Writes an event that has no length, and that is never the current event of a thread. Without a
/// cause, the current event of the thread is its cause; without an outcome it runs until
/// [`end_point`](crate::recorder::end_point) gives one.
#[inline(always)]
pub fn point(
    site: u32,
    subject: Subject,
    cause: Option<EventId>,
    outcome: Option<Outcome>,
) -> Begun {
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return Begun::NOTHING };
    let mut id = lane.next.load(Relaxed);
    let now = clock::now();
    let mut start = now.wrapping_sub(lane.base.load(Relaxed));
    let stale = EPOCH.load(Relaxed) != lane.about.load(Relaxed) as u32;
    if (id as usize).is_multiple_of(BLOCK_SLOTS) || stale || start > START_MAX {
        match room(lane, 1, now, stale) {
            Some((next, from_base)) => (id, start) = (next, from_base),
            None => return lost(lane, site, subject),
        }
    }
    let before = lane.current.load(Relaxed);
    // The end of a point is not read from the clock, so only an instant counts as timed.
    let about = About::new(lane, subject.kind.0, outcome.is_some());
    let last = match outcome {
        Some(outcome) => slot::ended(0, about.flags(outcome, 0)),
        None => lane.running.load(Relaxed) | about.flags(Outcome::Running, 0),
    };
    write_as(lane, id, site, subject.key, start, cause.map_or(before, EventId::raw), last);
    lane.note(now);
    lane.next.store(id + 1, Relaxed);
    Begun { id, before, start: now, about }
}

/// Begins an event with details known at its start.
#[cold]
pub fn begin_detailed(site: u32, subject: Subject, details: &[u8]) -> Begun {
    if details.is_empty() {
        return begin(site, subject, true);
    }
    let details = &details[..details.len().min(DETAIL_MAX)];
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return Begun::NOTHING };
    let now = clock::now();
    let slots = 1 + slot::detail_slots(details.len());
    let Some((id, start)) = room(lane, slots, now, false) else { return lost(lane, site, subject) };
    put_detail(lane, id + 1, id, details);
    let about = About::new(lane, subject.kind.0, true);
    write(lane, id, site, subject.key, start, about.flags(Outcome::Running, 1));
    lane.note(now);
    lane.next.store(id + slots as u64, Relaxed);
    Begun { id, before: enter(lane, id), start: now, about }
}

/// True if the next sampled call of this lane is timed: one in `n`, at random, so that no rhythm of
/// the program decides which.
#[inline(always)]
pub fn is_timed(lane: &Lane, n: u32) -> bool {
    let timed = !is_next_untimed(lane);
    if timed {
        choose_timed(lane, n);
    }
    timed
}

/// True if the next sampled call of this lane is not timed. After that it is the one before.
#[inline(always)]
pub fn is_next_untimed(lane: &Lane) -> bool {
    let left = lane.untimed.load(Relaxed);
    if left != 0 {
        lane.untimed.store(left - 1, Relaxed);
    }
    left != 0
}

/// Chooses the sampled call of this lane that is timed next.
#[inline]
pub fn choose_timed(lane: &Lane, n: u32) {
    // Between 0 and 2 n - 2 alike: n - 1 in the mean.
    lane.untimed.store(((lane.roll() >> 32) * (2 * u64::from(n) - 1)) >> 32, Relaxed);
}

/// Writes a mark and returns its place, as an event's id would: `None` if no block was ready, which
/// is counted.
#[inline]
pub fn mark(mark: Mark, event: u64, words: [u64; 2], details: &[u8]) -> Option<u64> {
    mark_at(clock::now(), mark, event, words, details)
}

/// As [`mark`], at a time that was read before: marks of an event's end are looked for in the
/// blocks of that time.
pub fn mark_at(now: u64, mark: Mark, event: u64, words: [u64; 2], details: &[u8]) -> Option<u64> {
    let lane = lane::own_lane();
    let _busy = Busy::enter(lane)?;
    let details = &details[..details.len().min(DETAIL_MAX)];
    let slots = if mark == Mark::Detail { slot::detail_slots(details.len()) } else { 1 };
    let Some((id, start)) = room(lane, slots, now, false) else {
        if let Some(log) = current() {
            log.count(sb::MARKS_LOST, 1);
        }
        return None;
    };
    if mark == Mark::Detail {
        put_detail(lane, id, event, details);
    } else {
        let cells = slot_cells(lane, id);
        cells[1].store(event, Relaxed);
        cells[2].store(words[0], Relaxed);
        cells[3].store(words[1], Relaxed);
        cells[0].store(commit(start, mark as u32, lane.lap.load(Relaxed) as u8), Release);
    }
    lane.next.store(id + slots as u64, Relaxed);
    Some(id)
}

/// Writes an event into its slot; the commit word comes last.
#[inline(always)]
fn write(lane: &Lane, id: u64, site: u32, key: u64, start: u64, flags: u64) {
    let cause = lane.current.load(Relaxed);
    let running = lane.running.load(Relaxed);
    write_as(lane, id, site, key, start, cause, running | flags);
}

#[inline(always)]
fn write_as(lane: &Lane, id: u64, site: u32, key: u64, start: u64, cause: u64, last: u64) {
    let cells = slot_cells(lane, id);
    cells[1].store(cause, Relaxed);
    cells[2].store(key, Relaxed);
    cells[3].store(last, Relaxed);
    cells[0].store(commit(start, site, lane.lap.load(Relaxed) as u8), Release);
}

/// Makes `id` the event that this thread is in, and returns the one before.
#[inline(always)]
fn enter(lane: &Lane, id: u64) -> u64 {
    // Not `swap`: that would lock the bus for a word that no other thread touches.
    let before = lane.current.load(Relaxed);
    lane.current.store(id, Relaxed);
    before
}

/// The slots of the block that the lane fills.
pub(super) fn block_cells(lane: &Lane) -> &[[AtomicU64; SLOT_WORDS]; BLOCK_SLOTS] {
    let block = lane.block.load(Relaxed) as *const [[AtomicU64; SLOT_WORDS]; BLOCK_SLOTS];
    // SAFETY: as below.
    unsafe { &*block }
}

/// The words of a slot in the block that the lane fills.
#[inline(always)]
pub(super) fn slot_cells(lane: &Lane, id: u64) -> &[AtomicU64; SLOT_WORDS] {
    let block = lane.block.load(Relaxed) as *const [AtomicU64; SLOT_WORDS];
    // SAFETY: the lane holds a block of `BLOCK_SLOTS` slots in a recording that is never unmapped;
    // every access to it is atomic.
    unsafe { &*block.add(id as usize % BLOCK_SLOTS) }
}

/// Makes room for `slots` slots: the next id, and `now` in ticks since the block's base.
#[cold]
#[inline(never)]
fn room(lane: &Lane, slots: usize, now: u64, stale: bool) -> Option<(u64, u64)> {
    let id = lane.next.load(Relaxed);
    let used = id as usize % BLOCK_SLOTS;
    let base = lane.base.load(Relaxed);
    let stale = stale || EPOCH.load(Acquire) != lane.about.load(Relaxed) as u32;
    let behind = used != 0 && now < base;
    if used == 0 || used + slots > BLOCK_SLOTS || stale || (!behind && now - base > START_MAX) {
        return lane
            .turn(if now == 0 { clock::now() } else { now })
            .then(|| (lane.next.load(Relaxed), 0));
    }
    if behind {
        // Another core's counter is behind: the start counts as the block's base.
        if let Some(log) = current() {
            log.count(sb::CLOCK_BEHIND, 1);
        }
    }
    Some((id, now.saturating_sub(base)))
}

/// Puts a detail mark into the slots from `at` on; its own commit word comes last.
fn put_detail(lane: &Lane, at: u64, event: u64, details: &[u8]) {
    let slots = slot::detail_slots(details.len());
    let mut bytes = details.chunks(8);
    let first = slot_cells(lane, at);
    first[1].store(event, Relaxed);
    let mut fill = |cells: &[AtomicU64]| {
        for cell in cells {
            let mut word = [0; 8];
            if let Some(chunk) = bytes.next() {
                word[..chunk.len()].copy_from_slice(chunk);
            }
            cell.store(u64::from_le_bytes(word), Relaxed);
        }
    };
    fill(&first[2..]);
    for slot in 1..slots as u64 {
        fill(slot_cells(lane, at + slot));
    }
    first[0].store(
        commit(details.len() as u64, Mark::Detail as u32, lane.lap.load(Relaxed) as u8),
        Release,
    );
}
