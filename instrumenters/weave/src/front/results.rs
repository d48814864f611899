//! What was woven, and what of it ran, added up over the processes of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use metaspy_core::Store;
use metaspy_core::store::{By, Scope};

use crate::front::is_recording;
use crate::plan::Plan;
use crate::wrapper::{Left, Listing, Method, listings};

/// What became of a run.
#[derive(Debug, Default)]
pub struct Results {
    /// Woven packages, and how many functions of each have a hook.
    pub packages: BTreeMap<String, usize>,
    /// What was left as it is.
    pub skipped: BTreeSet<Left>,
    /// Calls of macros where items stand, and derived traits: what they make is not seen.
    pub invisible: (usize, usize),
    /// Woven functions; after a run, those that were in a program.
    pub methods: Vec<Ran>,
    /// Processes that recorded; `None` if nothing was run.
    pub processes: Option<usize>,
    /// What is wrong with the counts, as sentences.
    pub doubts: Vec<String>,
}

/// A woven function, and what ran of it.
#[derive(Debug)]
pub struct Ran {
    /// The function.
    pub method: Method,
    /// What was counted.
    pub calls: Calls,
}

/// What was counted of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    /// Calls.
    pub count: u64,
    /// Their time with what they called, where it was taken.
    pub total_ns: Option<u64>,
    /// Their time without.
    pub self_ns: Option<u64>,
}

/// What tells functions apart: path, file and line.
type Name = (String, String, u32);

impl Results {
    /// Reads what was woven by this plan, and what was recorded.
    pub fn read(plan: &Plan, recordings: Option<&Path>) -> Results {
        let mut results = Results::default();
        let mut woven = BTreeMap::new();
        for listing in listings(&plan.dir).into_iter().filter(|listing| is_current(plan, listing)) {
            results.add(listing, &mut woven);
        }
        let counted = recordings.map(|dir| results.count(dir));
        for (name, method) in woven {
            match &counted {
                None => results.methods.push(Ran { method, calls: Calls::default() }),
                // What is compiled under conditions may be in no program.
                Some(counted) => {
                    results.methods.extend(counted.get(&name).map(|calls| Ran { method, calls: *calls }));
                }
            }
        }
        results.methods.sort_by(|a, b| b.calls.count.cmp(&a.calls.count).then_with(|| a.method.cmp(&b.method)));
        results
    }

    fn add(&mut self, listing: Listing, woven: &mut BTreeMap<Name, Method>) {
        let before = woven.len();
        woven.extend(listing.woven.into_iter().map(|method| (name_of(&method), method)));
        if woven.len() > before {
            *self.packages.entry(listing.package).or_default() += woven.len() - before;
            self.invisible.0 += listing.macros;
            self.invisible.1 += listing.derives;
        }
        self.skipped.extend(listing.skipped);
    }

    fn count(&mut self, dir: &Path) -> BTreeMap<Name, Calls> {
        let mut counted: BTreeMap<Name, Calls> = BTreeMap::new();
        let recordings = recordings(dir);
        self.processes = Some(recordings.len());
        for path in recordings {
            match Store::open(&path) {
                Ok(store) => self.add_up(&store, &mut counted),
                Err(error) => self.doubts.push(format!("a recording cannot be read: {error}")),
            }
        }
        counted
    }

    fn add_up(&mut self, store: &Store, counted: &mut BTreeMap<Name, Calls>) {
        let name = |site: &metaspy_core::store::SiteText| (site.path.clone(), site.file.clone(), site.lines.0);
        for site in store.sites() {
            counted.entry(name(site)).or_default();
        }
        let tally = store.tally(By::Site, &Scope::default());
        if !tally.exact {
            self.doubts.push(format!("the counts of {} may be too low", store.program().name));
        }
        for row in &tally.rows {
            let Some(site) = row.site.and_then(|site| store.site(site)) else { continue };
            let calls = counted.entry(name(site)).or_default();
            calls.count += row.measure.count;
            if row.measure.timed > row.measure.instants {
                let total = store.span_ns(row.measure.total_ticks);
                calls.total_ns = Some(calls.total_ns.unwrap_or(0) + total);
                let own = row.measure.self_ticks.map(|ticks| store.span_ns(ticks));
                calls.self_ns = own.map(|own| calls.self_ns.unwrap_or(0) + own);
            }
        }
    }
}

fn is_current(plan: &Plan, listing: &Listing) -> bool {
    let root = fs::canonicalize(&listing.root).unwrap_or_else(|_| listing.root.clone());
    plan.targets.get(&root).is_some_and(|target| target.stamp == listing.stamp)
}

fn name_of(method: &Method) -> Name {
    (method.path.clone(), method.file.clone(), method.line)
}

fn recordings(dir: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries(dir).flat_map(|entry| if entry.is_dir() { entries(&entry).collect() } else { vec![entry] }).collect();
    found.retain(|path| is_recording(path));
    found.sort();
    found
}
