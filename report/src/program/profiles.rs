//! The tables of method profilers, by method.
//!
//! The tables of metaspy's own profilers become the fields of a [`MethodProfile`]. Those of all
//! other profilers become columns, without any code for that profiler.

use std::collections::{BTreeMap, HashMap};

use metaspy_format::facts::Facts;
use metaspy_format::profile::built_in;
use metaspy_probe::SiteId;
use metaspy_reader::{Column, KeyKind, Measure, Profile, ProfileTable, RowKey, Store, Value};

use super::builder::Builder;
use super::method::{Edge, MethodProfile, Returned};
use crate::text::counted;

/// The profile of executed instructions, which callgrind counted.
pub const INSTRUCTIONS: &str = "instructions";
/// The column of the instructions in a method's own code.
pub const OWN_INSTRUCTIONS: &str = "instructions";
/// The table of [`INSTRUCTIONS`] by caller and callee, in imported profiles.
pub const CALLERS: &str = "callers";

/// The column of receivers that only an address identifies: values move, and memory is used again.
pub const PLACES: &str = "places";

/// The sentence about calls without a context.
pub(crate) fn cut_note(calls: u64) -> String {
    format!(
        "{} without a calling context: more than 1,024 calls deep, or the tree was full",
        counted(calls, "call")
    )
}

/// The values that found no room, by the name of the profiler.
pub fn lost_values(profiles: &[Profile]) -> BTreeMap<String, u64> {
    let mut lost = BTreeMap::new();
    for profile in profiles {
        let values = profile
            .tables
            .iter()
            .filter(|table| table.key != KeyKind::Sampled)
            .map(|table| table.lost);
        let values = values.fold(0, u64::saturating_add);
        if values > 0 {
            *lost.entry(profile.name.clone()).or_default() += values;
        }
    }
    lost
}

/// A sentence about values of a profiler that found no room, or that it did not see.
pub fn lost_note(profiler: &str, lost: u64) -> String {
    format!(
        "{} of `{profiler}` found no room (set METASPY_BUDGET to a larger size), or are of signal handlers within a hook",
        counted(lost, "value")
    )
}

/// True if the values of several methods in a column can be merged. Numbers of distinct objects
/// cannot: an object may have been in several methods. Total times cannot: methods call each other.
pub fn is_additive(profiler: &str, column: &str) -> bool {
    match profiler {
        built_in::COVERAGE => !matches!(column, "receivers" | PLACES | "identity"),
        built_in::CALLS => column != "total",
        _ => true,
    }
}

/// Marks a value that is a lower bound for its site. Without deep weaving,
/// [`COVERAGE`](built_in::COVERAGE) stops at a method whose receivers it has counted: then the
/// calls that the method made go on, and their number does not.
pub fn with_bound(
    store: &Store,
    profiler: &str,
    column: &str,
    site: SiteId,
    value: Value,
) -> Value {
    // Earlier recordings call it `calls`.
    let is_bounded = profiler == built_in::COVERAGE && matches!(column, "calls made" | "calls");
    let is_deep =
        || store.site(site).is_some_and(|site| site.facts.split(' ').any(|word| word == "deep"));
    match value {
        Value::Number(number) if is_bounded && !is_deep() => Value::AtLeast(number),
        value => value,
    }
}

/// The profiles of one or more recordings.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// By the name of the profiler, the columns that it declared, with the name of their table in
    /// front.
    pub columns: BTreeMap<String, Vec<(String, Column)>>,
    /// By the name of the profiler, the values that found no room in a recording.
    pub lost: BTreeMap<String, u64>,
    /// Likewise, the calls without a calling context, because the tree was full or too deep: their
    /// callers are not known.
    pub cut: BTreeMap<String, u64>,
    /// True if calls between methods found no room in a recording. The lists of callees may then be
    /// short.
    pub has_lost_edges: bool,
}

/// A value of a column, which several recordings may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnValue {
    /// The declaration of the column.
    pub column: Column,
    /// The value, merged by the rule of the column.
    pub value: Value,
}

/// Calls by the places of callee and caller. `None` is code without hooks.
pub(super) type Edges = BTreeMap<(usize, Option<usize>), Edge>;

impl Profiles {
    /// True if a profiler with this name was installed.
    pub fn contains(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    /// True if receivers, tests and returned values were measured.
    pub fn has_coverage(&self) -> bool {
        self.contains(built_in::COVERAGE)
    }

    /// True if calls were timed.
    pub fn has_calls(&self) -> bool {
        self.contains(built_in::CALLS)
    }

    /// The columns of all other profilers: name of the profiler, name and unit of the column.
    pub fn others(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let built_in = [
            built_in::COVERAGE,
            built_in::CALLS,
            built_in::CONTEXTS,
            built_in::ALLOCATIONS,
            built_in::TYPES,
        ];
        let others =
            self.columns.iter().filter(move |(name, _)| !built_in.contains(&name.as_str()));
        others.flat_map(|(profiler, columns)| {
            columns
                .iter()
                .map(|(name, column)| (profiler.as_str(), name.as_str(), column.unit.as_str()))
        })
    }

    fn add(&mut self, profile: &Profile) {
        let columns = self.columns.entry(profile.name.clone()).or_default();
        for table in profile.tables.iter().filter(|table| table.key != KeyKind::Sampled) {
            for column in &table.columns {
                let name = name_of(table, column);
                if !columns.iter().any(|(known, _)| *known == name) {
                    columns.push((name, column.clone()));
                }
            }
        }
        for (name, lost) in lost_values(std::slice::from_ref(profile)) {
            *self.lost.entry(name).or_default() += lost;
        }
    }

    /// Sentences about values that are missing.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts: Vec<String> =
            self.lost.iter().map(|(name, lost)| lost_note(name, *lost)).collect();
        let cut: u64 = self.cut.values().sum();
        if cut > 0 {
            doubts.push(cut_note(cut));
        }
        doubts
    }
}

impl Builder {
    /// Adds the tables of a recording whose methods have these places and measures.
    pub(super) fn add_profiles(
        &mut self,
        store: &Store,
        places: &HashMap<SiteId, usize>,
        measures: &HashMap<SiteId, Measure>,
    ) {
        let profiles = store.united_profiles();
        let has_calls = profiles.iter().any(|profile| profile.name == built_in::CALLS);
        let has_types = profiles.iter().any(|profile| profile.name == built_in::TYPES);
        self.hook_costs.extend(has_calls.then(|| store.hook_cost()));
        for profile in profiles {
            self.profiles.add(&profile);
            for table in &profile.tables {
                match (profile.name.as_str(), table.name.as_str()) {
                    (built_in::COVERAGE, "") => self.add_coverage(table, places, has_types),
                    (built_in::COVERAGE, "tests") => self.add_tests(store, table, places),
                    (built_in::CALLS, "") => self.add_times(table, places),
                    (built_in::CALLS, "callers") => self.add_callers(table, places),
                    // Several values of a call have types: their sum is no number of the method.
                    (built_in::TYPES, _) => {}
                    _ if table.key == KeyKind::Sampled => {}
                    (name, _) if table.key != KeyKind::Context => {
                        self.add_columns(name, table, places)
                    }
                    (name, _) => {
                        self.add_objects(table, places);
                        self.add_cut(name, table);
                        // `Calls` has the same edges, with times.
                        if !has_calls {
                            self.add_contexts(table, places);
                        }
                    }
                }
            }
            match profile.name.as_str() {
                built_in::COVERAGE => self.mark_units(places),
                INSTRUCTIONS => self.add_instructed_calls(places, measures),
                _ => {}
            }
        }
    }

    fn profile_at(
        &mut self,
        places: &HashMap<SiteId, usize>,
        site: SiteId,
    ) -> Option<&mut MethodProfile> {
        let place = *places.get(&site)?;
        self.elements[place].method.as_mut().map(|method| &mut method.profile)
    }

    /// With types, a hook sees the types of returned values: their values only where it is deep.
    fn add_coverage(
        &mut self,
        table: &ProfileTable,
        places: &HashMap<SiteId, usize>,
        has_types: bool,
    ) {
        for row in &table.rows {
            let Some(&place) = places.get(&row.key.site()) else { continue };
            let Some(method) = self.elements[place].method.as_mut() else { continue };
            let sees_types_alone =
                has_types && method.facts.as_ref().is_some_and(|facts| !facts.is_deep);
            let profile = &mut method.profile;
            let receivers = table.value(row.key, "receivers");
            let is_by_address = matches!(table.value(row.key, "identity"), Value::Choice(word) if word == built_in::ADDRESS);
            if let Some(number) = receivers.number() {
                // Objects of different processes are different objects.
                let mut all = profile.receivers.unwrap_or_default();
                all.is_least |= is_by_address || matches!(receivers, Value::AtLeast(_));
                if is_by_address {
                    all.places += number;
                } else {
                    all.count += number;
                }
                profile.receivers = Some(all);
            }
            if let Value::Choice(word) = table.value(row.key, "returns") {
                let returned = Returned::from_word(&word);
                let is_known = !sees_types_alone || returned != Some(Returned::NotComparable);
                profile.returns = profile.returns.max(returned.filter(|_| is_known));
            }
            // Earlier recordings call it `calls`, as if it were the executions.
            let made = ["calls made", "calls"]
                .into_iter()
                .find_map(|column| table.value(row.key, column).number());
            profile.calls += made.unwrap_or(0);
        }
    }

    /// Methods without a value to return are known before they run.
    fn mark_units(&mut self, places: &HashMap<SiteId, usize>) {
        for &place in places.values() {
            let Some(method) = &mut self.elements[place].method else { continue };
            if method.facts.as_ref().is_some_and(|facts: &Facts| facts.is_unit) {
                method.profile.returns = method.profile.returns.max(Some(Returned::Unit));
            }
        }
    }

    fn add_tests(&mut self, store: &Store, table: &ProfileTable, places: &HashMap<SiteId, usize>) {
        for (_, &place) in places.iter().filter(|(site, _)| table.is_incomplete(**site)) {
            if let Some(method) = &mut self.elements[place].method {
                method.profile.has_lost_tests = true;
            }
        }
        for row in &table.rows {
            if let RowKey::Subject(site, test) = row.key
                && let Some(profile) = self.profile_at(places, site)
            {
                profile.tests.insert(
                    store.label(test).map_or_else(|| store.subject_text(test), str::to_owned),
                );
            }
        }
    }

    /// Notes which methods have values in a table that found no room.
    fn mark_incomplete(
        &mut self,
        table: &ProfileTable,
        places: &HashMap<SiteId, usize>,
        mark: fn(&mut MethodProfile),
    ) -> bool {
        let incomplete: Vec<SiteId> =
            places.keys().copied().filter(|site| table.is_incomplete(*site)).collect();
        incomplete.iter().filter_map(|site| self.profile_at(places, *site).map(mark)).count() > 0
    }

    fn add_times(&mut self, table: &ProfileTable, places: &HashMap<SiteId, usize>) {
        self.mark_incomplete(table, places, |profile| profile.has_lost_times = true);
        for row in &table.rows {
            let Some(profile) = self.profile_at(places, row.key.site()) else { continue };
            let ns = |column| table.value(row.key, column).number().unwrap_or(0);
            profile.total_ns = Some(profile.total_ns.unwrap_or(0) + ns("total"));
            profile.self_ns = Some(profile.self_ns.unwrap_or(0) + ns("self"));
        }
    }

    fn add_callers(&mut self, table: &ProfileTable, places: &HashMap<SiteId, usize>) {
        let has_lost =
            self.mark_incomplete(table, places, |profile| profile.has_lost_callers = true);
        self.profiles.has_lost_edges |= has_lost;
        for row in &table.rows {
            let RowKey::Caller(callee, caller) = row.key else { continue };
            let Some(&callee) = places.get(&callee) else { continue };
            let caller = caller.and_then(|caller| places.get(&caller).copied());
            let number = |column| table.value(row.key, column).number().unwrap_or(0);
            let edge = Edge {
                count: number("calls"),
                total_ns: number("total"),
                is_least: row.is_incomplete,
            };
            if let Some(method) = &mut self.elements[callee].method {
                method.profile.timed_calls += edge.count;
            }
            self.edges.entry((callee, caller)).or_default().add(edge);
        }
    }

    /// The objects that methods allocate, in whatever context.
    fn add_objects(&mut self, table: &ProfileTable, places: &HashMap<SiteId, usize>) {
        if table.column("objects").is_none() {
            return;
        }
        for row in &table.rows {
            let Some(profile) = self.profile_at(places, row.key.site()) else { continue };
            let number = |column| table.value(row.key, column).number().unwrap_or(0);
            let known = profile.objects.get_or_insert_default();
            known.count += number("objects");
            known.bytes += number("bytes");
            known.calls += number("calls");
            known.is_least |= row.is_incomplete;
        }
    }

    /// The edges of a tree of calling contexts: each context is called by the one around it.
    fn add_contexts(&mut self, table: &ProfileTable, places: &HashMap<SiteId, usize>) {
        let has_lost =
            self.mark_incomplete(table, places, |profile| profile.has_lost_callers = true);
        self.profiles.has_lost_edges |= has_lost;
        let id = |row| table.value(row, "context").number();
        let sites: HashMap<u64, SiteId> =
            table.rows.iter().filter_map(|row| Some((id(row.key)?, row.key.site()))).collect();
        for row in &table.rows {
            let RowKey::Context(callee, around) = row.key else { continue };
            let Some(&callee) = places.get(&callee) else { continue };
            let caller = sites.get(&around).and_then(|caller| places.get(caller).copied());
            let count = table.value(row.key, "calls").number().unwrap_or(0);
            self.edges.entry((callee, caller)).or_default().add(Edge {
                count,
                total_ns: 0,
                is_least: row.is_incomplete,
            });
        }
    }

    /// Adds the calls without a calling context, whose callers are not known.
    fn add_cut(&mut self, profiler: &str, table: &ProfileTable) {
        let all = self.profiles.cut.entry(profiler.to_owned()).or_default();
        for cut in table.rows.iter().filter_map(|row| table.value(row.key, "cut").number()) {
            *all = all.saturating_add(cut);
        }
    }

    fn add_instructed_calls(
        &mut self,
        places: &HashMap<SiteId, usize>,
        measures: &HashMap<SiteId, Measure>,
    ) {
        for (&site, measure) in measures {
            if let Some(profile) = self.profile_at(places, site) {
                profile.instructed_calls += measure.count;
            }
        }
    }

    fn add_columns(
        &mut self,
        profiler: &str,
        table: &ProfileTable,
        places: &HashMap<SiteId, usize>,
    ) {
        for row in &table.rows {
            let Some(profile) = self.profile_at(places, row.key.site()) else { continue };
            let columns = profile.columns.entry(profiler.to_owned()).or_default();
            for (at, column) in table.columns.iter().enumerate() {
                let value = row.value(table, at);
                let known = columns
                    .entry(name_of(table, column))
                    .or_insert_with(|| ColumnValue { column: column.clone(), value: Value::Empty });
                known.value =
                    std::mem::replace(&mut known.value, Value::Empty).merged(value, column);
            }
        }
    }

    /// The calls between methods, by their sites in the program.
    pub(super) fn edges_by_site(&self) -> Vec<(Option<SiteId>, SiteId, Edge)> {
        let site = |place: usize| self.elements[place].site();
        let edges = self.edges.iter();
        edges
            .filter_map(|(&(callee, caller), edge)| {
                Some((caller.and_then(site), site(callee)?, *edge))
            })
            .collect()
    }

    /// Gives each method its callers and its callees, by path and with the most frequent first.
    pub(super) fn finish_edges(&mut self) {
        let mut callers: BTreeMap<usize, BTreeMap<Option<String>, Edge>> = BTreeMap::new();
        let mut callees: BTreeMap<usize, BTreeMap<String, Edge>> = BTreeMap::new();
        let path = |place: usize| {
            self.elements[place].method.as_ref().map(|method| method.site.path.clone())
        };
        for (&(callee, caller), edge) in &self.edges {
            callers.entry(callee).or_default().entry(caller.and_then(path)).or_default().add(*edge);
            if let Some((caller, path)) = caller.zip(path(callee)) {
                callees.entry(caller).or_default().entry(path).or_default().add(*edge);
            }
        }
        for (place, callers) in callers {
            if let Some(method) = &mut self.elements[place].method {
                method.profile.callers = most_frequent_first(callers);
            }
        }
        for (place, callees) in callees {
            if let Some(method) = &mut self.elements[place].method {
                method.profile.callees = most_frequent_first(callees);
            }
        }
    }
}

/// The name of a column: the name of its table, if that has one, and its own.
fn name_of(table: &ProfileTable, column: &Column) -> String {
    if table.name.is_empty() {
        column.name.clone()
    } else {
        format!("{} {}", table.name, column.name)
    }
}

fn most_frequent_first<P>(edges: BTreeMap<P, Edge>) -> Vec<(P, Edge)> {
    let mut edges: Vec<(P, Edge)> = edges.into_iter().collect();
    edges.sort_by_key(|(_, edge)| std::cmp::Reverse(edge.count));
    edges
}
