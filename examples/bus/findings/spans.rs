//! The spans and events of mini-redis, and where their causes begin.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy::{Event, EventId, SiteId, SiteKind, Store};

/// Causes that are followed: an envelope may name any event, so they may go round.
const DEPTH_MAX: usize = 1_000;

/// One span or event of `tracing` in mini-redis.
#[derive(Debug)]
pub struct SpanSite {
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

impl SpanSite {
    /// True if an edge is missing: some events have no cause, and none has a PUBLISH as its cause.
    pub fn is_cut_off(&self) -> bool {
        self.roots > 0 && self.under_publish == 0
    }
}

/// Counts the spans and the events of `tracing`, by their places.
pub fn sites(store: &Store, events: &[Event], publishes: &BTreeSet<SiteId>) -> Vec<SpanSite> {
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
    let mut sites = BTreeMap::<SiteId, SpanSite>::new();
    let mut under_roots = HashMap::<EventId, u64>::new();
    for event in events.iter().filter(|event| is_span(event.site)) {
        let path = store.site_path(event.site).to_owned();
        let new = || SpanSite {
            path,
            events: 0,
            roots: 0,
            under_publish: 0,
            begin_with: BTreeMap::new(),
            under_each: vec![],
        };
        let site = sites.entry(event.site).or_insert_with(new);
        let (begin, under) = origin(event);
        site.events += 1;
        site.roots += u64::from(event.cause.is_none());
        site.under_publish += u64::from(under);
        if !under && event.cause.is_some() {
            *under_roots.entry(begin.id).or_default() += 1;
            *site.begin_with.entry(store.site_path(begin.site).to_owned()).or_default() += 1;
        }
    }
    for root in events.iter().filter(|event| event.cause.is_none()) {
        if let Some(site) = sites.get_mut(&root.site) {
            site.under_each.push(under_roots.get(&root.id).copied().unwrap_or(0));
        }
    }
    sites.values_mut().for_each(|site| site.under_each.sort_by_key(|under| Reverse(*under)));
    let mut sites: Vec<SpanSite> = sites.into_values().collect();
    sites.sort_by(|a, b| a.path.cmp(&b.path));
    sites
}
