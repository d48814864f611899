//! Calls that are counted and are no events: in tally mode, or because no block was ready.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use metaspy_probe::{Counters, Site};

use crate::event::Outcome;
use crate::format::superblock::lane as lane_row;
use crate::format::{row, superblock as sb};
use crate::recorder::begin::{About, Begun, COUNTED, LOST};
use crate::recorder::busy::Busy;
use crate::recorder::epoch::EPOCH;
use crate::recorder::lane::{self, Lane, NO_ROW};
use crate::recorder::log::current;
use crate::recorder::tally_page::Row;
use crate::subject::Subject;

/// Counts a call in tally mode, if its row is where it is looked for first; `None`: it was not counted.
///
/// `tally` is the row of a call without a subject, as [`row::Who`] packs it.
#[inline(always)]
pub(crate) fn count_near(lane: &Lane, tally: u64, subject: Subject) -> Option<Row<'static>> {
    // No need to set the byte: what is done here is one instruction to a signal handler.
    if lane.gate.is_busy() {
        return None;
    }
    let who = row::Who::with_kind(tally, subject.kind.0);
    let row = lane.near.look(subject.key, who)?;
    row.begun_at_once();
    Some(row)
}

/// As [`count_near`], wherever the row stands.
#[inline(never)]
pub(crate) fn count_further(tally: u64, subject: Subject) -> Option<Row<'static>> {
    let lane = lane::here();
    if lane.gate.is_busy() {
        return None;
    }
    let row = lane.near.look_further(subject.key, row::Who::with_kind(tally, subject.kind.0))?;
    row.begun_at_once();
    Some(row)
}

/// Counts a call without a subject at a linked site in tally mode, wherever the row is. Further calls that use these counters
/// find the row in a cell. `None`: it was not counted.
#[inline(never)]
pub(crate) fn count_in_cell(site: &'static Site, tally: u64, counters: *const Counters) -> Option<Row<'static>> {
    let lane = lane::here();
    let row = count_near(lane, tally, Subject::NONE).or_else(|| count_further(tally, Subject::NONE))?;
    if let Some(_busy) = Busy::enter(lane) {
        lane.cells.note(counters, site, tally, row);
    }
    Some(row)
}

/// As [`tally`], if the row is found without looking far. `None`: it was not counted.
#[inline]
pub(crate) fn count_at_once(lane: &Lane, tally: u64, subject: Subject) -> Option<Begun> {
    let epoch = EPOCH.load(Acquire);
    // How the call ended is counted in the row of its epoch.
    if !row::Who::began_in(tally, epoch) {
        return None;
    }
    count_near(lane, tally, subject).or_else(|| count_further(tally, subject))?;
    Some(Begun { id: COUNTED, about: About::new(lane, subject.kind.0, false).in_epoch(epoch), ..Begun::NOTHING })
}

/// Counts a call in tally mode.
#[inline(never)]
pub(crate) fn tally(site: u32, subject: Subject) -> Begun {
    let lane = lane::here();
    let Some(_busy) = Busy::enter(lane) else { return Begun::NOTHING };
    let epoch = EPOCH.load(Acquire);
    let who = row::Who { site, kind: subject.kind.0, epoch, meta: lane.level() != 0, lost: false };
    count(lane, subject.key, who.pack(), 1);
    // Only now is the lane surely one of the current log.
    Begun { id: COUNTED, about: About::new(lane, subject.kind.0, false).in_epoch(epoch), ..Begun::NOTHING }
}

/// Counts what is known by its number only, and has no events.
pub(crate) fn tally_more(site: u32, subject: Subject, by: u64) {
    let lane = lane::here();
    let Some(_busy) = Busy::enter(lane) else { return };
    let who = row::Who { site, kind: subject.kind.0, epoch: EPOCH.load(Acquire), meta: lane.level() != 0, lost: false };
    if by > 0 {
        count(lane, subject.key, who.pack(), by);
    }
}

/// A call that finds no block. Built here, not in [`lose`]: returned from there it would go through memory, and so
/// would every other call.
#[inline(always)]
pub(super) fn lost(lane: &Lane, site: u32, subject: Subject) -> Begun {
    let epoch = lose(lane, site, subject);
    Begun { id: LOST, about: About::new(lane, subject.kind.0, false).in_epoch(epoch), ..Begun::NOTHING }
}

/// Counts it by site and subject: lost in place and time, not in number. In which epoch it was counted.
#[cold]
#[inline(never)]
fn lose(lane: &Lane, site: u32, subject: Subject) -> u32 {
    let epoch = EPOCH.load(Acquire);
    lane.lost.store(lane.lost.load(Relaxed) + 1, Relaxed);
    let meta = lane.level() != 0;
    let who = row::Who { site, kind: subject.kind.0, epoch, meta, lost: true };
    count(lane, subject.key, who.pack(), 1);
    // Counting has joined the lane to the log.
    let number = Some(lane.row.load(Relaxed)).filter(|&number| number != 0 && number != NO_ROW);
    if let (Some(log), Some(number)) = (current(), number) {
        log.lane_cells((number - 1) as u32)[lane_row::LOST].fetch_add(1, Relaxed);
    }
    epoch
}

fn count(lane: &Lane, key: u64, who: u64, by: u64) {
    let Some(log) = current() else { return };
    lane.join(log);
    let own = match lane.row.load(Relaxed) {
        NO_ROW | 0 => None,
        number => lane.page.row(log, number - 1, key, who),
    };
    // A lane that gets no page without waiting counts where threads without a lane do.
    let counted = own.map(|row| row.begun(by)).is_some() || log.late_row(key, who, |row| row.begun(by));
    lane.aim();
    if !counted {
        log.count(sb::UNNAMED, by);
    }
}

/// Counts how a call ended that [`count_near`] or [`count_further`] counted in this row. Those that returned are the
/// rest of the count.
#[inline(always)]
pub(crate) fn count_outcome_in(row: Row<'_>, outcome: Outcome) {
    // The lane was not busy when the call began, and is as it was: a call ends where it began.
    row.outcome_at_once(outcome);
}
