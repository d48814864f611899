//! Effects by links. A link is a further reason of an event, so the effects of the linked event count as effects of the
//! cause as well.

use std::collections::HashSet;

use crate::causes::root_cause::CauseChains;
use crate::event::EventId;
use crate::scan::blocks::{Block, Ring, Slot};
use metaspy_format::slot::Mark;

/// Rounds over the links: a chain of causes can pass this many links.
const ROUNDS: usize = 64;
/// Links in memory at most.
const LINKS_MAX: usize = 1 << 22;

/// The events that a link places under `root`, directly or through further links.
pub(crate) fn link_effects(ring: Ring<'_>, root: EventId) -> HashSet<EventId> {
    let links = links(ring, root);
    let mut link_effects = HashSet::new();
    for _ in 0..ROUNDS {
        if links.is_empty() {
            break;
        }
        let mut lineage = CauseChains::new(ring.places());
        let before = link_effects.len();
        for &(effect, cause) in &links {
            let own = |id, _: &Slot| (id == root || link_effects.contains(&id)).then_some(1);
            if !link_effects.contains(&effect) && lineage.value(ring, cause, own) == 1 {
                link_effects.insert(effect);
            }
        }
        if link_effects.len() == before {
            break;
        }
    }
    link_effects
}

/// Effects and causes of all links that were written since `root` began.
fn links(ring: Ring<'_>, root: EventId) -> Vec<(EventId, EventId)> {
    let Some((head, slot)) = ring.peek(root) else { return Vec::new() };
    let began = head.base.saturating_add(slot.start);
    let mut links = Vec::new();
    let mut block = Block::boxed();
    for chunk in ring.chunks().into_iter().filter(|chunk| chunk.last >= began && chunk.may_hold_marks()) {
        for place in ring.places_of(chunk.index) {
            if !ring.load(place, &mut block) {
                continue;
            }
            for mark in block.marks().filter(|mark| mark.mark == Mark::Link) {
                if let (Some(effect), Some(cause)) = (EventId::from_raw(mark.event), EventId::from_raw(mark.words[0]))
                    && links.len() < LINKS_MAX
                {
                    links.push((effect, cause));
                }
            }
        }
    }
    links
}
