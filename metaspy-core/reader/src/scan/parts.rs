//! Scan of the window in parts that are read independently, for engines with their own threads.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::ring::blocks::{Block, Head, Slot};
use crate::ring::chunks::Chunk;
use crate::{Event, LaneId, Outcome, Store};
use metaspy_format::slot;
use metaspy_format::summary::bit;
use metaspy_probe::{KindId, SiteId};

/// Conditions on the numbers of an event. All must hold; `None` = no condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Sites of the events.
    pub sites: Option<HashSet<SiteId>>,
    /// Kinds of the subjects; kind 0 = events without a subject.
    pub kinds: Option<HashSet<KindId>>,
    /// Keys of the subjects.
    pub keys: Option<HashSet<u64>>,
    /// Lanes of the events.
    pub lanes: Option<HashSet<LaneId>>,
    /// Outcomes of the events.
    pub outcomes: Option<Vec<Outcome>>,
    /// Ticks at which the events begin.
    pub ticks: Option<RangeInclusive<u64>>,
}

/// Scan of the application's events in the window that meet some [`Conditions`], in parts.
///
/// A part is a chunk of the window: about 8,000 events. Parts are in order of time, and can be read
/// in any order, on any thread. Inside a part, each lane is in its own order.
///
/// ```no_run
/// use metaspy_reader::{Conditions, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scan = Store::open("run.spy".as_ref())?.scan(Conditions::default());
/// let mut events = Vec::new();
/// for part in 0..scan.parts() {
///     events.clear();
///     scan.read(part, &mut events);
///     println!("{} events", events.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Scan {
    store: Store,
    conditions: Conditions,
    /// Numbers of the chunks, oldest first.
    chunks: Vec<u64>,
    skipped: usize,
}

impl Store {
    /// Prepares a scan. Chunks whose summary excludes all events are skipped.
    pub fn scan(&self, conditions: Conditions) -> Scan {
        let mut chunks = self.ring().chunks();
        let all = chunks.len();
        chunks.retain(|chunk| conditions.may_hold_in(chunk));
        let chunks: Vec<u64> = chunks.into_iter().map(|chunk| chunk.index).collect();
        Scan { store: self.clone(), conditions, skipped: all - chunks.len(), chunks }
    }
}

impl Scan {
    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the number of chunks that are skipped.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the recording.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Appends the events of a part. A live recording may have replaced the chunk, which then has
    /// newer events, or none.
    pub fn read(&self, part: usize, into: &mut Vec<Event>) {
        let Some(&chunk) = self.chunks.get(part) else { return };
        let ring = self.store.ring();
        let mut block = Block::boxed();
        for place in ring.places_of(chunk) {
            if !ring.load(place, &mut block) || !self.conditions.may_hold_in_lane(block.head.lane) {
                continue;
            }
            let head = block.head;
            let events = block.events().filter(|slot| self.conditions.hold(&head, slot));
            into.extend(events.map(|slot| self.store.completed(head.event(&slot))));
        }
    }
}

impl Conditions {
    fn may_hold_in(&self, chunk: &Chunk) -> bool {
        let in_time = self
            .ticks
            .as_ref()
            .is_none_or(|ticks| chunk.first <= *ticks.end() && *ticks.start() <= chunk.last);
        let Some(summary) = chunk.summary else { return in_time };
        let sites = self
            .sites
            .as_ref()
            .is_none_or(|sites| sites.iter().any(|site| summary.sites & bit(site.0) != 0));
        let lanes = self
            .lanes
            .as_ref()
            .is_none_or(|lanes| lanes.iter().any(|lane| summary.lanes & bit(lane.0) != 0));
        let only_running = self.outcomes.as_deref() == Some(&[Outcome::Running]);
        summary.events != 0 && in_time && sites && lanes && (!only_running || summary.running != 0)
    }

    fn may_hold_in_lane(&self, lane: u32) -> bool {
        self.lanes.as_ref().is_none_or(|lanes| lanes.contains(&LaneId(lane)))
    }

    #[inline]
    fn hold(&self, head: &Head, slot: &Slot) -> bool {
        slot::level(slot.end) == 0
            && self.sites.as_ref().is_none_or(|sites| sites.contains(&SiteId(slot.site)))
            && self.keys.as_ref().is_none_or(|keys| keys.contains(&slot.key))
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&KindId(slot::kind(slot.end))))
            && self.outcomes.as_ref().is_none_or(|outcomes| outcomes.contains(&slot.outcome()))
            && self
                .ticks
                .as_ref()
                .is_none_or(|ticks| ticks.contains(&head.base.saturating_add(slot.start)))
    }
}
