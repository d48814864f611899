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

/// An async call whose time arrives with the mark of its polls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polled {
    pub row: u32,
    /// The row of the event around it.
    pub around: u32,
}

/// A call that began in a block that is not stored, and was open when the first stored block began.
#[derive(Clone, Copy, Debug)]
struct Outside {
    id: u64,
    row: u32,
}

/// The open events of one lane.
#[derive(Default)]
struct Nest {
    /// Innermost last. No event ends after the one before it.
    open: Vec<Open>,
    polled: HashMap<u64, (Open, u32)>,
    /// Outermost first.
    outside: Vec<Outside>,
    /// Some calls that began outside are not known.
    is_partly_known: bool,
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

    /// Adds a call that began outside of the stored blocks of this lane.
    pub fn add_outside(&mut self, id: u64, row: u32) {
        self.nest.outside.push(Outside { id, row });
    }

    /// Notes that not all calls that began outside are known.
    pub fn outside_is_partly_known(&mut self) {
        self.nest.is_partly_known = true;
    }

    /// True if a call of this row that began outside is around an event with this cause; `None` if that is not known. An event whose
    /// cause is further out, or that has none, shows which of them have ended.
    #[inline(always)]
    pub fn is_inside(&mut self, cause: u64, row: u32) -> Option<bool> {
        if self.nest.outside.is_empty() { Some(false) } else { self.is_inside_of(cause, row) }
    }

    #[cold]
    fn is_inside_of(&mut self, cause: u64, row: u32) -> Option<bool> {
        let Nest { outside, is_partly_known, .. } = &mut self.nest;
        let is_between =
            |ids: &[Outside]| ids.first().zip(ids.last()).is_some_and(|(a, b)| a.id < cause && cause < b.id);
        if cause == 0 || outside.iter().any(|call| call.id == cause) || (*is_partly_known && is_between(outside)) {
            outside.retain(|call| call.id <= cause);
        }
        match outside.iter().any(|call| call.row == row) {
            true => Some(true),
            false if *is_partly_known && !outside.is_empty() => None,
            false => Some(false),
        }
    }

    /// The rows of an async call of this lane that has ended, and what is known of it is needed no longer.
    pub fn polled(&mut self, id: u64) -> Option<Polled> {
        let (open, around) = self.nest.polled.remove(&id)?;
        Some(Polled { row: open.row, around })
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
        if self.is_async(slot.site) && slot.outcome() != Outcome::Instant {
            self.poll(id.raw(), start, Open { end, row }, around);
        } else if self.nest.open.len() < DEPTH_MAX {
            // An inner event ends with the outer one at the latest, even if its own end was not recorded.
            let end = self.nest.open.last().map_or(end, |outer| outer.end.min(end));
            self.nest.open.push(Open { end, row });
        } else {
            self.exact = false;
        }
        around
    }

    /// True if the events of a site are entered and left.
    #[inline(always)]
    pub fn is_async(&self, site: u32) -> bool {
        !self.asyncs.is_empty() && self.asyncs.get(site as usize).copied().unwrap_or(false)
    }

    /// The row of the nearest event that surrounds an event with this end.
    #[inline(always)]
    fn around(&self, cause: u64, end: u64) -> u32 {
        if !self.nest.polled.is_empty()
            && let Some((call, _)) = self.nest.polled.get(&cause)
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
    fn poll(&mut self, id: u64, start: u64, call: Open, around: u32) {
        if self.nest.polled.len() >= DEPTH_MAX {
            self.nest.polled.retain(|_, (call, _)| call.end > start);
            if self.nest.polled.len() >= DEPTH_MAX {
                self.exact = false;
                return;
            }
        }
        self.nest.polled.insert(id, (call, around));
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

    /// The rows of the open events of this lane, with their ends.
    pub fn open_rows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.nest.open.iter().map(|open| (open.row, open.end)).filter(|(row, _)| *row != NO_ROW)
    }
}
