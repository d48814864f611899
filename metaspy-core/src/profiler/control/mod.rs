//! Orders from outside: the crawler arms and disarms sites of this process, if the process allows
//! it.
//!
//! The orders belong to a profiler of their own. They replace the armings of
//! [`Profiler::controlled`](crate::Profiler::controlled) and `METASPY_OBSERVE` at the same sites,
//! and leave all other profilers as they are. The collector's thread reads and applies them, so no
//! hook waits.
//!
//! Orders come through a socket, which the collector serves between its rounds without waiting. A
//! page in the recording would not do, because readers map it read-only, and a page cannot refuse
//! an order with a reason. The orders have a profiler of their own, so that profilers of the
//! program keep exact results, except those that allow orders.

mod chosen;
#[cfg(unix)]
mod server;

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

use linkme::distributed_slice;

use crate::arm;
use crate::platform::lock::lock;
use crate::profiler::InstallError;
use crate::recorder::{self, AddedRules};
use crate::recording::ORDER_SERVERS;
use crate::site::{self, SiteEntry, SiteId};
use crate::store::control::{Change, ControlAnswer, ControlRequest, MOST_SUBJECTS, SiteState};
use chosen::Chosen;

#[cfg(unix)]
use server::allow;

/// Recordings may allow orders.
#[distributed_slice(ORDER_SERVERS)]
static SERVE: fn(&'static recorder::Log) = allow;

/// Does nothing: the system has no Unix sockets.
#[cfg(not(unix))]
fn allow(log: &'static recorder::Log) {
    log.note("Arming from outside needs Unix sockets, which this system does not have.");
}

/// The number of the profiler that the orders belong to. The others begin at 1.
pub(super) const PROFILER: u64 = 0;

/// The orders, by site.
static ORDERED: Mutex<BTreeMap<SiteId, Chosen>> = Mutex::new(BTreeMap::new());

/// The rules of readers that keep events. They hold until the process ends, because their reader
/// may be gone by then.
static KEPT: Mutex<Vec<AddedRules>> = Mutex::new(Vec::new());

/// Bytes of the rules of a request at most, and requests with rules.
const MOST_RULES_BYTES: usize = 4096;
const MOST_KEEPS: usize = 256;

/// Applies a request.
fn answer(request: &ControlRequest) -> ControlAnswer {
    if let Some(rules) = &request.keep {
        return keep(rules).map(|()| Vec::new());
    }
    let subjects = request.subjects();
    if subjects.as_ref().is_some_and(|subjects| subjects.len() > MOST_SUBJECTS) {
        return Err(format!("a request names at most {MOST_SUBJECTS} subjects: select fewer"));
    }
    let numbers: HashSet<u32> = request.sites.iter().copied().collect();
    let mut sites = site::entries();
    sites.retain(|entry| numbers.is_empty() || numbers.contains(&entry.id.0));
    if sites.is_empty() {
        return Err("the process has no such site".into());
    }
    if request.change != Change::Show {
        change(request.change, &sites, subjects.as_deref())?;
    }
    let ordered = lock(&ORDERED);
    let arms = arm::arms();
    let state = |entry: &SiteEntry| {
        let seized = arms.seizable(PROFILER, entry.id);
        let observed = match ordered.get(&entry.id) {
            Some(chosen) => chosen.observed(),
            None => Chosen::from(&seized).observed(),
        };
        SiteState { site: entry.id.0, observed, kept: arms.is_armed_by_others(PROFILER, entry.id) }
    };
    Ok(sites.iter().map(state).collect())
}

/// Keeps the events that meet rules.
fn keep(rules: &str) -> Result<(), String> {
    let mut kept = lock(&KEPT);
    if rules.len() > MOST_RULES_BYTES || kept.len() >= MOST_KEEPS {
        return Err(format!(
            "a request has at most {MOST_RULES_BYTES} bytes of rules, and a process takes {MOST_KEEPS} requests"
        ));
    }
    kept.push(AddedRules::add(rules).map_err(|error| error.to_string())?);
    Ok(())
}

/// Changes the observed subjects of the sites.
fn change(
    change: Change,
    sites: &[SiteEntry],
    subjects: Option<&[crate::Subject]>,
) -> Result<(), String> {
    let observable: Vec<&SiteEntry> =
        sites.iter().filter(|entry| entry.site.def().skipped.is_none()).collect();
    let Some(first) = observable.first() else {
        let path = sites[0].site.path();
        let why = sites[0].site.def().skipped.unwrap_or_default();
        return Err(format!("`{path}` cannot be observed: {why}"));
    };
    if subjects.is_some()
        && let Some(entry) = observable.iter().find(|entry| entry.site.is_entry())
    {
        return Err(InstallError::OnlyCounts { site: entry.site.path() }.to_string());
    }
    let verb = if change == Change::Disarm { "disarms" } else { "arms" };
    let more = if observable.len() > 1 {
        format!(" and {} more", observable.len() - 1)
    } else {
        String::new()
    };
    // The epoch first, then the arm words, as at an installation.
    recorder::next_epoch(&format!("a reader {verb} {}{more}", first.site.path()));
    let mut ordered = lock(&ORDERED);
    let mut unread = Vec::new();
    let mut refused = None;
    for entry in observable {
        let mut arms = arm::arms();
        let chosen = ordered
            .entry(entry.id)
            .or_insert_with(|| Chosen::from(&arms.seizable(PROFILER, entry.id)));
        if !chosen.apply(change, subjects) {
            refused = Some(format!(
                "a site remembers at most {MOST_SUBJECTS} subjects one by one: arm or disarm all"
            ));
            continue;
        }
        unread.extend(arms.seize(PROFILER, entry, chosen.arming()));
    }
    drop(ordered);
    // Replaced plans may hold handlers of the program, whose destructors may panic.
    let _ = recorder::at_meta_level(|| drop(unread));
    refused.map_or(Ok(()), Err)
}
