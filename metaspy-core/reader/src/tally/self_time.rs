//! Self time: the duration of an event without the durations of the events inside it.
//!
//! A duration is subtracted from the nearest event around it in the same lane. Nesting is read from the lane, because a
//! named cause can be anywhere. An async call or a span is not around everything that its thread does in that time. It
//! counts as around an event only if it is the event's cause.

use std::collections::HashMap;

use crate::event::{EventId, Outcome};
use crate::scan::blocks::{Head, Ring, Slot};

/// Nested events at most, and async calls at once. Beyond this, self time is not exact.
const DEPTH_MAX: usize = 1 << 16;

/// No row: the event is not selected, or it has not ended and only surrounds others.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// An event that may surround others: its end, and its row.
#[derive(Clone, Copy, Debug)]
struct Open {
    end: u64,
    row: u32,
}

/// The open events of one lane.
#[derive(Default)]
struct Nest {
    /// Innermost last. No event ends after the one before it.
    open: Vec<Open>,
    polled: HashMap<u64, Open>,
}

/// The open events of all lanes, during a scan in the order of the lanes.
pub(crate) struct SelfTimes<'a> {
    /// True for sites of async calls and spans, by number.
    asyncs: &'a [bool],
    lanes: HashMap<u32, Nest>,
    at: u32,
    nest: Nest,
    exact: bool,
}

impl<'a> SelfTimes<'a> {
    pub fn new(asyncs: &'a [bool]) -> Self {
        SelfTimes { asyncs, lanes: HashMap::new(), at: u32::MAX, nest: Nest::default(), exact: true }
    }

    /// Continues with a block of this lane.
    pub fn turn_to(&mut self, lane: u32) {
        if self.at != lane {
            let next = self.lanes.remove(&lane).unwrap_or_default();
            let before = std::mem::replace(&mut self.nest, next);
            self.lanes.insert(self.at, before);
            self.at = lane;
        }
    }

    /// True if a block of this lane has been scanned.
    pub fn knows(&self, lane: u32) -> bool {
        self.at == lane || self.lanes.contains_key(&lane)
    }

    /// True if no event was left out.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Enters an event. Returns the row of the event around it, whose self time is shorter by this event's span.
    #[inline(always)]
    pub fn enter(&mut self, id: EventId, start: u64, slot: &Slot, span: Option<u64>, row: u32) -> u32 {
        while let Some(top) = self.nest.open.last()
            && top.end <= start
        {
            self.nest.open.pop();
        }
        // It has not ended: it surrounds the following events, and has no time of its own yet.
        let (end, row) = match span {
            Some(span) => (start.saturating_add(span), row),
            None if slot.is_timed() && slot.outcome() != Outcome::Instant => (u64::MAX, NO_ROW),
            None => return NO_ROW,
        };
        let around = self.around(slot.cause, end);
        if !self.asyncs.is_empty() && self.is_async(slot.site) && slot.outcome() != Outcome::Instant {
            self.poll(id.raw(), start, Open { end, row });
        } else if self.nest.open.len() < DEPTH_MAX {
            // An inner event ends with the outer one at the latest, even if its own end was not recorded.
            let end = self.nest.open.last().map_or(end, |outer| outer.end.min(end));
            self.nest.open.push(Open { end, row });
        } else {
            self.exact = false;
        }
        around
    }

    fn is_async(&self, site: u32) -> bool {
        self.asyncs.get(site as usize).copied().unwrap_or(false)
    }

    /// The row of the nearest event that surrounds an event with this end.
    #[inline(always)]
    fn around(&self, cause: u64, end: u64) -> u32 {
        if !self.nest.polled.is_empty()
            && let Some(call) = self.nest.polled.get(&cause)
            && call.end >= end
        {
            return call.row;
        }
        match self.nest.open.last() {
            Some(top) if top.end >= end => top.row,
            _ => NO_ROW,
        }
    }

    #[cold]
    fn poll(&mut self, id: u64, start: u64, call: Open) {
        if self.nest.polled.len() >= DEPTH_MAX {
            self.nest.polled.retain(|_, call| call.end > start);
            if self.nest.polled.len() >= DEPTH_MAX {
                self.exact = false;
                return;
            }
        }
        self.nest.polled.insert(id, call);
    }

    /// Finds the events that were open around `first`, at which a scan begins in the middle of its lane. Follows the
    /// causes; false if they do not show the open events. `row_of` returns the row of an event.
    pub fn begin_at(
        &mut self,
        ring: Ring<'_>,
        head: &Head,
        first: &Slot,
        mut row_of: impl FnMut(&Head, &Slot) -> u32,
    ) -> bool {
        let start = head.base.saturating_add(first.start);
        let mut around = Vec::new();
        let mut next = EventId::from_raw(first.cause);
        for step in 0.. {
            let Some(id) = next else { break };
            // A cause that left the window has no row.
            let Some((outer, slot)) = ring.peek(id) else { break };
            if outer.lane != head.lane || step >= DEPTH_MAX {
                return false;
            }
            let began = outer.base.saturating_add(slot.start);
            if slot.is_timed() && slot.outcome() != Outcome::Instant {
                let (end, row) = match slot.span() {
                    Some(span) => (began.saturating_add(span), row_of(&outer, &slot)),
                    None => (u64::MAX, NO_ROW),
                };
                if self.is_async(slot.site) || end <= start {
                    return false;
                }
                around.push(Open { end, row });
            }
            if EventId::from_raw(slot.cause).is_some_and(|cause| cause >= id) {
                return false;
            }
            next = EventId::from_raw(slot.cause);
        }
        for open in around.into_iter().rev() {
            let end = self.nest.open.last().map_or(open.end, |outer| outer.end.min(open.end));
            self.nest.open.push(Open { end, ..open });
        }
        true
    }
}
