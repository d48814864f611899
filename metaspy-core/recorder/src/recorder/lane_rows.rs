//! Rows of lanes in a recording: a thread takes one at its first hook, and its end gives it to a
//! later thread.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::format::superblock::{self as sb, lane as row};
use crate::platform::lock::lock;
use crate::platform::process;
use crate::recorder::epoch::EPOCH;
use crate::recorder::lane::{Lane, NO_ROW, own_lane};
use crate::recorder::log::Log;

/// Retires the lane of this thread, which ends or exits the process.
pub(super) fn retire_lane() {
    let lane = own_lane();
    let row = lane.row.load(Relaxed);
    if let Some(log) = lane.log()
        && row != 0
        && row != NO_ROW
    {
        lane.leave(log);
        log.retire_row((row - 1) as u32, lane);
    }
    lane.row.store(NO_ROW, Relaxed);
    lane.cells.give_up();
    lane.outliving.give_up();
    lane.aim();
    lane.end_use();
}

impl Log {
    /// The number of a row for this thread, + 1; [`NO_ROW`] if there is none; 0 if another thread
    /// is changing them. Rows of ended threads are given out again only when all are used.
    pub(super) fn lane_row(&self) -> u64 {
        let next = |used: u64| (used < self.lanes_room.load(Acquire)).then_some(used + 1);
        let number = match self.word(sb::LANES_USED).fetch_update(Release, Relaxed, next) {
            Ok(used) => used as u32,
            Err(_) => match self.lanes.try_lock().map(|mut rows| rows.ended.pop_front()) {
                Ok(Some(ended)) => ended,
                Ok(None) => return NO_ROW,
                Err(_) => return 0,
            },
        };
        let cells = self.lane_cells(number);
        self.name_row(number);
        cells[row::THREAD].store(process::thread_id(), Relaxed);
        cells[row::STATE].store(1, Release);
        u64::from(number) + 1
    }

    /// Writes the name of this thread, which may have been changed since its first hook.
    fn name_row(&self, number: u32) {
        let name = process::thread_name();
        for (cell, bytes) in self.lane_cells(number)[row::NAME..].iter().zip(name.chunks(8)) {
            cell.store(u64::from_le_bytes(bytes.try_into().expect("chunks of eight")), Relaxed);
        }
    }

    fn retire_row(&self, number: u32, lane: &Lane) {
        self.name_row(number);
        self.lane_cells(number)[row::STATE].store(2, Release);
        let mut rows = lock(&self.lanes);
        rows.ended.push_back(number);
        rows.pages.extend(lane.page.hand_on());
        lane.cells.hand_on(&mut rows.arrays);
        let epoch = EPOCH.load(Relaxed);
        rows.arrays.retain(|array| array.is_of(epoch));
    }

    /// The words of a lane's row.
    pub(super) fn lane_cells(&self, number: u32) -> &[AtomicU64] {
        let at = self.layout.lanes.at + number as usize * row::WORDS;
        &self.cells()[at..at + row::WORDS]
    }
}
