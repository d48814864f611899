//! Reading of a recording's links from its blocks, chunk by chunk.

use std::sync::Arc;

use metaspy_format::header;
use metaspy_format::slot::Mark;

use crate::Store;
use crate::event::EventId;
use crate::platform::lock::lock;
use crate::ring::blocks::{Block, Ring};
use crate::ring::links::Links;

impl Store {
    /// Returns the links that the window holds now. Reads only the chunks that changed since the
    /// last call.
    pub fn all_links(&self) -> Arc<Links> {
        let ring = self.ring();
        let mut known = lock(&self.links.0);
        let mut links = known.take().unwrap_or_else(Links::none);
        Arc::make_mut(&mut links).0.read_on(
            ring,
            |chunk, into| links_of(ring, chunk, into),
            |(effect, _)| EventId::from_raw(*effect).is_some_and(|id| is_in_window(ring, id)),
            |_, _| true,
        );
        *known = Some(links.clone());
        links
    }
}

/// Returns true if the block of an event has not been reused.
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
