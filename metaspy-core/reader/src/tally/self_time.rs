//! Self time: the duration of an event without the durations of the events inside it.
//!
//! A duration is subtracted from the nearest event around it in the same lane. Nesting is read from
//! the lane, because a named cause can be anywhere. The thread of an async call or a span may do
//! unrelated work in its time, so such an event is around another only if it is its cause, and is
//! polled in the lane of the other one: it began there, or a mark says so. A spawned task is not
//! inside the polls of its cause, and says so in the mark of its polls. Not known are a sync call in
//! a spawned future without an async call of its own, which counts as inside its cause where that is
//! polled in the same lane; calls inside a span in other lanes than that of its begin; and how long
//! an async call was polled inside a sync call of another lane, which keeps that time.

use std::collections::HashMap;

use crate::details::Polls;
use crate::event::{EventId, Outcome};
use crate::ring::blocks::{Head, Ring, Slot};

/// Maximum number of nested events, and of concurrent async calls. Beyond this, self time is not
/// exact.
const DEPTH_MAX: usize = 1 << 16;

/// Row number of an event that is not selected, or has not ended and only surrounds others.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Event that may surround others: its end, and its row.
#[derive(Clone, Copy, Debug)]
struct Open {
    end: u64,
    row: u32,
}

/// Async call whose time arrives with the mark of its polls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polled {
    pub row: u32,
    /// Its row if the call has a self time.
    pub self_row: u32,
    /// Row of the event around it.
    around: u32,
    /// Row of the sync event around it, if it is not inside the polls of its cause.
    around_apart: u32,
    /// Lane in which it began.
    lane: u32,
    end: u64,
    /// True if the time has arrived.
    is_added: bool,
}

impl Polled {
    /// Returns the row from whose self time these polls of it are subtracted.
    pub(crate) fn around(&self, polls: Polls) -> u32 {
        if polls.is_apart { self.around_apart } else { self.around }
    }
}

/// Call that began in a block that is not stored, and was open when the first stored block began.
#[derive(Clone, Copy, Debug)]
struct Outside {
    id: u64,
    row: u32,
    is_end_marked: bool,
}

/// Open events of a lane.
#[derive(Default)]
struct Nest {
    /// Open events, innermost last. No event ends after the event before it.
    open: Vec<Open>,
    /// Async calls that began in other lanes and are polled in this one.
    polled_here: HashMap<u64, Open>,
    /// Tick before which none of these ends, if they are as many as there may be.
    full_until: u64,
    /// Calls from outside the stored blocks, outermost first.
    outside: Vec<Outside>,
    /// True if some calls that began outside are not known.
    is_partly_known: bool,
    /// True if blocks may be missing between the last one and the next one, because the last one is
    /// kept.
    has_gap: bool,
}

/// Open events of all lanes, during a scan in the order of the lanes.
pub(crate) struct SelfTimes<'a> {
    /// True for sites of async calls and spans, by number.
    asyncs: &'a [bool],
    lanes: HashMap<u32, Nest>,
    at: u32,
    nest: Nest,
    /// Async calls of all lanes: the mark of the polls is in the lane in which a call ended.
    polled: HashMap<u64, Polled>,
    /// Polls of calls that were not scanned yet: their lanes' blocks come later.
    early: HashMap<u64, Polls>,
    exact: bool,
}

impl<'a> SelfTimes<'a> {
    pub fn new(asyncs: &'a [bool]) -> Self {
        let polled = HashMap::new();
        let early = HashMap::new();
        SelfTimes {
            asyncs,
            lanes: HashMap::new(),
            at: u32::MAX,
            nest: Nest::default(),
            polled,
            early,
            exact: true,
        }
    }

    /// Continues with a block of this lane.
    pub(crate) fn turn_to(&mut self, lane: u32) {
        if self.at != lane {
            let next = self.lanes.remove(&lane).unwrap_or_default();
            let before = std::mem::replace(&mut self.nest, next);
            self.lanes.insert(self.at, before);
            self.at = lane;
        }
    }

    /// Returns true if a block of this lane has been scanned.
    pub fn knows(&self, lane: u32) -> bool {
        self.at == lane || self.lanes.contains_key(&lane)
    }

    /// Returns true if no event was left out.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Adds a call that began outside the stored blocks of this lane.
    pub(crate) fn add_outside(&mut self, id: u64, row: u32, is_end_marked: bool) {
        self.nest.outside.push(Outside { id, row, is_end_marked });
    }

    /// Goes on behind a kept block, if the last one of the lane was one, and returns whether it
    /// was. The calls that began outside are forgotten, and the next block names those that are
    /// open.
    pub(crate) fn leave_gap(&mut self, is_kept: bool) -> bool {
        let had_gap = std::mem::replace(&mut self.nest.has_gap, is_kept);
        if had_gap {
            self.nest.outside.clear();
            self.nest.is_partly_known = false;
        }
        had_gap
    }

    /// Records that not all calls that began outside are known.
    pub(crate) fn outside_is_partly_known(&mut self) {
        self.nest.is_partly_known = true;
    }

    /// Leaves a call that began outside and has ended, and those inside it.
    pub(super) fn leave_outside(&mut self, id: u64) {
        let outside = &mut self.nest.outside;
        if let Some(at) = outside.iter().position(|call| call.id == id) {
            outside.truncate(at);
        }
    }

    /// Returns true if a call of this row that began outside is around an event with this cause;
    /// `None` if that is not known. In recordings without marks of ends, an event whose cause is
    /// further out, or that has none, shows which of these calls have ended.
    #[inline(always)]
    pub fn is_inside(&mut self, cause: u64, row: u32) -> Option<bool> {
        if self.nest.outside.is_empty() { Some(false) } else { self.is_inside_of(cause, row) }
    }

    #[cold]
    fn is_inside_of(&mut self, cause: u64, row: u32) -> Option<bool> {
        let Nest { outside, is_partly_known, .. } = &mut self.nest;
        let is_between = |ids: &[Outside]| {
            ids.first().zip(ids.last()).is_some_and(|(a, b)| a.id < cause && cause < b.id)
        };
        if cause == 0
            || outside.iter().any(|call| call.id == cause)
            || (*is_partly_known && is_between(outside))
        {
            outside.retain(|call| call.is_end_marked || call.id <= cause);
        }
        match outside.iter().any(|call| call.row == row) {
            true => Some(true),
            false if *is_partly_known && !outside.is_empty() => None,
            false => Some(false),
        }
    }

    /// Returns the rows of an async call whose mark was scanned. `None` if the call was not scanned
    /// yet.
    pub fn polled(&mut self, id: u64) -> Option<Polled> {
        let call = self.polled.get_mut(&id)?;
        call.is_added = true;
        let call = *call;
        // Blocks of the lane in which it began may have more calls inside it.
        if call.lane == self.at {
            self.polled.remove(&id);
        }
        Some(call)
    }

    /// Keeps the polls of an async call that was not scanned yet.
    pub(crate) fn keep_polls(&mut self, id: u64, polls: Polls) {
        let has_room = self.early.len() < DEPTH_MAX;
        self.exact &= has_room;
        self.early.extend(has_room.then_some((id, polls)));
    }

    /// Records that an async call is polled in this lane, in which it did not begin. `row` is its
    /// row, if it has a self time.
    pub(crate) fn poll_here(&mut self, id: EventId, now: u64, end: u64, row: u32) {
        let Nest { polled_here, full_until, .. } = &mut self.nest;
        if polled_here.len() >= DEPTH_MAX && now >= *full_until {
            polled_here.retain(|_, call| call.end > now);
            *full_until = polled_here.values().map(|call| call.end).min().unwrap_or(0);
        }
        if polled_here.len() < DEPTH_MAX || polled_here.contains_key(&id.raw()) {
            polled_here.insert(id.raw(), Open { end, row });
        } else {
            self.exact = false;
        }
    }

    /// Returns the rows of an async call that was entered, and the polls that were kept for it.
    #[inline]
    pub(crate) fn polled_early(&mut self, id: EventId) -> Option<(Polled, Polls)> {
        if self.early.is_empty() {
            return None;
        }
        let polls = self.early.remove(&id.raw())?;
        let call = self.polled.get_mut(&id.raw())?;
        call.is_added = true;
        Some((*call, polls))
    }

    /// Enters an event, which has a self time or not. Returns the row of the event around it, from
    /// whose self time this event's span is subtracted.
    #[inline(always)]
    pub fn enter(
        &mut self,
        id: EventId,
        start: u64,
        slot: &Slot,
        span: Option<u64>,
        row: u32,
        has_self: bool,
    ) -> u32 {
        while let Some(top) = self.nest.open.last()
            && top.end <= start
        {
            self.nest.open.pop();
        }
        // The event has not ended: it surrounds later events, and has no time of its own yet.
        let self_row = if has_self { row } else { NO_ROW };
        let (end, self_row) = match span {
            Some(span) => (start.saturating_add(span), self_row),
            None if slot.is_timed() && slot.outcome() != Outcome::Instant => (u64::MAX, NO_ROW),
            None => return NO_ROW,
        };
        let around = self.around(slot.cause, end);
        let around_apart = self.around_in_lane(end);
        if self.is_async(slot.site) && slot.outcome() != Outcome::Instant {
            self.poll(
                id.raw(),
                start,
                Polled { row, self_row, around, around_apart, lane: self.at, end, is_added: false },
            );
        } else if self.nest.open.len() < DEPTH_MAX {
            // An inner event ends with the outer event at the latest, even if its own end was not
            // recorded.
            let end = self.nest.open.last().map_or(end, |outer| outer.end.min(end));
            self.nest.open.push(Open { end, row: self_row });
        } else {
            self.exact = false;
        }
        around
    }

    /// Returns true if the events of a site are entered and left several times.
    #[inline(always)]
    pub fn is_async(&self, site: u32) -> bool {
        !self.asyncs.is_empty() && self.asyncs.get(site as usize).copied().unwrap_or(false)
    }

    /// Returns the row of the nearest event that surrounds an event with this end.
    #[inline(always)]
    fn around(&self, cause: u64, end: u64) -> u32 {
        if !self.polled.is_empty()
            && let Some(call) = self.polled.get(&cause)
            && call.end >= end
            && call.lane == self.at
        {
            return call.self_row;
        }
        if !self.nest.polled_here.is_empty()
            && let Some(call) = self.nest.polled_here.get(&cause)
            && call.end >= end
        {
            return call.row;
        }
        self.around_in_lane(end)
    }

    /// Returns the row of the nearest sync event of the lane that surrounds one with this end.
    #[inline(always)]
    fn around_in_lane(&self, end: u64) -> u32 {
        match self.nest.open.last() {
            Some(top) if top.end >= end => top.row,
            _ => NO_ROW,
        }
    }

    #[cold]
    fn poll(&mut self, id: u64, start: u64, call: Polled) {
        if self.polled.len() >= DEPTH_MAX {
            self.polled.retain(|_, call| call.end > start || !call.is_added);
            if self.polled.len() >= DEPTH_MAX {
                self.exact = false;
                return;
            }
        }
        self.polled.insert(id, call);
    }

    /// Finds the events that were open around `first`, at which a scan begins in the middle of its
    /// lane. Follows the causes, and returns false if they do not show the open events. `row_of`
    /// returns the row of an event.
    pub(crate) fn begin_at(
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

    /// Returns the rows of the open events of this lane, with their ends.
    pub(crate) fn open_rows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.nest.open.iter().map(|open| (open.row, open.end)).filter(|(row, _)| *row != NO_ROW)
    }
}
