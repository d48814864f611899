//! JSON: the program with its numbers. `docs/weaving.md` describes the keys.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use metaspy_probe::SiteId;
use metaspy_reader::{Column, HookCost};
use serde_json::{Map, Value, json};

use super::{Exporter, Written};
use crate::coverage::{Constants, FORMAT, Pattern, Repeated, Run, constants, patterns, repeated};
use crate::program::{Edge, Element, Method, Of, Profiles, Program, Ratio};
use crate::rows::json::profile_values;

/// The keys of methods.
type Keys = HashMap<SiteId, String>;

/// The format of `--json`.
#[derive(Debug, Default)]
pub struct Json {
    /// Further keys of the object, from the front end that made the run.
    pub more: Map<String, Value>,
}

impl Exporter<Run> for Json {
    fn export(&self, run: &Run, out: &mut dyn Write) -> io::Result<Written> {
        let mut object = object(run);
        object.extend(self.more.clone());
        serde_json::to_writer_pretty(&mut *out, &object).map_err(io::Error::from)?;
        writeln!(out)?;
        Ok(Written::default())
    }
}

fn object(run: &Run) -> Map<String, Value> {
    let program = &run.program;
    let crates = program.elements.iter().enumerate().filter(|(_, element)| element.under.is_none());
    let mut methods: Vec<(&Element, &Method)> = program
        .methods()
        .filter_map(|element| Some((element, element.method.as_deref()?)))
        .collect();
    methods.sort_by(|(a, of_a), (b, of_b)| {
        b.measure.count.cmp(&a.measure.count).then_with(|| of_a.site.path.cmp(&of_b.site.path))
    });
    let was_run = run.processes.is_some();
    let keys = &program.keys();
    let value = json!({
        "format": FORMAT,
        "processes": run.processes,
        "exact": run.is_exact(),
        "doubts": run.doubts,
        "ratio": was_run.then(|| ratio(program.ratio())),
        "patterns": program.profiles.has_coverage().then(|| pattern_lists(program)),
        "constant": (program.profiles.has_coverage() && sees_returns(program)).then(|| constant_values(program)),
        "repeated": repeated(program).map(repeated_calls),
        "profiles": profiles(program),
        "hook_cost": program.hook_cost.map(hook_cost),
        "packages": crates.map(|(at, element)| package(run, keys, at, element)).collect::<Vec<_>>(),
        "methods": methods.iter().map(|(element, of)| method(run, keys, element, of)).collect::<Vec<_>>(),
    });
    if let Value::Object(object) = value { object } else { Map::new() }
}

/// Returns true if some hook sees return values.
fn sees_returns(program: &Program) -> bool {
    let mut methods = program.methods().filter_map(|element| element.method.as_deref());
    methods.any(|method| method.facts.as_ref().is_some_and(|facts| facts.is_deep))
}

fn package(run: &Run, keys: &Keys, at: usize, element: &Element) -> Value {
    let children = || run.program.children(at);
    let packages = children().filter(|(_, child)| child.of == Of::Package);
    let types = children().filter(|(_, child)| matches!(child.of, Of::Type { .. } | Of::Functions));
    json!({
        "path": element.path_text(),
        "ratio": run.processes.is_some().then(|| ratio(element.ratio())),
        "packages": packages.map(|(at, child)| package(run, keys, at, child)).collect::<Vec<_>>(),
        "types": types.map(|(at, child)| ty(run, keys, at, child)).collect::<Vec<_>>(),
    })
}

fn ty(run: &Run, keys: &Keys, at: usize, element: &Element) -> Value {
    let (is_trait, traits, name) = match &element.of {
        Of::Type { is_trait, traits, .. } => (*is_trait, traits.as_slice(), element.name.as_str()),
        _ => (false, &[][..], ""),
    };
    json!({
        "name": name,
        "path": element.path_text(),
        "is_trait": is_trait,
        "resolved": !element.is_unresolved(),
        "traits": traits,
        "ratio": run.processes.is_some().then(|| ratio(element.ratio())),
        "methods": run.program.methods_of(at).map(|(element, of)| method(run, keys, element, of)).collect::<Vec<_>>(),
    })
}

fn method(run: &Run, keys: &Keys, element: &Element, method: &Method) -> Value {
    let Method { site, facts, profile } = method;
    let facts = facts.as_ref();
    let receivers = element.receivers;
    json!({
        "key": element.site().and_then(|site| keys.get(&site)),
        "path": site.path,
        "file": site.file,
        "line": site.lines.0,
        "lines": method.line_count(),
        "complexity": method.complexity(),
        "visibility": facts.map(|facts| facts.visibility.word()),
        "receiver": facts.map(|facts| facts.self_kind.word()),
        "async": facts.map(|facts| facts.is_async),
        "closure": method.is_closure(),
        "test": method.is_test(),
        "counted": method.is_counted(),
        "executions": run.processes.is_some().then_some(element.measure.count),
        "receivers": (!receivers.is_unknown()).then_some(receivers.count),
        "places": Some(receivers.places).filter(|places| *places > 0),
        "receivers_exact": run.is_exact() && !receivers.is_least && !receivers.is_unknown(),
        "returns": profile.returns.map(|returned| returned.word()),
        "tests": profile.tests,
        "tests_at_least": profile.has_lost_tests,
        "total_ns": profile.total_ns,
        "self_ns": profile.self_ns,
        "times_at_least": profile.has_lost_times,
        "callers": profile.callers.iter().map(|(path, calls)| edge(path.as_deref(), calls)).collect::<Vec<_>>(),
        "callers_at_least": profile.has_lost_callers,
        "callees": profile.callees.iter().map(|(path, calls)| edge(Some(path), calls)).collect::<Vec<_>>(),
        "callees_at_least": run.program.profiles.has_lost_edges,
        "profiles": profile_values(&profile.columns),
    })
}

/// The cost of hooks that was measured while recording. Pictures subtract it; the times here are
/// those of the recording.
fn hook_cost(cost: HookCost) -> Value {
    json!({
        "within_ns": cost.within_ns,
        "whole_ns": cost.whole_ns,
        "returned_ns": cost.returned_ns,
        "from": "recording",
        "is_subtracted": false,
    })
}

fn edge(path: Option<&str>, edge: &Edge) -> Value {
    json!({ "path": path, "count": edge.count, "total_ns": edge.total_ns, "at_least": edge.is_least })
}

/// The method profilers and the columns that they declared.
fn profiles(program: &Program) -> Vec<Value> {
    let Profiles { columns, lost, cut, .. } = &program.profiles;
    let column = |(name, column): &(String, Column)| json!({ "name": name, "unit": column.unit });
    let profile = |(name, columns): (&String, &Vec<(String, Column)>)| {
        let columns: Vec<Value> = columns.iter().map(column).collect();
        let of = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
        json!({ "name": name, "columns": columns, "lost": of(lost), "cut": of(cut) })
    };
    columns.iter().map(profile).collect()
}

/// A ratio as an object.
pub fn ratio(of: Ratio) -> Value {
    let Ratio { methods, covered, types, covered_types } = of;
    json!({ "methods": methods, "covered": covered, "ratio": of.rate(), "types": types, "covered_types": covered_types })
}

fn constant_values(program: &Program) -> Value {
    constants(program).iter().map(|Constants { package, constant, not_comparable, candidates }| {
        let methods: Vec<&str> = constant.iter().map(|method| method.path_text()).collect();
        json!({ "package": package, "methods": methods, "not_comparable": not_comparable, "of": candidates })
    }).collect()
}

fn repeated_calls(methods: Vec<Repeated<'_>>) -> Value {
    methods.into_iter().map(|Repeated { element, repeated, not_compared }| {
        let calls = element.measure.count;
        json!({ "path": element.path_text(), "repeated": repeated, "not_compared": not_compared, "of": calls })
    }).collect()
}

fn pattern_lists(program: &Program) -> Value {
    let mut lists: Map<String, Value> =
        Pattern::ALL.iter().map(|of| (of.word().to_owned(), json!([]))).collect();
    for found in patterns(program) {
        let examples = found.examples.iter().map(|example| {
            let methods: Vec<&str> =
                example.methods.iter().map(|method| method.path_text()).collect();
            json!({ "type": example.ty.path_text(), "methods": methods })
        });
        lists.insert(found.pattern.word().to_owned(), examples.collect());
    }
    Value::Object(lists)
}
