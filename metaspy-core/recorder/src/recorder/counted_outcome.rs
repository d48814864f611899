//! How a call ended that is only counted.

use crate::event::Outcome;
use crate::format::row;
use crate::recorder::busy::Busy;
use crate::recorder::counter::Counter;
use crate::recorder::end::with_row;
use crate::recorder::lane;
use crate::recorder::log::all;

/// Counts how a call ended that was counted in this row. Those that returned are the rest of the
/// count.
#[inline(always)]
pub fn count_outcome_in(row: Counter<'static>, outcome: Outcome) {
    // The lane was not busy when the call began, and is as it was: a call ends where it began.
    if row::outcome_words(outcome) != (0, 0) && !row.outcome(outcome) {
        count_outcome_elsewhere(row, outcome);
    }
}

/// As [`count_outcome_in`], of a row that takes no more outcomes, or none of this kind: in another
/// row of its subject.
#[cold]
#[inline(never)]
fn count_outcome_elsewhere(row: Counter<'static>, outcome: Outcome) {
    let lane = lane::own_lane();
    let Some(_busy) = Busy::enter(lane) else { return };
    let Some((log, (key, who, page))) =
        all().filter(|log| !log.is_gone()).find_map(|log| Some((log, log.owner_of(row)?)))
    else {
        return;
    };
    if !row.has_room() {
        lane.cells.drop_array(page);
    }
    with_row(log, key, who, |row| row.outcome(outcome));
}
