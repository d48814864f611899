//! The spans and events of mini-redis, and where their causes begin.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy::{Event, EventId, SiteId, SiteKind, Store};

/// Causes that are followed: an envelope may name any event, so they may go round.
const DEPTH_MAX: usize = 1_000;

/// One place in mini-redis that tells of what happens.
#[derive(Debug)]
pub struct Told {
    pub path: String,
    pub events: u64,
    /// Those without a cause.
    pub roots: u64,
    /// Those that a PUBLISH led to.
    pub under_publish: u64,
    /// What the causes of the others begin with, and how often.
    pub begin_with: BTreeMap<String, u64>,
    /// How many others begin with each of the roots, the most first.
    pub under_each: Vec<u64>,
}

impl Told {
    /// True if an edge is missing: some events have no cause, and none has a PUBLISH as its cause.
    pub fn is_cut_off(&self) -> bool {
        self.roots > 0 && self.under_publish == 0
    }
}

/// Counts the spans and the events of `tracing`, by their places.
pub fn told(store: &Store, events: &[Event], publishes: &BTreeSet<SiteId>) -> Vec<Told> {
    let by_id: HashMap<EventId, &Event> = events.iter().map(|event| (event.id, event)).collect();
    // The root, and `true` if a PUBLISH is on the way to it.
    let origin = |event: &Event| {
        let (mut at, mut under) = (*event, publishes.contains(&event.site));
        for _ in 0..DEPTH_MAX {
            let Some(cause) = at.cause.and_then(|cause| by_id.get(&cause)) else { break };
            at = **cause;
            under |= publishes.contains(&at.site);
        }
        (at, under)
    };
    let is_span = |site: SiteId| store.site(site).is_some_and(|site| site.kind == SiteKind::Span);
    let mut told = BTreeMap::<SiteId, Told>::new();
    let mut under_roots = HashMap::<EventId, u64>::new();
    for event in events.iter().filter(|event| is_span(event.site)) {
        let path = store.site_path(event.site).to_owned();
        let new =
            || Told { path, events: 0, roots: 0, under_publish: 0, begin_with: BTreeMap::new(), under_each: vec![] };
        let told = told.entry(event.site).or_insert_with(new);
        let (begin, under) = origin(event);
        told.events += 1;
        told.roots += u64::from(event.cause.is_none());
        told.under_publish += u64::from(under);
        if !under && event.cause.is_some() {
            *under_roots.entry(begin.id).or_default() += 1;
            *told.begin_with.entry(store.site_path(begin.site).to_owned()).or_default() += 1;
        }
    }
    for root in events.iter().filter(|event| event.cause.is_none()) {
        if let Some(told) = told.get_mut(&root.site) {
            told.under_each.push(under_roots.get(&root.id).copied().unwrap_or(0));
        }
    }
    told.values_mut().for_each(|told| told.under_each.sort_by_key(|under| Reverse(*under)));
    let mut told: Vec<Told> = told.into_values().collect();
    told.sort_by(|a, b| a.path.cmp(&b.path));
    told
}
