//! Lean events: all that their guard holds is one word, and their slot has the rest.
//!
//! An event is lean if its cause is the event that its thread was in before, and no handler or
//! detail looks into it. While its lane holds the block, the end finds start, kind, level and the
//! event before in the slot. When the lane leaves the block, it moves the events that still run
//! into [`OutlivingEvents`](crate::recorder::outliving_events::OutlivingEvents), and they end as
//! others do.
//!
//! The word has the log, the id and marks. The frame has no copy of the rest, because most events
//! end in the block that their lane fills, and a copy costs seven stores a call. Calls with
//! handlers, details or method profilers keep a frame.

use std::sync::atomic::Ordering::{Relaxed, Release};

use metaspy_probe::Lean;

use crate::clock;
use crate::event::Outcome;
use crate::format::BLOCK_SLOTS;
use crate::format::slot::{self, START_MAX};
use crate::recorder::begin::slot_cells;
use crate::recorder::busy::Busy;
use crate::recorder::end::end_at;
use crate::recorder::epoch::EPOCH;
use crate::recorder::lane::{self, Lane};
use crate::recorder::outliving_events::OutlivingEvent;
use crate::subject::Subject;

/// Begins an event, if this is the common case: a slot is left, the epoch is the same, and one
/// instruction reads the clock.
///
/// Nothing is called here, so that the common case saves no registers. `None`: nothing was begun.
#[inline(always)]
pub fn begin_lean<const TIMED: bool>(lane: &Lane, site: u32, subject: Subject) -> Option<Lean> {
    let epoch = EPOCH.load(Relaxed);
    if cfg!(not(target_pointer_width = "64")) || !lane.gate.is_open(epoch) {
        return None;
    }
    let busy = Busy::of(lane);
    let stamp = if TIMED { stamp(lane)? } else { lane.stamp.load(Relaxed) };
    // Not before the clock, whose instruction needs two registers.
    let id = lane.next.load(Relaxed);
    if (id as usize).is_multiple_of(BLOCK_SLOTS) {
        return None;
    }
    let cells = slot_cells(lane, id);
    let flags = slot::held(slot::flags(subject.kind.0, TIMED));
    cells[1].store(lane.current.load(Relaxed), Relaxed);
    cells[2].store(subject.key, Relaxed);
    cells[3].store(lane.running.load(Relaxed) | flags, Relaxed);
    cells[0].store(slot::commit(stamp, site), Release);
    lane.next.store(id + 1, Relaxed);
    lane.current.store(id, Relaxed);
    drop(busy);
    Some(Lean::new(lane.common.load(Relaxed), id, TIMED))
}

/// The time, as word 0 of a slot has it.
#[inline(always)]
fn stamp(lane: &Lane) -> Option<u64> {
    let start = clock::counter()?.wrapping_sub(lane.base.load(Relaxed));
    if start > START_MAX {
        return None;
    }
    let stamp = slot::stamp(start, lane.lap.load(Relaxed));
    lane.stamp.store(stamp, Relaxed);
    Some(stamp)
}

/// Ends an event of this thread, and puts the thread back into the event before it.
///
/// Whatever is not the common case is handed on at once and as a whole.
#[inline(always)]
pub fn end_lean(lean: Lean, outcome: Outcome) {
    // It began on this thread, which has a lane since then.
    let Some(lane) = lane::joined_lane() else { return };
    if lean.is_timed() {
        end_as::<true>(lane, lean, outcome)
    } else {
        end_as::<false>(lane, lean, outcome)
    }
}

#[inline(always)]
fn end_as<const TIMED: bool>(lane: &Lane, lean: Lean, outcome: Outcome) {
    // Read first, so that the hook's own work is not in the event's time.
    let now = if TIMED { clock::counter() } else { Some(0) };
    let Some(now) = now else { return end_slowly(lean, outcome, 0) };
    // No hook is at work: one that is has refused the calls within it, and they have no event to
    // end.
    let busy = Busy::of(lane);
    if lean.block() != lane.held.load(Relaxed) || lean.id() != lane.current.load(Relaxed) {
        drop(busy);
        return end_slowly(lean, outcome, now);
    }
    let cells = slot_cells(lane, lean.id());
    let mut span = 0;
    if TIMED {
        let since = now.wrapping_sub(lane.base.load(Relaxed));
        span = since.wrapping_sub(slot::start(cells[0].load(Relaxed)));
        // Out of range, or another core's counter is behind.
        if (since | span) > START_MAX {
            drop(busy);
            return end_slowly(lean, outcome, now);
        }
        lane.stamp.store(slot::stamp(since, lane.lap.load(Relaxed)), Relaxed);
    }
    // While a lane holds a block, no other thread writes to its slots, and the lane leaves no block
    // while it is busy.
    cells[3].store(slot::ended_as(cells[3].load(Relaxed), span, outcome), Release);
    lane.current.store(cells[1].load(Relaxed), Relaxed);
}

/// Ends an event out of order, or by a slower clock, or one that runs on since its lane left the
/// block.
#[cold]
#[inline(never)]
pub fn end_slowly(lean: Lean, outcome: Outcome, now: u64) {
    let lane = lane::own_lane();
    let taken = Busy::enter(lane).and_then(|_busy| take(lane, lean));
    // Those of a log that was closed meanwhile are not found: it is not touched again.
    let Some(OutlivingEvent { begun, site, key }) = taken else {
        return lane.leave_earlier(lean.id(), lean.log(), None);
    };
    let now = if lean.is_timed() && now == 0 { clock::now() } else { now };
    end_at(now, &begun, site, key, outcome, false);
}

/// Takes the data to end an event that is no longer lean.
fn take(lane: &Lane, lean: Lean) -> Option<OutlivingEvent> {
    if lean.block() != lane.held.load(Relaxed) {
        return lane.outliving.take(lean);
    }
    let cells = slot_cells(lane, lean.id());
    let last = cells[3].load(Relaxed);
    if !slot::is_held_in(last, lane.sequence.load(Relaxed)) {
        return None;
    }
    Some(OutlivingEvent::of(lane, lean.id(), cells))
}
