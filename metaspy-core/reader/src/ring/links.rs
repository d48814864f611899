//! Links of a recording. A link is a further reason of an event, beside its cause.

use std::sync::{Arc, Mutex};

use metaspy_format::BLOCK_SLOTS;

use crate::event::EventId;
use crate::ring::chunk_index::ChunkIndex;

/// All links of a recording, from effect to reason. Clones are cheap.
///
/// [`Store::links`](crate::Store::links) finds the links of one event in its blocks. `Links` serve
/// walks over many events.
#[derive(Clone)]
pub struct Links(pub(crate) ChunkIndex<(u64, u64)>);

/// Links of a recording that have been read so far. Filters share them.
#[derive(Default)]
pub(crate) struct KnownLinks(pub(crate) Mutex<Option<Arc<Links>>>);

impl Links {
    /// Returns an empty set of links.
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Links(ChunkIndex::new()))
    }

    /// Returns true if there is no link.
    pub fn is_empty(&self) -> bool {
        self.0.runs().all(<[_]>::is_empty)
    }

    /// Iterates over all links as effect and reason, in no particular order. A link may occur
    /// twice.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, EventId)> {
        let all = self.0.runs().flatten();
        all.filter_map(|(effect, reason)| {
            Some((EventId::from_raw(*effect)?, EventId::from_raw(*reason)?))
        })
    }

    /// Adds the links of a block's events, as effect and reason. A link is added once.
    pub(crate) fn of_block(&self, sequence: u64, into: &mut Vec<(u64, u64)>) {
        let slots = BLOCK_SLOTS as u64;
        let first = sequence.saturating_mul(slots);
        for run in self.0.runs() {
            let from = run.partition_point(|(effect, _)| *effect < first);
            into.extend(run[from..].iter().take_while(|(effect, _)| effect / slots == sequence));
        }
        into.sort_unstable();
        into.dedup();
    }

    /// Adds the further reasons of an event. A reason may be added twice.
    pub fn reasons(&self, effect: EventId, into: &mut Vec<EventId>) {
        for run in self.0.runs() {
            let from = run.partition_point(|(of, _)| *of < effect.raw());
            let own = run[from..].iter().take_while(|(of, _)| *of == effect.raw());
            into.extend(own.filter_map(|(_, reason)| EventId::from_raw(*reason)));
        }
    }
}
