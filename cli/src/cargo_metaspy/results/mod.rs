//! What was woven, and what of it ran, added up over the processes of a run.

mod constants;
mod merge;
mod patterns;
mod profile_data;
mod profiles;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use metaspy_core::Store;
use metaspy_core::store::{By, Scope};
use metaspy_weave::plan::Plan;
use metaspy_weave::wrapper::{File, Left, Listing, Method, listings};

use crate::cargo_metaspy::recordings::Recordings;
use crate::cargo_metaspy::spies::{self, Spies};

pub use constants::{Constants, constants};
pub use patterns::{Example, Pattern, patterns};
pub use profile_data::{Edge, Name, Returned, Told};
pub use profiles::{Profiles, Report};
pub use tree::{Package, Ratio, Type, packages, rate};

/// What became of a run.
#[derive(Debug, Default)]
pub struct Results {
    /// Woven packages, and how many functions of each have a hook.
    pub packages: BTreeMap<String, usize>,
    /// What was left as it is.
    pub skipped: BTreeSet<Left>,
    /// Woven functions whose hook sees less than was asked for.
    pub light: BTreeSet<Left>,
    /// Calls of macros where items stand, and derived traits: what they make is not seen.
    pub invisible: (usize, usize),
    /// Woven functions; after a run, those that were in a program.
    pub methods: Vec<Ran>,
    /// Processes that recorded; `None` if nothing was run.
    pub processes: Option<usize>,
    /// What profilers said at the end of a process, for people.
    pub reports: Vec<Report>,
    /// Whether the coverage of methods, and their calls, were looked at.
    pub looked: Looked,
    /// What is wrong with the counts, as sentences.
    pub doubts: Vec<String>,
}

/// Which of metaspy's own profilers told something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looked {
    /// Receivers, tests, and what is returned.
    pub coverage: bool,
    /// Times, callers and callees.
    pub calls: bool,
}

/// A woven function, and what ran of it.
#[derive(Debug)]
pub struct Ran {
    /// The function.
    pub method: Method,
    /// How often it ran: what was recorded, or what a profiler told, if that is more.
    pub count: u64,
    /// What profilers told of it.
    pub told: Told,
    /// Who called it: paths, with the most frequent first. None is what has no hook.
    pub callers: Vec<(Option<String>, Edge)>,
    /// What it called.
    pub callees: Vec<(String, Edge)>,
}

impl Results {
    /// Reads what was woven by this plan, but for lists that were outdated before, and what was recorded and told.
    pub fn read(plan: &Plan, outdated: &[File], run: Option<(&Recordings, &Spies)>) -> Results {
        let mut results = Results::default();
        let mut woven = BTreeMap::new();
        for (file, listing) in listings(&plan.dir) {
            if is_current(plan, &listing) && !outdated.contains(&file) {
                results.add(listing, &mut woven);
            }
        }
        match run {
            None => results.methods.extend(woven.into_values().map(Ran::of)),
            Some((recordings, spies)) => results.add_run(woven, recordings, spies),
        }
        results.methods.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.method.cmp(&b.method)));
        results
    }

    /// Whether all that is told is exact.
    pub fn is_exact(&self) -> bool {
        self.doubts.is_empty()
    }

    fn add(&mut self, listing: Listing, woven: &mut BTreeMap<Name, Method>) {
        let before = woven.len();
        woven.extend(listing.woven.into_iter().map(|method| (Name::of(&method), method)));
        if woven.len() > before {
            *self.packages.entry(listing.package).or_default() += woven.len() - before;
            self.invisible.0 += listing.macros;
            self.invisible.1 += listing.derives;
        }
        self.skipped.extend(listing.skipped);
        self.light.extend(listing.light);
    }

    fn add_run(&mut self, woven: BTreeMap<Name, Method>, recordings: &Recordings, spies: &Spies) {
        let counted = self.count(recordings);
        let Profiles { mut told, reports, found, doubts } = Profiles::read(recordings, spies);
        self.doubts.extend(doubts);
        self.reports = reports;
        self.looked = Looked { coverage: found.contains(spies::COVERAGE), calls: found.contains(spies::CALLS) };
        let mut callees = profile_data::turned_round(&told);
        for (name, method) in woven {
            // What is compiled under conditions may be in no program.
            let (count, told) = (counted.get(&name), told.remove(&name));
            if count.is_none() && told.is_none() {
                continue;
            }
            let told = told.unwrap_or_default();
            self.methods.push(Ran {
                count: count.copied().unwrap_or(0).max(told.executions()),
                callers: profile_data::by_path(&told.callers, |caller| caller.as_ref().map(|name| name.path.clone())),
                callees: callees
                    .remove(&name)
                    .map_or(Vec::new(), |of| profile_data::by_path(&of, |name| name.path.clone())),
                ..Ran { told, ..Ran::of(method) }
            });
        }
    }

    fn count(&mut self, recordings: &Recordings) -> BTreeMap<Name, u64> {
        let mut counted = BTreeMap::new();
        let files = recordings.recordings();
        self.processes = Some(files.len());
        for path in files {
            match Store::open(&path) {
                Ok(store) => self.add_up(&store, &mut counted),
                Err(error) => self.doubts.push(format!("a recording cannot be read: {error}")),
            }
        }
        counted
    }

    fn add_up(&mut self, store: &Store, counted: &mut BTreeMap<Name, u64>) {
        let name = |site: &metaspy_core::store::RecordedSite| Name::new(&site.path, &site.file, site.lines.0);
        for site in store.sites() {
            counted.entry(name(site)).or_default();
        }
        let tally = store.tally(By::Site, &Scope::default());
        if !tally.exact {
            self.doubts.push(format!("the counts of {} may be too low", store.program().name));
        }
        for row in &tally.rows {
            if let Some(site) = row.site.and_then(|site| store.site(site)) {
                *counted.entry(name(site)).or_default() += row.measure.count;
            }
        }
    }
}

impl Ran {
    /// A function of which nothing is known.
    fn of(method: Method) -> Ran {
        Ran { method, count: 0, told: Told::default(), callers: Vec::new(), callees: Vec::new() }
    }

    /// Whether it ran.
    pub fn has_run(&self) -> bool {
        self.count > 0
    }
}

fn is_current(plan: &Plan, listing: &Listing) -> bool {
    let root = fs::canonicalize(&listing.root).unwrap_or_else(|_| listing.root.clone());
    plan.targets.get(&root).is_some_and(|target| target.stamp == listing.stamp)
}

#[cfg(test)]
pub mod tests {
    //! Functions for the tests of what is made of them.

    use super::*;

    /// A function that ran so often.
    pub fn ran(module: &str, ty: &str, name: &str, count: u64) -> Ran {
        let ty = (!ty.is_empty()).then(|| ty.to_owned());
        let path = [module].into_iter().chain(ty.as_deref()).chain([name]).collect::<Vec<_>>().join("::");
        let (file, module) = ("src/lib.rs".to_owned(), module.to_owned());
        Ran { count, ..Ran::of(Method { path, file, line: 1, lines: 1, module, ty, ..Method::default() }) }
    }
}
