//! Times at which lanes found no room for events. The calls are counted by site and subject in the
//! pages of the lanes, and the next block of a lane records how many were lost before it.

use std::collections::HashMap;

use crate::Store;
use crate::event::LaneId;
use crate::ring::blocks::{Block, Head, Ring};

/// Time in which a lane found no room for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Lane that found no room.
    pub lane: LaneId,
    /// Tick of the last event before the loss; the beginning of the recording if there is none.
    pub from: u64,
    /// Tick of the first event after the loss; the end of the recording if there is none.
    pub to: u64,
    /// Number of calls without an event.
    pub calls: u64,
}

/// Losses of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Losses in the window, by lane and time.
    pub times: Vec<Loss>,
    /// Number of calls that were lost before the window, or by threads without a lane.
    pub elsewhere: u64,
}

impl Store {
    /// Returns the times at which calls found no room as events. Reads the header of each block, so
    /// it takes a moment for a large recording. [`Measure::lost`](crate::Measure::lost) has the
    /// numbers by site and subject.
    pub fn losses(&self) -> Losses {
        let ring = self.ring();
        let header = self.header();
        let mut last: HashMap<u32, Head> = HashMap::new();
        let mut losses = Losses::default();
        for unit in ring.units() {
            let mut heads: Vec<Head> =
                unit.places(ring).filter_map(|place| ring.head(place)).collect();
            heads.sort_by_key(|head| head.sequence);
            for head in heads {
                let before = last.insert(head.lane, head);
                if head.lost_before > 0 {
                    let from = before.map_or(header.first_tick, |before| last_event(ring, &before));
                    let to = head.base.max(from);
                    losses.times.push(Loss {
                        lane: LaneId(head.lane),
                        from,
                        to,
                        calls: head.lost_before,
                    });
                }
            }
        }
        let totals = self.totals();
        let is_whole = totals.folded == 0;
        for lane in self.lanes() {
            let noted =
                losses.times.iter().filter(|loss| loss.lane == lane.id).map(|loss| loss.calls);
            let rest = lane.lost.saturating_sub(noted.sum());
            // No block has left the window, so the remaining calls were lost after the last block.
            if rest > 0 && is_whole {
                let from =
                    last.get(&lane.id.0).map_or(header.first_tick, |head| last_event(ring, head));
                losses.times.push(Loss {
                    lane: lane.id,
                    from,
                    to: header.last_tick.max(from),
                    calls: rest,
                });
            }
        }
        let timed = losses.times.iter().fold(0_u64, |sum, loss| sum.saturating_add(loss.calls));
        losses.elsewhere = totals.lost.saturating_sub(timed);
        losses.times.sort_by_key(|loss| (loss.lane, loss.from));
        losses
    }
}

/// Returns the tick of the last event in a block.
fn last_event(ring: Ring<'_>, head: &Head) -> u64 {
    let mut block = Block::boxed();
    let is_same = ring.load(head.place, &mut block) && block.head.sequence == head.sequence;
    let start = block.events().last().filter(|_| is_same).map_or(0, |slot| slot.start);
    head.base.saturating_add(start)
}
