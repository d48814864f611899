//! Time in which at least one call of a row was open, lane by lane.
//!
//! The calls of a lane come in the order of their starts. A call adds its time beyond the latest
//! end so far.

use std::collections::HashMap;

/// Latest end of the calls of a row, in the lane that last had a call of the row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cover {
    /// Number of the lane + 1; 0 = none.
    lane: u64,
    until: u64,
}

/// Latest ends of rows' calls in lanes that were left since.
#[derive(Debug, Default)]
pub(crate) struct Covers {
    lanes: HashMap<u64, LaneCovers>,
}

#[derive(Debug, Default)]
struct LaneCovers {
    /// Latest start that was met. Later calls of the lane start no earlier.
    now: u64,
    until: HashMap<u32, u64>,
    /// Number of ends at which those that are over are forgotten.
    most: usize,
}

/// Minimum number of ends of a lane that are kept.
const LEAST: usize = 1 << 10;

impl Covers {
    /// Notes the latest start of a lane before another lane is read on.
    pub fn leave(&mut self, lane: u32, now: u64) {
        let covers = self.lanes.entry(u64::from(lane) + 1).or_default();
        covers.now = covers.now.max(now);
    }

    /// Returns the ticks of a call beyond those that its row has covered in this lane.
    #[inline(always)]
    pub fn add(&mut self, cover: &mut Cover, row: u32, lane: u32, start: u64, end: u64) -> u64 {
        if cover.lane != u64::from(lane) + 1 {
            self.turn(cover, row, lane);
        }
        let added = end.saturating_sub(start.max(cover.until));
        cover.until = cover.until.max(end);
        added
    }

    #[inline(never)]
    fn turn(&mut self, cover: &mut Cover, row: u32, lane: u32) {
        if cover.lane != 0 {
            self.lanes.entry(cover.lane).or_default().keep(row, cover.until);
        }
        let lane = u64::from(lane) + 1;
        let until = self.lanes.get_mut(&lane).and_then(|covers| covers.until.remove(&row));
        *cover = Cover { lane, until: until.unwrap_or(0) };
    }
}

impl LaneCovers {
    fn keep(&mut self, row: u32, until: u64) {
        if until > self.now {
            self.until.insert(row, until);
        }
        if self.until.len() > self.most.max(LEAST) {
            self.until.retain(|_, until| *until > self.now);
            self.most = 2 * self.until.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_once_in_each_lane() {
        let mut covers = Covers::default();
        let mut cover = Cover::default();
        let mut add = |lane, start, end| covers.add(&mut cover, 0, lane, start, end);
        assert_eq!(
            [add(0, 10, 50), add(0, 20, 30), add(0, 50, 60), add(0, 55, 70)],
            [40, 0, 10, 10]
        );
        assert_eq!(
            [add(1, 5, 100), add(0, 60, 75), add(1, 50, 110), add(0, 75, 76)],
            [95, 5, 10, 1]
        );
    }

    #[test]
    fn an_end_that_is_over_is_forgotten() {
        let mut covers = Covers::default();
        let mut rows = vec![Cover::default(); 10_000];
        for (row, cover) in rows.iter_mut().enumerate() {
            assert_eq!(covers.add(cover, row as u32, 0, 0, row as u64), row as u64);
        }
        covers.leave(0, 9_990);
        for (row, cover) in rows.iter_mut().enumerate() {
            covers.add(cover, row as u32, 1, 0, 5);
        }
        assert_eq!(covers.lanes[&1].until.len(), 9);
        assert_eq!(covers.add(&mut rows[9_995], 9_995, 0, 9_990, 9_999), 4);
    }
}
