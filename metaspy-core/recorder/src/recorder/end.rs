//! The second half of a hook: an event ends, on whichever thread.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::clock;
use crate::event::Outcome;
use crate::format::slot::{self, Mark, SPAN_MAX};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, header, row, superblock as sb};
use crate::recorder::begin::{About, Begun, COUNTED, LOST, mark};
use crate::recorder::busy::Busy;
use crate::recorder::folder::Inside;
use crate::recorder::lane::{self, Lane, NO_ROW};
use crate::recorder::log::{Log, current, log_of};
use crate::recorder::outliving_events;
use crate::recorder::protocol::end_elsewhere;
use crate::site::is_entered;

/// Ends an event of this thread, and puts the thread back into the event before it.
///
/// `now` is read first, so that the hook's own work is not in the event's time. Whatever is not the
/// common case is handed on at once and as a whole, so that the common one saves no registers.
#[inline(always)]
pub fn end(lane: &Lane, begun: &Begun, site: u32, key: u64, outcome: Outcome) {
    let timed = begun.about.timed();
    let now = if timed { clock::counter() } else { Some(0) };
    let Some(now) = now else { return end_marked(begun, site, key, outcome, false) };
    let span = if timed { now.saturating_sub(begun.start) } else { 0 };
    let busy = Busy::unless_busy(lane);
    if !lane.holds(begun) || span > SPAN_MAX || lane.current.load(Relaxed) != begun.id {
        drop(busy);
        return end_at(now, begun, site, key, outcome, false);
    }
    if timed {
        lane.note(now);
    }
    slot_of(lane, begun)[3].store(slot::ended(span, begun.about.flags(outcome, 0)), Release);
    lane.current.store(begun.before, Relaxed);
}

/// Says how an event without a length went. The clock is not read: it has none.
#[inline(always)]
pub fn end_point(begun: &Begun, site: u32, key: u64, outcome: Outcome) {
    let lane = lane::own_lane();
    let busy = Busy::unless_busy(lane);
    if begun.id < LOST && lane.holds(begun) {
        slot_of(lane, begun)[3].store(slot::ended(0, begun.about.flags(outcome, 0)), Release);
    } else {
        drop(busy);
        end_point_elsewhere(begun, site, key, outcome);
    }
}

#[cold]
#[inline(never)]
fn end_point_elsewhere(begun: &Begun, site: u32, key: u64, outcome: Outcome) {
    match begun.id {
        0 => {}
        COUNTED | LOST => count_outcome(begun, site, key, outcome),
        _ => late_or_elsewhere(begun, site, key, outcome, 0, false),
    }
}

/// As [`end`], where something has been or is to be written about the event; also by a slower
/// clock.
#[cold]
#[inline(never)]
pub fn end_marked(begun: &Begun, site: u32, key: u64, outcome: Outcome, marked: bool) {
    let now = if begun.about.timed() { clock::now() } else { 0 };
    end_at(now, begun, site, key, outcome, marked);
}

/// Ends an event that this thread is not in, at a time that was read before; where it is not timed,
/// that is 0.
#[inline]
pub fn end_apart(
    lane: &Lane,
    now: u64,
    begun: &Begun,
    site: u32,
    key: u64,
    outcome: Outcome,
    marked: bool,
) {
    let span = if begun.about.timed() { now.saturating_sub(begun.start) } else { 0 };
    write_end(lane, now, span, begun, site, key, outcome, marked);
}

/// The slot of an event in the block that this lane fills.
#[inline(always)]
fn slot_of<'l>(lane: &'l Lane, begun: &Begun) -> &'l [AtomicU64; SLOT_WORDS] {
    let block = lane.block.load(Relaxed) as *const [AtomicU64; SLOT_WORDS];
    // SAFETY: the event lies in the block that this lane holds, as the caller has made sure, in a
    // recording that is never unmapped. While a lane holds a block, no other thread writes to its
    // slots; and the caller is busy, so that no signal handler lets the lane leave the block.
    unsafe { &*block.add(begun.id as usize % BLOCK_SLOTS) }
}

#[cold]
#[inline(never)]
pub(super) fn end_at(now: u64, begun: &Begun, site: u32, key: u64, outcome: Outcome, marked: bool) {
    if begun.id >= LOST {
        if row::outcome_words(outcome) != (0, 0) {
            count_outcome(begun, site, key, outcome);
        }
        return;
    }
    let span = if begun.about.timed() { now.saturating_sub(begun.start) } else { 0 };
    let lane = lane::own_lane();
    write_end(lane, now, span, begun, site, key, outcome, marked);
    // In another recording the same number is another event.
    match lane.current.load(Relaxed) == begun.id {
        _ if !lane.is_in_log_of(begun.about) => {
            lane.leave_earlier(begun.id, begun.about.log(), Some(begun.before))
        }
        true => lane.current.store(begun.before, Relaxed),
        false => out_of_order(),
    }
}

/// Writes the last word of an event, wherever it lies.
#[inline]
#[expect(
    clippy::too_many_arguments,
    reason = "they are in registers, and a struct of them would not be"
)]
fn write_end(
    lane: &Lane,
    now: u64,
    span: u64,
    begun: &Begun,
    site: u32,
    key: u64,
    outcome: Outcome,
    marked: bool,
) {
    if begun.about.timed() {
        lane.note(now);
    }
    let busy = Busy::unless_busy(lane);
    if lane.holds(begun) && span <= SPAN_MAX {
        let flags = begun.about.flags(outcome, slot::details_at(false, marked));
        let slot = slot_of(lane, begun);
        // An event that began with details keeps its bit.
        let kept = if begun.about.is(About::LOOKED_INTO) {
            slot::details_of(slot[3].load(Relaxed))
        } else {
            0
        };
        slot[3].store(slot::ended(span, flags | kept), Release);
    } else {
        drop(busy);
        late_or_elsewhere(begun, site, key, outcome, span, marked);
    }
}

/// Ends an event whose block this thread does not hold: by exchange, or too late, in the tallies.
#[cold]
#[inline(never)]
pub(crate) fn late_or_elsewhere(
    begun: &Begun,
    site: u32,
    key: u64,
    outcome: Outcome,
    span: u64,
    marked: bool,
) {
    // The event of a log that was closed leaves the list, too.
    let lane = lane::own_lane();
    let mut is_named = false;
    if let Some(_busy) = Busy::unless_busy(lane) {
        lane.outliving.leave(begun);
        is_named = lane.is_in_log_of(begun.about) && outliving_events::is_named(lane, begun.id);
    }
    let Some(log) = log_of(begun.about.log(), begun.about.epoch()) else { return };
    let place = header::place(begun.id / BLOCK_SLOTS as u64, log.layout.blocks);
    let word = log.layout.block_word(place) + begun.id as usize % BLOCK_SLOTS * SLOT_WORDS;
    let end = &log.cells()[word + 3];
    let sequence = begun.id / BLOCK_SLOTS as u64;
    let mut detailed = false;
    let ended = loop {
        let running = slot::running(
            sequence,
            begun.about.flags(Outcome::Running, slot::details_at(detailed, false)),
        );
        let after = slot::details_at(detailed, marked || span > SPAN_MAX);
        let ended = slot::ended(span, begun.about.flags(outcome, after));
        match (end_elsewhere(end, running, ended), detailed) {
            (true, _) => break true,
            // The same event with details at its start carries one bit more.
            (false, false) => detailed = true,
            (false, true) => break false,
        }
    };
    let timed = begun.about.timed().then_some(span);
    if !ended {
        count_late_end(log, begun, site, key, outcome, timed);
    }
    if !ended || span > SPAN_MAX || is_named {
        mark(Mark::End, begun.id, [span, begun.about.flags(outcome, 0)], &[]);
    }
}

fn count_late_end(
    log: &'static Log,
    begun: &Begun,
    site: u32,
    key: u64,
    outcome: Outcome,
    ticks: Option<u64>,
) {
    let who = row::Who {
        site,
        kind: begun.about.kind(),
        epoch: begun.about.epoch(),
        meta: begun.about.level() != 0,
        lost: false,
    }
    .pack();
    log.count(sb::LATE_ENDS, 1);
    let inside = inside_of(begun, site, key);
    with_row(log, key, who, |row| row.late_end(outcome, ticks, !inside.both));
    for again in inside.again.into_iter().flatten().filter(|_| ticks.is_some()) {
        let (key, who) = again.row(key, who);
        with_row(log, key, who, |row| row.again(ticks.unwrap_or(0)));
    }
}

/// Returns the calls around a call of this thread that has ended. There are none around an event
/// that is entered and left.
fn inside_of(begun: &Begun, site: u32, key: u64) -> Inside {
    let lane = lane::own_lane();
    match Busy::unless_busy(lane) {
        Some(_busy) if !is_entered(site) => lane.outliving.inside(begun, site, key),
        _ => Inside::default(),
    }
}

/// Counts how a call ended that has no event. Those that returned are the rest of the count.
#[inline(never)]
fn count_outcome(begun: &Begun, site: u32, key: u64, outcome: Outcome) {
    let Some(log) = log_of(begun.about.log(), begun.about.epoch()) else { return };
    let who = row::Who {
        site,
        kind: begun.about.kind(),
        epoch: begun.about.epoch(),
        meta: begun.about.level() != 0,
        lost: begun.id != COUNTED,
    };
    with_row(log, key, who.pack(), |row| row.outcome(outcome));
}

/// Does something with a row of this thread's pages.
pub(super) fn with_row(
    log: &'static Log,
    key: u64,
    who: u64,
    f: impl FnOnce(crate::recorder::tally_page::TallyPageRow<'_>),
) {
    let lane = lane::own_lane();
    lane.join_if_new(log);
    // A signal handler that changes the page in between would put its row where this one is put.
    let busy = Busy::unless_busy(lane);
    match lane.row.load(Relaxed) {
        row if busy.is_some() && row != NO_ROW && row != 0 && !lane.is_apart(log) => {
            // Without a row how the call ended is not known; that it was made is counted elsewhere
            // already.
            if let Some(row) = lane.page.row(log, Lane::owner(row), key, who) {
                f(row);
            }
        }
        _ => drop(log.late_row(key, who, f)),
    }
}

#[cold]
#[inline(never)]
fn out_of_order() {
    if let Some(log) = current() {
        log.count(sb::OUT_OF_ORDER, 1);
    }
}
