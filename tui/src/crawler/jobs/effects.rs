//! The effects of an event: a tree over all lanes.

use std::collections::HashSet;

use metaspy_core::store::EffectsIndex;
use metaspy_core::{Event, EventId, Store};

use super::Progress;

/// Most rows and most levels of a tree of effects.
const TREE: usize = 400;
const DEPTH: usize = 12;

/// The effects of an event.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The tree, depth first.
    pub tree: Vec<Effect>,
    /// The direct effects by site, the most frequent first.
    pub by_site: Vec<(metaspy_core::SiteId, usize)>,
    /// Number of direct effects.
    pub direct: usize,
    /// Ticks of the direct effects on the same lane.
    pub ticks: u64,
    /// True if the tree is longer than the rows that were read.
    pub cut: bool,
    /// The part of the recording that was searched.
    pub reach: Reach,
}

/// The part of a recording that was searched for effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The event's own lane while it ran.
    #[default]
    OwnLane,
    /// All lanes, when they were last read.
    LastReading,
    /// Everything.
    Whole,
}

/// An event in a tree of effects or of reasons.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Its level; 0 is a direct effect, or a direct reason.
    pub depth: usize,
    /// The event.
    pub event: Event,
    /// True if a link connects it with the event above: its cause is another one.
    pub is_link: bool,
}

/// Reads the effects of an event, from its lane and from the index of all lanes.
pub(super) fn read(store: &Store, id: EventId, index: Option<&EffectsIndex>, progress: &Progress) -> Effects {
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
    let mut answer = Effects { direct: direct.len(), ..Effects::default() };
    let lane = store.event(id).map(|event| event.lane);
    for event in direct.iter().filter_map(|&id| store.event(id)) {
        match answer.by_site.iter_mut().find(|(site, _)| *site == event.site) {
            Some((_, count)) => *count += 1,
            None => answer.by_site.push((event.site, 1)),
        }
        if Some(event.lane) == lane && event.cause == Some(id) {
            answer.ticks += event.span.unwrap_or(0);
        }
    }
    // Sites with equal counts keep the order of time.
    answer.by_site.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut seen = HashSet::from([id]);
    let mut next: Vec<(usize, EventId, EventId)> = direct.into_iter().rev().map(|effect| (0, effect, id)).collect();
    while let Some((depth, id, reason)) = next.pop() {
        if answer.tree.len() == TREE || progress.is_stopped() {
            answer.cut = true;
            break;
        }
        let Some(event) = store.event(id) else { continue };
        // Links may form a circle.
        if !seen.insert(id) {
            continue;
        }
        answer.tree.push(Effect { depth, event, is_link: event.cause != Some(reason) });
        if depth < DEPTH {
            next.extend(of(id).into_iter().rev().map(|effect| (depth + 1, effect, id)));
        }
    }
    answer
}
