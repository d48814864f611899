//! The findings of the recording alone: this counts events and follows their causes.

mod spans;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy::prelude::*;
use metaspy::store::{Filter, Origin, Position};
use metaspy::{Event, EventId, SiteId, SiteKind, Store};

pub use spans::SpanSite;

use crate::view::RECEIVED;

/// Where a PUBLISH begins.
const PUBLISH: &str = "publisher::Publisher::*";
/// The site of a subscription, from the spans of mini-redis.
const SUBSCRIBE: &str = "mini_redis::client::subscribe";

pub struct Findings {
    /// Exact, whatever became of the events.
    pub sent: u64,
    pub received: u64,
    pub missed: u64,
    /// By channel and kind.
    pub announcements: BTreeMap<String, Announced>,
    /// Where the causes of each receipt begin.
    pub roots: Vec<Root>,
    /// Who hears of the same announcement more than once.
    pub repeated: Vec<Repeated>,
    /// The spans and events of mini-redis.
    pub spans: Vec<SpanSite>,
    /// The first PUBLISH that a view received twice, or else the first one.
    pub example: Option<EventId>,
    pub store: Store,
}

/// One kind of announcement.
#[derive(Debug, Default)]
pub struct Announced {
    pub published: u64,
    pub received: u64,
    /// Receipts beyond the first of a view, of one PUBLISH.
    pub too_often: u64,
    /// Who published it, and how often.
    pub publishers: BTreeMap<String, u64>,
}

/// Where the causes of a receipt begin.
#[derive(Debug)]
pub struct Root {
    pub event: EventId,
    pub site: String,
    pub is_publish: bool,
    /// True if the chain is known to its end.
    pub is_known: bool,
}

/// A view that hears of the same announcement more than once.
#[derive(Debug)]
pub struct Repeated {
    pub view: String,
    pub receipts: u64,
    pub too_often: u64,
    /// Where it subscribed.
    pub subscribed: Vec<String>,
}

impl Findings {
    /// Modules without an event under a PUBLISH, and their numbers of events.
    pub fn modules_cut_off(&self) -> BTreeMap<&str, u64> {
        let mut modules = BTreeMap::<&str, (u64, u64)>::new();
        for site in &self.spans {
            let module =
                site.path.rsplit_once("::").map_or(site.path.as_str(), |(module, _)| module);
            let counts = modules.entry(module).or_default();
            *counts = (counts.0 + site.events, counts.1 + site.under_publish);
        }
        let cut_off = modules.into_iter().filter(|(_, (_, under_publish))| *under_publish == 0);
        cut_off.map(|(module, (events, _))| (module, events)).collect()
    }
}

/// Reads a profile.
pub fn of(profile: &Profile) -> Findings {
    let store = profile.store();
    let sites = Sites::of(store);
    let counts = profile.counts().by_site();
    let count = |wanted: &dyn Fn(SiteId) -> bool| -> u64 {
        let rows = counts.rows.iter().filter(|row| row.site.is_some_and(wanted));
        rows.map(|row| row.measure.count).sum()
    };
    let events = all(store);
    let receipts = || events.iter().filter(|event| sites.is_receipt(event.site));

    let mut announcements = BTreeMap::<String, Announced>::new();
    for row in profile.counts().by_site_and_subject().rows {
        let (Some(site), times) = (row.site, row.measure.count) else { continue };
        if let Some(path) = sites.receipts.get(&site) {
            announcements.entry(path.clone()).or_default().received += times;
        } else if sites.publishes.contains(&site) {
            let announced =
                announcements.entry(sites.announced_at(store.site_path(site))).or_default();
            announced.published += times;
            *announced.publishers.entry(name(store, row.subject)).or_default() += times;
        }
    }
    let mut views = BTreeMap::<String, (u64, u64)>::new();
    let mut heard = HashMap::<_, u64>::new();
    let mut example = None;
    for receipt in receipts() {
        let times = heard.entry((receipt.cause, receipt.subject)).or_default();
        *times += 1;
        let of_view = views.entry(name(store, receipt.subject)).or_default();
        of_view.0 += 1;
        if receipt.cause.is_some() && *times > 1 {
            of_view.1 += 1;
            announcements.entry(sites.receipts[&receipt.site].clone()).or_default().too_often += 1;
            example = example.or(receipt.cause);
        }
    }
    let first =
        || events.iter().find(|event| sites.publishes.contains(&event.site)).map(|event| event.id);
    let subscribed = subscriptions(store, &events);
    Findings {
        sent: count(&|site| sites.publishes.contains(&site)),
        received: count(&|site| sites.is_receipt(site)),
        missed: count(&|site| sites.missed.contains(&site)),
        announcements,
        roots: receipts().map(|receipt| root_of(store, receipt, &sites)).collect(),
        repeated: (views.into_iter().filter(|(_, (_, too_often))| *too_often > 0))
            .map(|(view, (receipts, too_often))| {
                let subscribed = subscribed.get(&view).cloned().unwrap_or_default();
                Repeated { view, receipts, too_often, subscribed }
            })
            .collect(),
        spans: spans::sites(store, &events, &sites.publishes),
        example: example.or_else(first),
        store: store.clone(),
    }
}

fn name(store: &Store, subject: Option<Subject>) -> String {
    subject.map_or_else(|| "no subject".to_owned(), |subject| store.subject_text(subject))
}

/// Every event, in the order of time.
fn all(store: &Store) -> Vec<Event> {
    store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events
}

/// The sites that matter, by what happens there.
struct Sites {
    publishes: BTreeSet<SiteId>,
    /// With channel and kind.
    receipts: BTreeMap<SiteId, String>,
    missed: BTreeSet<SiteId>,
}

impl Sites {
    fn of(store: &Store) -> Self {
        let publish: Selector = PUBLISH.parse().expect("it is a selector");
        let (mut publishes, mut receipts, mut missed) =
            (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        for site in store.sites() {
            let received = (site.kind == SiteKind::Announcement)
                .then(|| site.path.strip_prefix(RECEIVED))
                .flatten();
            match received.and_then(|path| path.strip_prefix("::")) {
                Some("missed") => _ = missed.insert(site.id),
                Some(path) => _ = receipts.insert(site.id, path.to_owned()),
                None if publish.matches(&site.path) => _ = publishes.insert(site.id),
                None => {}
            }
        }
        Sites { publishes, receipts, missed }
    }

    /// Channel and kind of what a method publishes: as its receipts have it, which are called as
    /// the method is.
    fn announced_at(&self, method: &str) -> String {
        let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
        let path = self.receipts.values().find(|path| last(path) == last(method));
        path.cloned().unwrap_or_else(|| last(method))
    }

    fn is_receipt(&self, site: SiteId) -> bool {
        self.receipts.contains_key(&site)
    }
}

fn root_of(store: &Store, receipt: &Event, sites: &Sites) -> Root {
    let mut causes = store.causes(receipt.id);
    let root = causes.by_ref().last().unwrap_or(*receipt);
    Root {
        event: root.id,
        site: store.site_path(root.site).to_owned(),
        is_publish: sites.publishes.contains(&root.site),
        is_known: causes.origin() == Origin::Root,
    }
}

/// Where each view subscribed: the causes of the subscriptions in mini-redis, by view.
fn subscriptions(store: &Store, events: &[Event]) -> BTreeMap<String, Vec<String>> {
    let mut subscriptions = BTreeMap::<String, Vec<String>>::new();
    for event in events.iter().filter(|event| store.site_path(event.site) == SUBSCRIBE) {
        let cause = event.cause.and_then(|cause| store.event(cause));
        if let Some((cause, whose)) = cause.and_then(|cause| Some((cause, cause.subject?))) {
            let at = store
                .site(cause.site)
                .map_or(String::new(), |site| format!(" ({}:{})", site.file, site.lines.0));
            let by = format!("{}{at}", short(store.site_path(cause.site)));
            subscriptions.entry(name(store, Some(whose))).or_default().push(by);
        }
    }
    subscriptions
}

/// The last two segments of a path.
pub fn short(path: &str) -> &str {
    path.rmatch_indices("::").nth(1).map_or(path, |(at, _)| &path[at + 2..])
}
