//! All links of a recording. A link is a further reason of an event, beside its cause.

use std::sync::{Arc, Mutex};

use crate::Store;
use crate::causes::chunk_index::ChunkIndex;
use crate::event::EventId;
use crate::platform::lock::lock;
use crate::scan::blocks::{Block, Ring};
use metaspy_format::header;
use metaspy_format::slot::Mark;

/// All links of a recording, from effect to reason. Clones are cheap.
///
/// [`Store::links`] finds the links of one event in its blocks; these are for a walk over many events.
#[derive(Clone)]
pub struct Links(ChunkIndex<(u64, u64)>);

/// The links of a recording, as far as they were read. Filters share them.
#[derive(Default)]
pub(crate) struct KnownLinks(Mutex<Option<Arc<Links>>>);

impl Links {
    /// No links.
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Links(ChunkIndex::new()))
    }

    /// True if there is no link.
    pub fn is_empty(&self) -> bool {
        self.0.runs().all(<[_]>::is_empty)
    }

    /// All links: effect and reason, in no particular order. A link may be in it twice.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, EventId)> {
        let all = self.0.runs().flatten();
        all.filter_map(|(effect, reason)| Some((EventId::from_raw(*effect)?, EventId::from_raw(*reason)?)))
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

impl Store {
    /// The links that the window holds now. Reads the chunks that changed since the last call.
    pub fn all_links(&self) -> Arc<Links> {
        let ring = self.ring();
        let mut known = lock(&self.links.0);
        let mut links = known.take().unwrap_or_else(Links::none);
        let is_kept = |(effect, _): &(u64, u64)| EventId::from_raw(*effect).is_some_and(|id| is_in_window(ring, id));
        Arc::make_mut(&mut links).0.read_on(ring, |chunk, into| links_of(ring, chunk, into), is_kept, |_, _| true);
        *known = Some(links.clone());
        links
    }
}

/// True if the block of an event has not been reused.
fn is_in_window(ring: Ring<'_>, id: EventId) -> bool {
    let head = ring.head(header::place(id.sequence(), ring.layout.blocks));
    head.is_some_and(|head| head.sequence == id.sequence())
}

fn links_of(ring: Ring<'_>, chunk: u64, into: &mut Vec<(u64, u64)>) {
    if ring.summary(chunk).is_some_and(|summary| summary.marks == 0) {
        return;
    }
    let mut block = Block::boxed();
    for place in ring.places_of(chunk) {
        if ring.load(place, &mut block) {
            let links = block.marks().filter(|mark| mark.mark == Mark::Link);
            into.extend(links.map(|mark| (mark.event, mark.words[0])));
        }
    }
}
