//! Lanes with their names, and the blocks of a lane in order.

use crate::Store;
use crate::event::{Event, LaneId};
use crate::names::sanitise::sanitised_bytes;
use crate::ring::blocks::{Block, Head, Ring};
use crate::ring::chunks::Unit;
use metaspy_format::header;
use metaspy_format::superblock::{self as sb, lane as row};

/// Lane with its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLane {
    /// Number of the lane.
    pub id: LaneId,
    /// Number of the thread in the operating system.
    pub thread: u64,
    /// Name of the thread; empty if it has none.
    pub name: String,
    /// True if the thread had not ended when the recording was last written.
    pub live: bool,
    /// Number of events that found no block.
    pub lost: u64,
}

impl Store {
    /// Returns the lanes of the recording.
    pub fn lanes(&self) -> Vec<RecordedLane> {
        let words = self.words();
        let rows = self.layout().lanes.of(words);
        let used = words.acquire(sb::LANES_USED).min((rows.len() / row::WORDS) as u64) as usize;
        let lane = |number: usize| {
            let at = number * row::WORDS;
            let state = rows.acquire(at + row::STATE);
            let id = LaneId(number as u32);
            let short = || {
                let bytes: Vec<u8> =
                    (0..4).flat_map(|word| rows.get(at + row::NAME + word).to_le_bytes()).collect();
                sanitised_bytes(bytes.split(|&byte| byte == 0).next().unwrap_or_default())
            };
            (state != 0).then(|| RecordedLane {
                id,
                thread: rows.get(at + row::THREAD),
                name: self.names().lane(id.0).map_or_else(short, str::to_owned),
                live: state == 1,
                lost: rows.get(at + row::LOST),
            })
        };
        (0..used).filter_map(lane).collect()
    }
}

/// Blocks of a lane in order.
///
/// Summaries show which chunks have no block of the lane; these are skipped.
pub(crate) struct LaneBlocks<'a> {
    ring: Ring<'a>,
    lane: u32,
    /// Units that have not been visited, in order.
    units: std::vec::IntoIter<Unit>,
    /// Sequences and places of the lane's blocks in the current unit, last first.
    places: Vec<(u64, u64)>,
    /// Sequence up to which blocks are skipped.
    after: u64,
    block: Box<Block>,
}

impl<'a> LaneBlocks<'a> {
    /// Begins at the block of `event`.
    pub fn from(ring: Ring<'a>, event: &Event) -> Self {
        let lane = event.lane.0;
        let place = header::place(event.id.sequence(), ring.layout.blocks);
        let units = units(ring, lane);
        let from =
            units.iter().position(|unit| unit.places(ring).contains(&place)).unwrap_or(units.len());
        Self::over(ring, lane, units, from, event.id.sequence().saturating_sub(1))
    }

    /// Begins at the lane's block at `tick`, or at its first block if that is later.
    pub(crate) fn from_tick(ring: Ring<'a>, lane: u32, tick: u64) -> Self {
        let units = units(ring, lane);
        let later = units.partition_point(|unit| unit.first() <= tick);
        let newest = (0..later).rev().find_map(|at| {
            let heads = heads(ring, &units[at], lane).filter(|head| head.base <= tick);
            Some((at, heads.map(|head| head.sequence).max()?))
        });
        let (from, sequence) = newest.unwrap_or((0, 1));
        Self::over(ring, lane, units, from, sequence.saturating_sub(1))
    }

    fn over(ring: Ring<'a>, lane: u32, mut units: Vec<Unit>, from: usize, after: u64) -> Self {
        units.drain(..from);
        LaneBlocks {
            ring,
            lane,
            units: units.into_iter(),
            places: Vec::new(),
            after,
            block: Block::boxed(),
        }
    }

    /// Returns the next block of the lane.
    pub fn next(&mut self) -> Option<&Block> {
        loop {
            while let Some((sequence, place)) = self.places.pop() {
                if self.ring.load(place, &mut self.block)
                    && self.block.head.sequence == sequence
                    && self.block.head.lane == self.lane
                {
                    return Some(&self.block);
                }
            }
            let unit = self.units.next()?;
            let ours = heads(self.ring, &unit, self.lane).filter(|head| head.sequence > self.after);
            self.places.extend(ours.map(|head| (head.sequence, head.place)));
            self.places.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

fn units(ring: Ring<'_>, lane: u32) -> Vec<Unit> {
    let mut units = ring.units_with(|chunk| chunk.may_hold_lane(lane));
    units.retain(|unit| unit.may_hold_lane(lane));
    units
}

/// Returns the headers of a lane's blocks in a unit.
fn heads(ring: Ring<'_>, unit: &Unit, lane: u32) -> impl Iterator<Item = Head> {
    unit.places(ring)
        .filter_map(move |place| ring.head(place))
        .filter(move |head| head.lane == lane)
}
