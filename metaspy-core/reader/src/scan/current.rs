//! Events that a thread was in at given moments.
//!
//! A sampler takes the moment of a sample from the clock that the calibration pairs of a recording
//! have. It takes it while the thread is interrupted, so the moment lies between two readings of
//! the thread's own clock, and the events around it are those that began before it and ended after
//! it.

use crate::Store;
use crate::event::{EventId, LaneId, Outcome};
use crate::ring::blocks::{Head, Record, Ring, Slot};
use crate::store::lanes::LaneBlocks;
use metaspy_probe::{SiteId, Subject};

/// Maximum number of nested events that are followed. A deeper event counts as the deepest followed
/// event.
const DEPTH_MAX: usize = 256;

/// Event that surrounds a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Enclosing {
    /// Id of the event.
    pub id: EventId,
    /// Site of the event.
    pub site: SiteId,
    /// Subject of the event; `None` if it has none.
    pub subject: Option<Subject>,
}

/// Events of one lane that surround rising moments. It continues where it ended, so a live
/// recording can be followed.
///
/// Async calls and spans are left out, because their thread may do unrelated work in their time. So
/// are events at a meta level, and events without a time.
#[derive(Clone, Debug)]
pub struct CurrentEvents {
    lane: u32,
    /// Open events, outermost first, each with its end; `None` = the event had not ended when it
    /// was last read.
    open: Vec<(Enclosing, Option<u64>)>,
    enclosing: Vec<Enclosing>,
    /// Sequence, base and next slot of the block that was read last.
    last: Option<(u64, u64, usize)>,
}

impl CurrentEvents {
    /// Starts at the beginning of a lane.
    pub fn new(lane: LaneId) -> Self {
        CurrentEvents { lane: lane.0, open: Vec::new(), enclosing: Vec::new(), last: None }
    }

    /// Calls `each` for each moment, in order, with the events that surround it, outermost first;
    /// with `None` if the events of that time have left the window. Moments are ticks, and must
    /// rise, also from call to call. All events that began before the last moment must have been
    /// written.
    pub fn at(
        &mut self,
        store: &Store,
        ticks: &[u64],
        mut each: impl FnMut(u64, Option<&[Enclosing]>),
    ) {
        let Some(&first) = ticks.first() else { return };
        let ring = store.ring();
        let asyncs = store.asyncs();
        let is_async = |slot: &Slot| asyncs.get(slot.site as usize).copied().unwrap_or(false);
        let mut ticks = ticks.iter().copied().peekable();
        let from = self.last.map_or(first, |(_, base, _)| base);
        let mut blocks = LaneBlocks::from_tick(ring, self.lane, from);
        while ticks.peek().is_some()
            && let Some(block) = blocks.next()
        {
            let head = block.head;
            let mut records = block.records();
            match self.last {
                Some((sequence, ..)) if head.sequence < sequence => continue,
                Some((sequence, _, slot)) if head.sequence == sequence => {
                    records = block.records_from(slot)
                }
                _ => {
                    let is_gap = if self.last.is_some() {
                        blocks_left(ring, self.last)
                    } else {
                        has_wrapped(ring)
                    };
                    if is_gap {
                        while let Some(tick) = ticks.next_if(|&tick| tick < head.base) {
                            each(tick, None);
                        }
                    }
                    if is_gap || self.last.is_none() {
                        self.begin_at(ring, &head, block.events().next());
                    }
                }
            }
            for record in records.by_ref() {
                let Record::Event(slot) = record else { continue };
                let start = head.base.saturating_add(slot.start);
                while let Some(tick) = ticks.next_if(|&tick| tick < start) {
                    each(tick, Some(self.surrounding(ring, tick)));
                }
                if ticks.peek().is_none() {
                    // The next moments may be before this event.
                    self.last = Some((head.sequence, head.base, slot.slot));
                    return;
                }
                if surrounds(&slot) && !is_async(&slot) {
                    self.enter(&head, &slot, start);
                }
            }
            self.last = Some((head.sequence, head.base, records.slot()));
        }
        for tick in ticks {
            each(tick, Some(self.surrounding(ring, tick)));
        }
    }

    /// Begins in the middle of a lane, where the first event's causes include the events around it.
    fn begin_at(&mut self, ring: Ring<'_>, head: &Head, first: Option<Slot>) {
        self.open.clear();
        let Some(first) = first else { return };
        let start = head.base.saturating_add(first.start);
        let mut next = EventId::from_raw(first.cause);
        while let Some(id) = next
            && self.open.len() < DEPTH_MAX
            && let Some((outer, slot)) = ring.peek(id)
            && outer.lane == head.lane
        {
            let end =
                slot.span().map(|span| outer.base.saturating_add(slot.start).saturating_add(span));
            if surrounds(&slot) && end.is_none_or(|end| end > start) {
                self.open.push((enclosing(&outer, &slot), end));
            }
            // A cause in the same lane is earlier, so this loop ends.
            next = EventId::from_raw(slot.cause).filter(|cause| *cause < id);
        }
        self.open.reverse();
    }

    /// Enters an event.
    fn enter(&mut self, head: &Head, slot: &Slot, start: u64) {
        while self.open.last().is_some_and(|(_, end)| end.is_some_and(|end| end <= start)) {
            self.open.pop();
        }
        if self.open.len() < DEPTH_MAX {
            let end = slot.span().map(|span| start.saturating_add(span));
            self.open.push((enclosing(head, slot), end));
        }
    }

    /// Returns the open events at a moment, without events that have ended.
    fn surrounding(&mut self, ring: Ring<'_>, tick: u64) -> &[Enclosing] {
        for (event, end) in &mut self.open {
            if end.is_none()
                && let Some((head, slot)) = ring.peek(event.id)
            {
                *end = slot
                    .span()
                    .map(|span| head.base.saturating_add(slot.start).saturating_add(span));
            }
        }
        // An inner event ends with the outer event at the latest.
        let ended = self.open.iter().position(|(_, end)| end.is_some_and(|end| end <= tick));
        self.open.truncate(ended.unwrap_or(usize::MAX));
        self.enclosing.clear();
        self.enclosing.extend(self.open.iter().map(|(event, _)| *event));
        &self.enclosing
    }
}

/// Returns true if everything that a thread does in the time of this event is inside the event.
fn surrounds(slot: &Slot) -> bool {
    let level = metaspy_format::slot::level(slot.end);
    slot.is_timed()
        && slot.outcome() != Outcome::Instant
        && slot.outcome() != Outcome::Moved
        && level == 0
}

fn enclosing(head: &Head, slot: &Slot) -> Enclosing {
    Enclosing { id: head.id(slot.slot), site: SiteId(slot.site), subject: slot.subject() }
}

/// Returns true if blocks were used again, so that early events may be missing.
fn has_wrapped(ring: Ring<'_>) -> bool {
    let first = (0..ring.places().min(64)).filter_map(|place| ring.head(place));
    first
        .map(|head| head.sequence)
        .max()
        .is_some_and(|newest| newest >= ring.layout.blocks.saturating_mul(2))
}

/// Returns true if the block that was read last is gone, so that later blocks may be missing too.
fn blocks_left(ring: Ring<'_>, last: Option<(u64, u64, usize)>) -> bool {
    last.is_some_and(|(sequence, ..)| {
        let place = metaspy_format::header::place(sequence, ring.layout.blocks);
        ring.head(place).is_none_or(|head| head.sequence != sequence)
    })
}

impl Store {
    /// Returns the tick at a moment of the monotonic clock, in ns. It is exact to some tens of ns
    /// between two calibration pairs, which are a second apart.
    pub fn tick_at_monotonic_ns(&self, ns: u64) -> u64 {
        self.time().tick_at_monotonic_ns(ns)
    }

    /// Returns true if ticks after the last calibration pair can also be converted. Before a tenth
    /// of a second has been measured, only a rough rate is known.
    pub fn is_calibrated(&self) -> bool {
        self.time().is_calibrated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Draft, Writer};

    /// Returns the sites around each tick, outermost first; `?` = left the window.
    fn sites(events: &mut CurrentEvents, store: &Store, ticks: &[u64]) -> Vec<String> {
        let mut found = Vec::new();
        events.at(store, ticks, |_, around| {
            let text = |of: &[Enclosing]| {
                of.iter().map(|it| it.site.0.to_string()).collect::<Vec<_>>().join(" ")
            };
            found.push(around.map_or("?".into(), text));
        });
        found
    }

    #[test]
    fn a_moment_is_in_the_events_that_began_before_and_ended_after_it() {
        let mut writer = Writer::new(1);
        let event = |writer: &mut Writer, site, start, span, cause| {
            writer.event(Draft { site, start, span: Some(span), cause, ..Draft::default() })
        };
        let outer = event(&mut writer, 1, 100, 100, None);
        event(&mut writer, 2, 110, 20, Some(outer));
        event(&mut writer, 3, 130, 0, Some(outer));
        event(&mut writer, 4, 150, 40, Some(outer));
        event(&mut writer, 9, 155, 5, None);
        let mut events = CurrentEvents::new(LaneId(0));
        let all = sites(
            &mut events,
            &writer.store(),
            &[50, 100, 110, 129, 130, 149, 157, 160, 199, 200, 900],
        );
        assert_eq!(all, ["", "1", "1 2", "1 2", "1", "1", "1 4 9", "1 4", "1", "", ""]);
        // Each call passes a single moment, while later events are there already.
        let mut events = CurrentEvents::new(LaneId(0));
        let single: Vec<String> = [50, 100, 110, 129, 130, 149, 157, 160, 199, 200, 900]
            .into_iter()
            .flat_map(|tick| sites(&mut events, &writer.store(), &[tick]))
            .collect();
        assert_eq!(single, all);
    }

    #[test]
    fn a_lane_is_followed_while_it_is_written() {
        let mut writer = Writer::new(1);
        let running = writer.event(Draft { site: 1, start: 10, span: None, ..Draft::default() });
        let mut events = CurrentEvents::new(LaneId(0));
        assert_eq!(sites(&mut events, &writer.store(), &[5, 20]), ["", "1"]);
        for start in (30..3000).step_by(10) {
            writer.event(Draft {
                site: 2,
                start,
                span: Some(5),
                cause: Some(running),
                ..Draft::default()
            });
        }
        assert_eq!(
            sites(&mut events, &writer.store(), &[32, 36, 2992, 2996]),
            ["1 2", "1", "1 2", "1"]
        );
        // Another lane has no events.
        assert_eq!(sites(&mut CurrentEvents::new(LaneId(7)), &writer.store(), &[32]), [""]);
    }

    #[test]
    fn what_left_the_window_is_not_guessed() {
        let mut writer = Writer::new(1);
        // Of the two laps, the second overwrites the first.
        for start in 0..64 * 127 + 127 {
            writer.event(Draft { site: 1, start: start * 10, span: Some(5), ..Draft::default() });
        }
        let store = writer.store();
        let last = (64 * 127 + 126) * 10;
        assert_eq!(
            sites(&mut CurrentEvents::new(LaneId(0)), &store, &[2, 12, last + 2]),
            ["?", "?", "1"]
        );
    }
}
