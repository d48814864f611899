//! Tracks: where the formats of timelines draw the events of a lane, so that the events of one
//! track nest.
//!
//! The calls of a thread nest, and are on the first track of its lane. An async call, a span that
//! is entered and left, or a call that ends after the call around it is on a further track of its
//! own.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use metaspy_probe::SiteKind;
use metaspy_reader::{Event, EventId, LaneId, Store};

/// Further tracks of a lane at most. Events that find none are drawn on the last one.
const FURTHER_MAX: u32 = 1 << 12;

/// A track: the lane, and the number in the lane. 0 is the first track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Track {
    /// The lane.
    pub lane: LaneId,
    /// The number in the lane.
    pub number: u32,
}

/// An event as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its track.
    pub track: Track,
    /// Its start, since the beginning of the recording.
    pub start_ns: u64,
    /// Its end. The start for an instant and for a call that was not timed; `None` while it runs.
    pub end_ns: Option<u64>,
}

/// The tracks of all lanes, while events are placed in order of time.
pub struct Tracks<'s> {
    store: &'s Store,
    lanes: HashMap<LaneId, Lane>,
    /// Events that overlap another one on the last track of their lane.
    pub crowded: u64,
}

/// The state of a lane.
#[derive(Default)]
struct Lane {
    /// The ends of the open events on the first track, innermost last, with their ids.
    open: Vec<(u64, EventId)>,
    /// The further tracks, by the time at which they are free.
    free: BinaryHeap<Reverse<(u64, u32)>>,
    further: u32,
}

impl<'s> Tracks<'s> {
    /// No track.
    pub fn new(store: &'s Store) -> Self {
        Tracks { store, lanes: HashMap::new(), crowded: 0 }
    }

    /// Places the next event.
    pub fn place(&mut self, event: &Event) -> Slice {
        let start_ns = self.store.time_ns(event.start);
        // Not the start and a rounded span: an inner event would end after the outer one.
        let end = event
            .span
            .map_or(start_ns, |span| self.store.time_ns(event.start.saturating_add(span)));
        let end_ns = (!event.is_running()).then_some(end);
        let until = end_ns.unwrap_or(u64::MAX);
        let is_entered =
            self.store.site(event.site).is_some_and(|site| SiteKind::is_entered(site.kind));
        let lane = self.lanes.entry(event.lane).or_default();
        lane.leave(start_ns);
        let nests = lane.open.last().is_none_or(|(around, _)| *around >= until);
        let number = if nests && (!is_entered || until == start_ns) {
            lane.open.push((until, event.id));
            0
        } else {
            lane.further(start_ns, until).unwrap_or_else(|| {
                self.crowded += 1;
                FURTHER_MAX
            })
        };
        Slice { track: Track { lane: event.lane, number }, start_ns, end_ns }
    }

    /// True if the event that was placed last in its lane is drawn inside this other event.
    pub fn is_inside(&self, event: &Event, other: EventId) -> bool {
        let Some(lane) = self.lanes.get(&event.lane) else { return false };
        let mut open = lane.open.iter().rev();
        open.next().is_some_and(|(_, id)| *id == event.id) && open.any(|(_, id)| *id == other)
    }

    /// Returns sentences about events that the tracks do not show well.
    pub fn notes(&self) -> Vec<String> {
        let crowded = || {
            format!("{} overlap others, because more than {FURTHER_MAX} ran at once", self.crowded)
        };
        (self.crowded > 0).then(crowded).into_iter().collect()
    }
}

impl Lane {
    /// Forgets the events of the first track that ended.
    fn leave(&mut self, now: u64) {
        while self.open.last().is_some_and(|(end, _)| *end <= now) {
            self.open.pop();
        }
    }

    /// A further track that is free.
    fn further(&mut self, start: u64, end: u64) -> Option<u32> {
        let number = match self.free.peek() {
            Some(&Reverse((until, number))) if until <= start => {
                self.free.pop();
                number
            }
            _ if self.further < FURTHER_MAX => {
                self.further += 1;
                self.further
            }
            _ => return None,
        };
        self.free.push(Reverse((end, number)));
        Some(number)
    }
}
