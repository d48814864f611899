//! Effects of an event: a tree over all lanes.
//!
//! Effects are counted in all lanes, beside the screen. The event's own lane alone would show 0,
//! which is wrong, because most effects of a message are on another thread. Until all lanes are
//! counted, the number has a "≥".

use std::collections::HashSet;

use metaspy_reader::{EffectsIndex, Event, EventId, Store};

use super::jobs::Progress;

/// Maximum number of rows of a tree of effects; `DEPTH` limits its levels.
const TREE: usize = 400;
const DEPTH: usize = 12;
/// Maximum number of causes that are followed from a linked event.
const CAUSES: usize = 64;

/// Maximum number of async effects whose polls are looked up, because that is a search.
const POLLS: usize = 400;

/// Effects of an event.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Effects as a tree, depth first.
    pub tree: Vec<Effect>,
    /// Direct effects by site, the most frequent first.
    pub by_site: Vec<(metaspy_probe::SiteId, usize)>,
    /// Number of direct effects.
    pub direct: usize,
    /// Ticks of the direct effects inside the event: those on the same lane, and those of an async
    /// call that are polled inside it.
    pub ticks: u64,
    /// True if more of them may be inside the event: it is polled, and caused calls on other lanes.
    pub is_least: bool,
    /// Number of direct effects that are not in the tree.
    pub further: usize,
    /// Part of the recording that was searched.
    pub reach: Reach,
}

/// Part of a recording that was searched for effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The event's own lane while it ran.
    #[default]
    OwnLane,
    /// All lanes, when they were last read.
    LastReading,
    /// The whole recording.
    Whole,
}

/// Event in a tree of effects or of reasons.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Level in the tree; 0 is a direct effect, or a direct reason.
    pub depth: usize,
    /// Event of the row.
    pub event: Event,
    /// True if a link connects the event with the event above, while its cause is different.
    pub is_link: bool,
    /// Number of its own effects that are not in the tree.
    pub further: usize,
}

/// Tree while it is read, level by level.
struct Tree {
    nodes: Vec<Node>,
    /// Events in the tree. Links may form a cycle, and may lead to events that already have a
    /// place.
    seen: HashSet<EventId>,
}

struct Node {
    effect: Effect,
    effects: Vec<usize>,
}

impl Tree {
    /// Adds the effects of an event below its node; direct effects have no node above.
    fn add(&mut self, store: &Store, of: EventId, node: Option<usize>, effects: &[EventId]) {
        let depth = node.map_or(0, |node| self.nodes[node].effect.depth + 1);
        for event in effects.iter().filter_map(|&id| store.event(id)) {
            let is_link = event.cause != Some(of);
            // An event that causes lead to is placed there, and a link must not move it.
            if is_link && node.is_some() && self.leads_to(store, &event) {
                continue;
            }
            if self.seen.insert(event.id) {
                if let Some(node) = node {
                    let at = self.nodes.len();
                    self.nodes[node].effects.push(at);
                }
                let effect = Effect { depth, event, is_link, further: 0 };
                self.nodes.push(Node { effect, effects: Vec::new() });
            }
        }
    }

    /// Returns true if causes lead from an event of the tree to this event.
    fn leads_to(&self, store: &Store, event: &Event) -> bool {
        let causes = std::iter::successors(event.cause, |&cause| store.event(cause)?.cause);
        causes.take(CAUSES).any(|cause| self.seen.contains(&cause))
    }

    fn depth_first(self) -> Vec<Effect> {
        let mut next: Vec<usize> =
            (0..self.nodes.len()).rev().filter(|&at| self.nodes[at].effect.depth == 0).collect();
        let mut found = Vec::with_capacity(self.nodes.len());
        while let Some(at) = next.pop() {
            found.push(self.nodes[at].effect);
            next.extend(self.nodes[at].effects.iter().rev());
        }
        found
    }
}

/// Returns true for an async call or a span, whose time is that of its polls or entries.
fn is_entered(store: &Store, event: &Event) -> bool {
    store.site(event.site).is_some_and(|site| site.kind.is_entered())
}

/// Reads the effects of an event, from its lane and from the index of all lanes.
pub fn read(
    store: &Store,
    id: EventId,
    index: Option<&EffectsIndex>,
    reach: Reach,
    progress: &Progress,
) -> Effects {
    // The index has the other lanes; the lane has the events after the index was built.
    let of = |id: EventId| -> Vec<EventId> {
        let mut ids = store.effects(id);
        if let Some(index) = index {
            ids.extend(index.effects(id));
            ids.sort_unstable();
            ids.dedup();
        }
        ids
    };
    let direct = of(id);
    let mut answer = Effects { direct: direct.len(), reach, ..Effects::default() };
    let of_event = store.event(id);
    let is_polled = of_event.is_some_and(|event| is_entered(store, &event));
    let lane = of_event.map(|event| event.lane);
    let mut looked_up = 0;
    for event in direct.iter().filter_map(|&id| store.event(id)) {
        match answer.by_site.iter_mut().find(|(site, _)| *site == event.site) {
            Some((_, count)) => *count += 1,
            None => answer.by_site.push((event.site, 1)),
        }
        if event.cause != Some(id) {
            continue;
        }
        let is_here = Some(event.lane) == lane;
        if !is_entered(store, &event) {
            answer.ticks += event.span.filter(|_| is_here).unwrap_or(0);
            answer.is_least |= is_polled && !is_here;
        } else if looked_up == POLLS || progress.is_stopped() {
            answer.is_least = true;
        } else {
            looked_up += 1;
            let polls = store.polls(event.id).filter(|polls| !polls.is_apart);
            answer.ticks += polls.map_or(0, |polls| polls.busy_ticks);
        }
    }
    // Sites with equal counts keep the order of time.
    answer.by_site.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut tree = Tree { nodes: Vec::new(), seen: HashSet::from([id]) };
    tree.add(store, id, None, &direct[..direct.len().min(TREE)]);
    answer.further = direct.len().saturating_sub(TREE);
    // The tree grows level by level, so that a deep effect never hides a nearer effect.
    let mut at = 0;
    while at < tree.nodes.len() && !progress.is_stopped() {
        let id = tree.nodes[at].effect.event.id;
        let below = of(id);
        if tree.nodes[at].effect.depth < DEPTH && tree.nodes.len() + below.len() <= TREE {
            tree.add(store, id, Some(at), &below);
        } else {
            tree.nodes[at].effect.further =
                below.iter().filter(|id| !tree.seen.contains(id)).count();
        }
        at += 1;
    }
    answer.tree = tree.depth_first();
    answer
}
