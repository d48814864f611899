//! Calls that run at a moment of the recording, with the values that a detector keeps for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::map::HashMap;

/// Calls that have begun and not ended, with a value each.
///
/// Calls nest in their lane, so most calls are at the top of a stack. Calls that their thread
/// leaves and enters again are in a map.
#[derive(Debug)]
pub(super) struct OpenCalls<T> {
    lanes: Lanes<T>,
    entered: HashMap<EventId, Open<T>>,
    /// Ends of the entered calls, the next one first.
    ends: BinaryHeap<Reverse<(u64, EventId)>>,
}

#[derive(Debug)]
struct Open<T> {
    id: EventId,
    end: u64,
    value: T,
}

/// Stacks of the lanes. Most events are on the lane of the event before, whose stack needs no
/// search.
#[derive(Debug)]
struct Lanes<T> {
    stacks: Vec<Vec<Open<T>>>,
    places: HashMap<LaneId, usize>,
    last: Option<(LaneId, usize)>,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        let lanes = Lanes { stacks: Vec::new(), places: HashMap::default(), last: None };
        OpenCalls { lanes, entered: HashMap::default(), ends: BinaryHeap::new() }
    }
}

impl<T> Lanes<T> {
    #[inline]
    fn get_mut(&mut self, lane: LaneId) -> Option<&mut Vec<Open<T>>> {
        let at = match self.last {
            Some((last, at)) if last == lane => at,
            _ => *self.places.get(&lane)?,
        };
        self.last = Some((lane, at));
        self.stacks.get_mut(at)
    }

    #[inline]
    fn of(&mut self, lane: LaneId) -> &mut Vec<Open<T>> {
        let at = match self.last {
            Some((last, at)) if last == lane => at,
            _ => *self.places.entry(lane).or_insert(self.stacks.len()),
        };
        if at == self.stacks.len() {
            self.stacks.push(Vec::new());
        }
        self.last = Some((lane, at));
        &mut self.stacks[at]
    }
}

impl<T> OpenCalls<T> {
    /// Returns true if no call that its thread leaves and enters again is open, and no other call
    /// has ever begun.
    pub(super) fn is_empty(&self) -> bool {
        self.entered.is_empty() && self.lanes.stacks.is_empty()
    }

    /// Passes the calls to `closed` that have ended when an event begins: those in the lane of the
    /// event, and all those that threads leave and enter again.
    pub(super) fn close(&mut self, event: &ResolvedEvent, mut closed: impl FnMut(T)) {
        let now = event.event.start;
        if let Some(lane) = self.lanes.get_mut(event.event.lane) {
            while let Some(open) = lane.pop_if(|open| open.end <= now) {
                closed(open.value);
            }
        }
        while self.ends.peek().is_some_and(|Reverse((end, _))| *end <= now) {
            let ended = self.ends.pop().and_then(|Reverse((_, id))| self.entered.remove(&id));
            ended.into_iter().for_each(|open| closed(open.value));
        }
    }

    /// Adds a call that begins. A call without an end is left out.
    pub(super) fn open(&mut self, event: &ResolvedEvent, is_entered: bool, value: T) {
        let it = &event.event;
        let Some(end) = it.span.map(|span| it.start.saturating_add(span)) else { return };
        let open = Open { id: it.id, end, value };
        if is_entered {
            self.ends.push(Reverse((end, it.id)));
            self.entered.insert(it.id, open);
        } else {
            self.lanes.of(it.lane).push(open);
        }
    }

    /// Returns the value of the event's cause and the tick at which the cause ends, if the cause
    /// runs when the event begins.
    pub(super) fn cause_of(&mut self, event: &ResolvedEvent) -> Option<(&mut T, u64)> {
        let cause = event.cause.event()?;
        let in_lane = self
            .lanes
            .get_mut(cause.lane)
            .and_then(|lane| lane.iter_mut().rev().find(|it| it.id == cause.id));
        let open = in_lane.or_else(|| self.entered.get_mut(&cause.id))?;
        (open.end > event.event.start).then_some((&mut open.value, open.end))
    }

    /// Returns the value of a call that runs, by its id and its lane.
    pub(super) fn get_mut(&mut self, id: EventId, lane: LaneId) -> Option<&mut T> {
        let in_lane =
            self.lanes.get_mut(lane).and_then(|lane| lane.iter_mut().rev().find(|it| it.id == id));
        in_lane.or_else(|| self.entered.get_mut(&id)).map(|open| &mut open.value)
    }

    /// Returns the value of the innermost call that runs in a lane.
    pub(super) fn innermost(&mut self, lane: LaneId) -> Option<&mut T> {
        self.lanes.get_mut(lane)?.last_mut().map(|open| &mut open.value)
    }

    /// Passes the calls to `closed` that are open after the last event.
    pub(super) fn finish(&mut self, mut closed: impl FnMut(T)) {
        let lanes = self.lanes.stacks.iter_mut().flat_map(std::mem::take);
        lanes
            .chain(std::mem::take(&mut self.entered).into_values())
            .for_each(|open| closed(open.value));
        self.ends.clear();
    }
}
