//! Calls that are counted and are no events: in tally mode, or because no block was ready.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use metaspy_probe::{Cell, Counters, EntryCells, Site};

use crate::format::superblock::lane as lane_row;
use crate::format::{row, superblock as sb};
use crate::recorder::arrays::ArrayOwner;
use crate::recorder::begin::{About, Begun, COUNTED, LOST};
use crate::recorder::busy::Busy;
use crate::recorder::counter::Counter;
use crate::recorder::counter_cache::look_in_buckets;
use crate::recorder::epoch::EPOCH;
use crate::recorder::lane::{self, Lane, NO_ROW};
use crate::recorder::log::current;
use crate::subject::Subject;

/// Counts a call in a row of the lane's page, if it has one; `None`: it was not counted.
///
/// `who` is the row, as [`row::Who`] packs it.
#[inline(always)]
fn count_in_page(lane: &Lane, who: u64, key: u64) -> Option<Counter<'static>> {
    // No need to set the byte: the work here is one instruction to a signal handler.
    if lane.gate.is_busy() {
        return None;
    }
    let row = lane.near.look(key, who).or_else(|| lane.near.look_further(key, who))?.counter();
    row.begun();
    Some(row)
}

/// Counts a call about a subject that has a place in a bucket. `None`: it was not counted.
#[inline(always)]
pub fn count_in_bucket(cell: &Cell, tally: u64, subject: Subject) -> Option<Counter<'static>> {
    let row = look_in_buckets(cell, row::Who::with_kind(tally, subject.kind.0), subject.key)?;
    row.begun();
    Some(row)
}

/// Counts a call at a site in tally mode that the thread did not count by itself. Further calls
/// that use these counters find the row in a cell. `None`: it was not counted.
///
/// `tally` is the row of a call without a subject, as [`row::Who`] packs it.
#[inline(never)]
pub fn count_missed(
    site: &'static Site,
    tally: u64,
    subject: Subject,
    counters: *const Counters,
) -> Option<Counter<'static>> {
    let lane = lane::own_lane();
    let who = row::Who::with_kind(tally, subject.kind.0);
    if lane.gate.is_busy() || lane.level() != 0 {
        return None;
    }
    let counted = count_in_page(lane, who, subject.key);
    let _busy = Busy::enter(lane)?;
    let log = current().filter(|log| !lane.is_apart(log));
    match (counted, log) {
        _ if subject.is_none() => {
            if let Some(row) = counted {
                lane.cells.note(counters, site, who, row);
            }
        }
        (_, Some(log)) => {
            let owner = ArrayOwner { log, lane: lane.row.load(Relaxed), who };
            let row = lane.cells.row(counters, site, owner, subject.key);
            if let (None, Some(row)) = (counted, row) {
                row.begun();
                return Some(row);
            }
        }
        (_, None) => {}
    }
    counted
}

/// Counts a call whose end is not seen, at a site that the thread did not count by itself. These
/// cells may count the next one. False: it was not counted.
#[inline(never)]
pub fn count_entry(site: &'static Site, tally: u64, cells: &EntryCells) -> bool {
    let lane = lane::own_lane();
    if lane.gate.is_busy() || lane.level() != 0 {
        return false;
    }
    let Some(row) = count_in_page(lane, tally, Subject::NONE.key) else { return false };
    if let Some(_busy) = Busy::enter(lane) {
        lane.cells.entries.note(cells, site, tally, row);
    }
    true
}

/// Lets hooks whose calls' ends are not seen count calls on an object, or on all, if that is all
/// that is left to do at the site while sites are compared with this word.
pub fn show_settled(site: &'static Site, cells: &EntryCells, who: u64, receiver: (u64, u64)) {
    let lane = lane::own_lane();
    if lane.level() == 0
        && let Some(settled) = lane.cells.settled(site, who, receiver)
        && let Some(_busy) = Busy::unless_busy(lane)
    {
        lane.cells.entries.note_settled(cells, site, who, settled);
    }
}

/// As [`tally`], if the row is found without looking far. `None`: it was not counted.
#[inline]
pub fn count_at_once(lane: &Lane, tally: u64, subject: Subject) -> Option<Begun> {
    let epoch = EPOCH.load(Acquire);
    // How the call ended is counted in the row of its epoch.
    if !row::Who::began_in(tally, epoch) {
        return None;
    }
    count_in_page(lane, row::Who::with_kind(tally, subject.kind.0), subject.key)?;
    Some(Begun {
        id: COUNTED,
        about: About::new(lane, subject.kind.0, false).in_epoch(epoch),
        ..Begun::NOTHING
    })
}

/// Counts a call in tally mode.
#[inline(never)]
pub fn tally(site: u32, subject: Subject) -> Begun {
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return Begun::NOTHING };
    let epoch = EPOCH.load(Acquire);
    let who = row::Who { site, kind: subject.kind.0, epoch, meta: lane.level() != 0, lost: false };
    count(lane, subject.key, who.pack(), 1);
    // Only now is the lane surely one of the current log.
    Begun {
        id: COUNTED,
        about: About::new(lane, subject.kind.0, false).in_epoch(epoch),
        ..Begun::NOTHING
    }
}

/// Adds to a count of occurrences that have no events.
#[inline]
pub fn tally_more(site: u32, subject: Subject, by: u64) {
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return };
    let who = row::Who {
        site,
        kind: subject.kind.0,
        epoch: EPOCH.load(Acquire),
        meta: lane.level() != 0,
        lost: false,
    };
    if by > 0 {
        count(lane, subject.key, who.pack(), by);
    }
}

/// A call that finds no block. Built here, not in [`lose`]: returned from there it would go through
/// memory, and so would every other call.
#[inline(always)]
pub(super) fn lost(lane: &Lane, site: u32, subject: Subject) -> Begun {
    let epoch = lose(lane, site, subject);
    Begun {
        id: LOST,
        about: About::new(lane, subject.kind.0, false).in_epoch(epoch),
        ..Begun::NOTHING
    }
}

/// Counts it by site and subject: lost in place and time, not in number. In which epoch it was
/// counted.
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
    let log = lane.join(log);
    let own = match lane.row.load(Relaxed) {
        NO_ROW | 0 => None,
        number => lane.page.row(log, Lane::owner(number), key, who),
    };
    // A lane that gets no page without waiting counts where threads without a lane do. All lanes
    // whose page is full share that one, so they take a row of each site only.
    let counted = match own {
        Some(row) => {
            row.begun(by);
            true
        }
        None if lane.page.is_some() => log.late_others_row(who, |row| row.begun(by)),
        None => log.late_row(key, who, |row| row.begun(by)),
    };
    lane.aim();
    if !counted {
        log.count(sb::UNNAMED, by);
    }
}
