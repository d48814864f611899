//! The recordings of one version, as a diff reads them: a number for each thing and each recording.

use std::collections::{BTreeMap, BTreeSet};

use metaspy_probe::{SiteKind, Subject};
use metaspy_reader as store;
use metaspy_reader::{DetailLevel, Filter, RecordedKind, RecordedSite, Scope, Store, Value};

use super::By;
use super::renamed::{Source, renamed};
use super::sample::Sample;
use crate::rows::{Key, Report, ReportRow};
use crate::table::Top;

/// The sites of allocations. Their subjects are sizes in bytes.
const ALLOCATIONS: &str = "alloc::allocate";
/// The name of the method profiler that times woven calls.
const CALLS: &str = "calls";

/// The identity of a thing in two versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A site, a method, a type or a package: its path. Sites with one path are one thing.
    Path(String),
    /// A subject: the name of its kind, and its key.
    Subject(String, u64),
    /// All subjects of a kind whose keys are addresses: no address is the same in two processes.
    Places(String),
    /// Calls without a subject, and those of subjects without a row of their own.
    Others,
}

/// The recordings of one version.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The names of the programs, each once.
    pub programs: Vec<String>,
    /// The number of recordings.
    pub recordings: usize,
    /// True if calls were timed in every recording.
    pub is_timed: bool,
    /// True if a part of the events is read.
    pub is_filtered: bool,
    /// Sentences about counts that are not exact.
    pub doubts: Vec<String>,
    /// Recordings that may lack calls, beyond those that rows with a lower bound may lack.
    pub(super) incomplete: Vec<String>,
    /// Recordings without any call.
    pub(super) empty: Vec<String>,
    pub(super) things: BTreeMap<Identity, Thing>,
    /// The things of the version of which no event passes the filter.
    pub(super) silent: BTreeSet<Identity>,
    /// Functions without a hook: whether they run is unknown.
    pub(super) unobserved: BTreeSet<Identity>,
    /// Allocations and their bytes in each recording; empty if allocations were not recorded.
    pub(super) allocations: Vec<(u64, u64)>,
}

/// The numbers of a thing, one for each recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Thing {
    pub label: String,
    pub kind: String,
    /// The sources of the functions with this path.
    pub sources: BTreeSet<Source>,
    /// True if another thing contains its numbers: a module is in its crate.
    pub is_contained: bool,
    pub numbers: Vec<Numbers>,
}

/// The numbers of a thing in one recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub count: u64,
    /// True if the count is a lower bound.
    pub at_least: bool,
    pub total_ns: Option<u64>,
    /// True if the total time is an upper bound.
    pub total_at_most: bool,
    pub self_ns: Option<u64>,
    /// True if the times lack some calls.
    pub is_partly_timed: bool,
    /// Columns of method profilers, as `profiler.column`.
    pub columns: BTreeMap<String, u64>,
    /// The columns that are lower bounds.
    pub lower_bounds: BTreeSet<String>,
}

impl Side {
    /// Reads the recordings of one version, each with its name.
    pub fn read(recordings: &[(String, Store)], by: By, filter: &Filter) -> Side {
        let is_timed = !recordings.is_empty();
        let is_filtered = !filter.is_all();
        let mut side =
            Side { recordings: recordings.len(), is_timed, is_filtered, ..Side::default() };
        for (at, (name, store)) in recordings.iter().enumerate() {
            side.add(at, name, store, by, filter);
        }
        side
    }

    fn add(&mut self, at: usize, name: &str, store: &Store, by: By, filter: &Filter) {
        let program = &store.program().name;
        if !self.programs.contains(program) {
            self.programs.push(program.clone());
        }
        let report = Report::new(store, by.rows(), filter, Top::All);
        if !report.exact {
            self.doubts.push(format!(
                "{name}: not every count is exact; `metaspy report {name}` states why"
            ));
        }
        // The subjects that share a row make only marked rows inexact.
        let is_read_whole =
            report.totals.exact && report.totals.unnamed == 0 && report.damage.is_empty();
        let is_complete = report.exact || (report.has_others && is_read_whole && filter.is_all());
        if !is_complete {
            self.incomplete.push(name.to_owned());
        }
        if report.totals.emitted == 0 && report.rows.iter().all(|row| row.profiles.is_empty()) {
            self.empty.push(name.to_owned());
        }
        let mut is_timed = false;
        for row in report.rows.iter().filter(|row| by != By::Method || is_method(row)) {
            let numbers = Numbers::of(store, row);
            is_timed |= numbers.total_ns.is_some() || numbers.self_ns.is_some();
            let (identity, label) = identity(store, row);
            let thing = self.things.entry(identity).or_insert_with(|| Thing {
                label,
                kind: row.kind.clone().unwrap_or_default(),
                sources: BTreeSet::new(),
                is_contained: row.is_contained(),
                numbers: vec![Numbers::default(); self.recordings],
            });
            thing.numbers[at].add(numbers);
        }
        if !filter.is_all() {
            let all = Report::new(store, by.rows(), &Filter::all(), Top::All);
            self.silent.extend(all.rows.iter().map(|row| identity(store, row).0));
        }
        if matches!(by, By::Site | By::Method) {
            let skipped = store.sites().iter().filter(|site| site.skipped.is_some());
            self.unobserved.extend(skipped.map(|site| Identity::Path(site.path_with_arguments())));
        }
        self.add_sources(store);
        self.is_timed &= is_timed;
        self.allocations.extend(allocations(store, filter));
    }

    fn add_sources(&mut self, store: &Store) {
        for site in store.sites() {
            let Some(thing) = self.things.get_mut(&Identity::Path(site.path_with_arguments()))
            else {
                continue;
            };
            thing.sources.extend(site.facts().and_then(|facts| {
                let (first, last) = facts.lines;
                Source::new(&site.path, facts.fingerprint, (last + 1).saturating_sub(first))
            }));
        }
    }

    /// True if the version has it, whether it ran or not.
    pub(super) fn has(&self, identity: &Identity) -> bool {
        self.things.contains_key(identity) || self.silent.contains(identity)
    }

    /// True if the version has this function without a hook.
    pub(super) fn is_unobserved(&self, identity: &Identity) -> bool {
        self.unobserved.contains(identity) && !self.has(identity)
    }

    /// The functions that have another name in the version after: the identities before and after.
    pub(super) fn renamed<'s>(&'s self, after: &'s Side) -> Vec<(&'s Identity, &'s Identity)> {
        let sources = |side: &'s Side, other: &'s Side| {
            let only =
                side.things.iter().filter(|(it, _)| !other.has(it) && !other.is_unobserved(it));
            only.filter_map(|(identity, thing)| Some((thing.source()?, identity)))
        };
        renamed(sources(self, after), sources(after, self))
    }

    /// Returns the sums of a number over all things, one for each recording. A thing that is
    /// contained in another one counts there.
    pub(super) fn sums(&self, of: &dyn Fn(&Numbers) -> u64) -> Sample {
        Sample::new((0..self.recordings).map(|at| {
            let apart = self.things.values().filter(|thing| !thing.is_contained);
            apart.map(|thing| of(&thing.numbers[at])).fold(0, u64::saturating_add)
        }))
    }
}

impl Thing {
    /// The source of the function with this path; `None` if there is none, or several.
    pub fn source(&self) -> Option<Source> {
        self.sources.first().cloned().filter(|_| self.sources.len() == 1)
    }
}

impl Numbers {
    fn of(store: &Store, row: &ReportRow) -> Numbers {
        // Woven calls are timed by a method profiler, others by their events.
        let of_calls = |column: &str| match row.profiles.get(CALLS)?.get(column)?.value {
            Value::Ns(ns) => Some((ns, false)),
            Value::AtLeastNs(ns) => Some((ns, true)),
            _ => None,
        };
        let total = of_calls("total");
        let own = of_calls("self");
        let lacks_values =
            row.total_ns(store).is_none() && total.or(own).is_some_and(|(_, is_least)| is_least);
        let columns = row.profiles.iter().filter(|(profiler, _)| *profiler != CALLS).flat_map(
            |(profiler, columns)| {
                columns.iter().filter_map(move |(name, value)| match value.value {
                    Value::Choice(_) | Value::Flags(_) => None,
                    ref value => Some((format!("{profiler}.{name}"), value.number()?)),
                })
            },
        );
        let lower_bounds = row.profiles.iter().flat_map(|(profiler, columns)| {
            let least = columns.iter().filter(|(_, value)| value.value.is_at_least());
            least.map(move |(name, _)| format!("{profiler}.{name}"))
        });
        Numbers {
            count: row.measure.count,
            at_least: row.measure.at_least,
            total_ns: row.total_ns(store).or(total.map(|(ns, _)| ns)),
            self_ns: row.self_ns(store).or(own.map(|(ns, _)| ns)),
            total_at_most: row.measure.total_at_most,
            is_partly_timed: row.measure.is_partly_timed() || lacks_values,
            columns: columns.collect(),
            lower_bounds: lower_bounds.collect(),
        }
    }

    /// Adds those of another thing with the same identity.
    fn add(&mut self, other: Numbers) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, other) => one.or(other),
        };
        self.count = self.count.saturating_add(other.count);
        self.at_least |= other.at_least;
        self.total_ns = sum(self.total_ns, other.total_ns);
        self.self_ns = sum(self.self_ns, other.self_ns);
        self.total_at_most |= other.total_at_most;
        self.is_partly_timed |= other.is_partly_timed;
        self.lower_bounds.extend(other.lower_bounds);
        for (name, number) in other.columns {
            let own = self.columns.entry(name).or_default();
            *own = own.saturating_add(number);
        }
    }
}

fn is_method(row: &ReportRow) -> bool {
    let kind = row.kind.as_deref();
    [SiteKind::Method, SiteKind::Async].into_iter().any(|method| kind == Some(method.name()))
}

/// The identity of a row, and its name.
fn identity(store: &Store, row: &ReportRow) -> (Identity, String) {
    let label = || row.label.clone().unwrap_or_else(|| "(no subject)".into());
    match &row.key {
        // The free functions of a module have the path of the module.
        Key::Site(_) if row.part.is_some() => (Identity::Path(label()), label()),
        // Without the line, which a change above the function moves.
        Key::Site(path) => {
            let site = row.site_id.and_then(|id| store.site(id));
            let path = site.map_or_else(|| path.clone(), RecordedSite::path_with_arguments);
            (Identity::Path(path.clone()), path)
        }
        Key::Subject(key) => {
            let kind = row.kind.clone().unwrap_or_default();
            if store.kinds().any(|it| it.place && RecordedKind::whole_name(it) == kind) {
                (Identity::Places(kind.clone()), format!("every {kind}"))
            } else {
                (Identity::Subject(kind, *key), label())
            }
        }
        Key::None => (Identity::Others, label()),
    }
}

/// The allocations that pass the filter, and their bytes; `None` if the recording has none.
fn allocations(store: &Store, filter: &Filter) -> Option<(u64, u64)> {
    let site = store.sites().iter().find(|site| site.path == ALLOCATIONS)?.id;
    let scope = Scope { detail: DetailLevel::Counts, ..Scope::matching(filter.clone()) };
    let tally = store.tally(store::By::SiteSubject, &scope);
    let rows = tally.rows.iter().filter(|row| row.site == Some(site));
    let size = |subject: Option<Subject>| subject.map_or(0, |size| size.key);
    Some(rows.fold((0_u64, 0_u64), |(calls, bytes), row| {
        let count = row.measure.count;
        (calls.saturating_add(count), bytes.saturating_add(count.saturating_mul(size(row.subject))))
    }))
    .filter(|(calls, _)| *calls > 0)
}
