//! Entry points: functions whose calls have no recorded cause.
//!
//! A chain of causes ends at such a call, because the caller has no hook, was not observed, or began
//! before the profiler was installed. It may be the start of a program's own work, or stand behind a
//! door that the cause did not pass: an executor or a callback. The source shows which, and the
//! threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Conditions, LaneId, Store};
use serde::Serialize;

use super::doors::Door;
use super::path;

/// Function whose stored calls have no cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    #[serde(skip)]
    pub(super) id: SiteId,
    /// Path of the function.
    pub site: String,
    /// Calls without a cause that are stored as events.
    pub calls: u64,
    /// Threads on which these calls began, by name, the most frequent first.
    pub threads: Vec<Thread>,
    /// The trait through which other code may call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_trait: Option<String>,
    /// Where the source gives it to other code, or calls it in a function without a recorded call.
    /// Empty before [`Report::find_doors`](super::Report::find_doors).
    pub doors: BTreeSet<Door>,
}

/// Calls on the threads of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// Name of the threads; empty for those without one.
    pub name: String,
    /// Calls of the entry point on them.
    pub calls: u64,
}

/// Returns the entry points among the sites of root causes, the most frequent first. `main`, tests
/// and sites that are no functions are the beginnings that a reader expects, and left out.
pub fn read(store: &Store, roots: impl Iterator<Item = SiteId>) -> Vec<EntryPoint> {
    let roots: HashSet<SiteId> = roots.filter(|site| is_function(store, *site)).collect();
    if roots.is_empty() {
        return Vec::new();
    }
    let mut calls: BTreeMap<(SiteId, LaneId), u64> = BTreeMap::new();
    let scan = store.scan(Conditions { sites: Some(roots), ..Conditions::default() });
    let mut events = Vec::new();
    for part in 0..scan.parts() {
        events.clear();
        scan.read(part, &mut events);
        for event in events.iter().filter(|event| event.cause.is_none()) {
            *calls.entry((event.site, event.lane)).or_default() += 1;
        }
    }
    let names: BTreeMap<LaneId, String> =
        store.lanes().into_iter().map(|lane| (lane.id, lane.name)).collect();
    let mut by_site: BTreeMap<SiteId, BTreeMap<&str, u64>> = BTreeMap::new();
    for ((site, lane), calls) in calls {
        let name = names.get(&lane).map_or("", String::as_str);
        *by_site.entry(site).or_default().entry(name).or_default() += calls;
    }
    let mut found: Vec<EntryPoint> =
        by_site.into_iter().map(|(site, threads)| entry_point(store, site, threads)).collect();
    found.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.site.cmp(&b.site)));
    found
}

fn entry_point(store: &Store, site: SiteId, threads: BTreeMap<&str, u64>) -> EntryPoint {
    let calls = threads.values().sum();
    let mut threads: Vec<Thread> =
        threads.into_iter().map(|(name, calls)| Thread { name: name.to_owned(), calls }).collect();
    threads.sort_by_key(|thread| Reverse(thread.calls));
    let of_trait = store.site(site).and_then(|site| site.facts()?.of_trait);
    let doors = BTreeSet::new();
    EntryPoint { id: site, site: path(store, site), calls, threads, of_trait, doors }
}

/// False if calls were lost: one of them may be the cause of any other one.
pub fn has_all_causes(store: &Store) -> bool {
    let totals = store.totals();
    totals.lost == 0 && totals.unnamed == 0
}

/// Returns true for a function or method that is neither `main` nor a test.
fn is_function(store: &Store, site: SiteId) -> bool {
    let Some(site) =
        store.site(site).filter(|site| matches!(site.kind, SiteKind::Method | SiteKind::Async))
    else {
        return false;
    };
    let is_main = site.path.rsplit("::").next() == Some("main");
    !is_main && site.facts().is_none_or(|facts| !facts.is_test)
}
