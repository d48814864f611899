//! A run as text: functions, the tree, coverage, patterns, candidates for a cache, and callers.

use std::cmp::Reverse;
use std::collections::HashMap;

use metaspy_probe::SiteId;
use metaspy_reader::Selector;

use super::{
    Constants, Example, Repeated, Run, TRUST, by_test, constants, is_cache, patterns, repeated,
    test_command,
};
use crate::program::{Edge, Element, MethodProfile, Of, Profiles, Program, Ratio, Receivers};
use crate::rows;
use crate::table::{Column, Table, Top};
use crate::text::{counted, grouped, percent, time};

/// Rows of a table, and types in a list, by default.
const TOP: usize = 20;
/// Methods of a type that are named.
const NAMED: usize = 5;

/// The functions that ran, the most frequent first. Without a limit, functions that never ran
/// follow.
pub fn functions(run: &Run, top: Top) -> Vec<String> {
    let mut methods: Vec<&Element> = run.program.methods().collect();
    methods.sort_by(|a, b| {
        b.measure.count.cmp(&a.measure.count).then_with(|| a.path_text().cmp(b.path_text()))
    });
    let ran = methods.iter().filter(|method| method.measure.count > 0).count();
    let shown = if top.is_all() { methods.len() } else { top.limit(TOP).min(ran) };
    let rows = &methods[..shown];
    if rows.is_empty() {
        return Vec::new();
    }
    let names = run.program.names();
    let names =
        Column::words("function", rows.iter().map(|method| name_of(method, &names).to_owned()));
    let cells: Vec<Option<&Element>> = rows.iter().map(|method| Some(*method)).collect();
    let mut lines = table(&cells, &run.program.profiles, names);
    if ran > shown {
        lines.push(format!(
            "{:>14}  {} ran; --top all shows all",
            "…",
            counted((ran - shown) as u64, "more function")
        ));
    }
    lines
}

/// Packages, their types and their methods, with those that never ran.
///
/// ```text
///          calls  receivers  tests  package, type, method
///                                   taffy  (1 of 2 ran)
///                                     Scene: Layout  (1 of 2 ran)
///             12          3      1      measure
///              0        n/a      0      draw
/// ```
pub fn tree(run: &Run) -> Vec<String> {
    let elements = &run.program.elements;
    let shown: Vec<&Element> =
        elements.iter().filter(|element| element.of != Of::Functions).collect();
    let names = shown
        .iter()
        .map(|element| format!("{}{}", "  ".repeat(depth(elements, element)), branch(element)));
    let names: Vec<String> = names.collect();
    let cells: Vec<Option<&Element>> =
        shown.iter().map(|element| element.method.is_some().then_some(*element)).collect();
    table(&cells, &run.program.profiles, Column::words("package, type, method", names))
}

/// The elements around one, without the groups of free functions.
fn depth(elements: &[Element], element: &Element) -> usize {
    let around = std::iter::successors(element.under, |&at| elements[at].under);
    around.filter(|&at| elements[at].of != Of::Functions).count()
}

fn branch(element: &Element) -> String {
    let Ratio { methods, covered, .. } = element.ratio();
    let ran =
        if methods == 0 { "tests only".to_owned() } else { format!("{covered} of {methods} ran") };
    match &element.of {
        Of::Method(_) | Of::Functions => element.name.clone(),
        Of::Package => format!("{}  ({ran})", element.path_text()),
        Of::Type { is_trait, is_unresolved, traits } => {
            let traits =
                if traits.is_empty() { String::new() } else { format!(": {}", traits.join(" + ")) };
            let kind = if *is_trait { "trait " } else { "" };
            let unresolved = if *is_unresolved { ", definition not found" } else { "" };
            format!("{kind}{}{traits}  ({ran}{unresolved})", element.name)
        }
    }
}

/// The places of objects that only an address identifies.
fn places(receivers: Receivers) -> String {
    if receivers.places == 0 { "–".to_owned() } else { grouped(receivers.places) }
}

/// The numbers of each method, and blanks for other rows.
fn table(rows: &[Option<&Element>], profiles: &Profiles, names: Column) -> Vec<String> {
    let cells = |of: &dyn Fn(&Element) -> String| -> Vec<String> {
        rows.iter().map(|row| row.map(of).unwrap_or_default()).collect()
    };
    let profile = |of: &dyn Fn(&MethodProfile) -> String| {
        cells(&|element| {
            element.method.as_ref().map_or(String::new(), |method| of(&method.profile))
        })
    };
    let length = |profile: &MethodProfile, ns: Option<u64>| {
        let sign = if profile.has_lost_times { "≥" } else { "" };
        ns.map_or_else(|| "–".to_owned(), |ns| format!("{sign}{}", time(ns)))
    };
    let mut columns =
        vec![Column::numbers("calls", cells(&|it| grouped(it.measure.count))).at_least(14)];
    if profiles.has_coverage() {
        columns.push(Column::numbers("receivers", cells(&|it| it.receivers.to_string())));
        if rows.iter().flatten().any(|element| element.receivers.places > 0) {
            columns.push(Column::numbers("places", cells(&|it| places(it.receivers))));
        }
        columns
            .push(Column::numbers("tests", profile(&|profile| profile.test_count().to_string())));
    }
    if profiles.has_calls() {
        columns.push(
            Column::numbers("total", profile(&|profile| length(profile, profile.total_ns)))
                .at_least(9),
        );
        columns.push(
            Column::numbers("self", profile(&|profile| length(profile, profile.self_ns)))
                .at_least(9),
        );
    }
    for (profiler, name, unit) in profiles.others() {
        let value = |of: &MethodProfile| {
            of.columns
                .get(profiler)
                .and_then(|columns| columns.get(name))
                .map_or("–".into(), rows::text::value)
        };
        let title = if unit.is_empty() { name.to_owned() } else { format!("{name} {unit}") };
        columns.push(Column::numbers(title, profile(&value)));
    }
    columns.push(names);
    Table::new(columns).lines().collect()
}

/// One line: how many methods ran, and how many functions of tests are no methods that count.
pub fn ran(program: &Program) -> String {
    let (ran, all) = program.ran();
    let ratio = format!("{} of {} ran", grouped(ran.into()), counted(all.into(), "method"));
    let is_of_tests = |method: &&Element| {
        method
            .method
            .as_ref()
            .is_some_and(|method| method.site.skipped.is_none() && !method.is_counted())
    };
    match program.methods().filter(is_of_tests).count() as u64 {
        0 => ratio,
        tests => format!("{ratio}; {} of tests not counted", counted(tests, "function")),
    }
}

/// The ratios of methods and types by crate, and the types that show each pattern.
pub fn coverage(program: &Program, top: Top) -> Vec<String> {
    let crates: Vec<&Element> = program.crates().collect();
    let mut lines: Vec<String> =
        crates.iter().filter_map(|it| ratio(it.path_text(), it.ratio())).collect();
    if lines.len() > 1 {
        lines.extend(ratio("all", program.ratio()));
    }
    let unresolved = program.types().filter(|ty| ty.is_unresolved() && ty.methods > 0).count();
    if unresolved > 0 {
        let types = counted(unresolved as u64, "type");
        lines.push(format!(
            "{types} without a known definition: not counted as types, unlike their methods"
        ));
    }
    for found in patterns(program).into_iter().filter(|found| !found.examples.is_empty()) {
        lines.push(
            found
                .pattern
                .title_of(found.examples.iter().map(|example| example.methods.len()).sum()),
        );
        let shown = top.limit(TOP);
        lines.extend(found.examples.iter().take(shown).map(example));
        if found.examples.len() > shown {
            lines.push(format!(
                "  … {}; --top all shows all",
                counted((found.examples.len() - shown) as u64, "more type")
            ));
        }
    }
    lines
}

fn ratio(name: &str, of: Ratio) -> Option<String> {
    let Ratio { methods, covered, types, covered_types } = of;
    let text = |covered: u32, all: u32| percent(covered.into(), all.into());
    (methods > 0).then(|| {
        let methods = format!(
            "{covered} of {} ({})",
            counted(methods.into(), "method"),
            text(covered, methods)
        );
        match types {
            0 => format!("{name}: covered {methods}"),
            _ => {
                let all = counted(types.into(), "type");
                format!(
                    "{name}: covered {methods}, {covered_types} of {all} ({})",
                    text(covered_types, types)
                )
            }
        }
    })
}

fn example(example: &Example<'_>) -> String {
    let Example { ty, methods } = example;
    let mut named = methods.clone();
    named.sort_by_key(|method| Reverse(method.lines));
    let name = |method: &&Element| format!("{} ({})", method.name, method.lines);
    let more = methods.len().saturating_sub(NAMED);
    let mut names: Vec<String> = named.iter().take(NAMED).map(name).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    format!("  {}: {}", ty.path_text(), names.join(", "))
}

/// The methods that each test reached, and how many of them no other test reached.
pub fn tests(program: &Program, top: Top) -> Vec<String> {
    let mut lines = vec!["tests, and the methods that each reached".to_owned()];
    let names = program.names();
    for reach in by_test(program) {
        let sign = if reach.is_least { "≥" } else { "" };
        let methods = format!("{sign}{}", counted(reach.methods.len() as u64, "method"));
        let alone = match reach.alone {
            None | Some(0) => String::new(),
            Some(alone) => format!(", {} in no other test", grouped(alone as u64)),
        };
        lines.push(format!("  {}: {methods}{alone}", reach.test));
        let shown = top.limit(TOP);
        lines.extend(
            reach
                .methods
                .iter()
                .take(shown)
                .map(|method| format!("    {}", name_of(method, &names))),
        );
        if reach.methods.len() > shown {
            lines.push(format!("    … {} more; --top all shows all", reach.methods.len() - shown));
        }
    }
    lines
}

/// The name of a method among [`Program::names`].
fn name_of<'a>(method: &'a Element, names: &'a HashMap<SiteId, String>) -> &'a str {
    method
        .site()
        .and_then(|site| names.get(&site))
        .map_or_else(|| method.path_text(), String::as_str)
}

/// Methods that always return the same value for each receiver, by crate.
pub fn constant_values(program: &Program, top: Top) -> Vec<String> {
    let all: Vec<Constants<'_>> =
        constants(program).into_iter().filter(|of| of.candidates > 0).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec!["always the same value for each receiver, of methods with at least 2 calls and 2 calls made".to_owned()];
    let numbers = |title: &str, of: &dyn Fn(&Constants<'_>) -> String| {
        Column::numbers(title, all.iter().map(of))
    };
    let table = Table::new([
        numbers("constant", &|of| of.constant.len().to_string()).at_least(14),
        numbers("of", &|of| of.candidates.to_string()).at_least(8),
        numbers("", &|of| percent(of.constant.len() as u64, of.candidates as u64)).at_least(8),
        numbers("not comparable", &|of| of.not_comparable.to_string()).at_least(15),
        Column::words("package", all.iter().map(|of| of.package.clone())),
    ]);
    let mut rows = table.lines();
    lines.extend(rows.next());
    for (row, of) in rows.zip(&all) {
        lines.push(row);
        let shown = top.limit(TOP);
        let candidates = of.constant.iter().take(shown).map(|element| candidate(program, element));
        lines.extend(candidates.map(|line| format!("{:>53}{line}", "")));
    }
    if all.iter().any(|of| of.not_comparable > 0) {
        lines.push(format!("not comparable: {TRUST}"));
    }
    lines
}

/// Methods that were called again with equal arguments on an unchanged receiver.
pub fn repeated_calls(program: &Program, top: Top) -> Vec<String> {
    let all = repeated(program).unwrap_or_default();
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        "called again with equal arguments on an unchanged receiver, as Debug shows them, of methods with at least 2 calls made"
            .to_owned(),
    ];
    let shown = &all[..all.len().min(top.limit(TOP))];
    let numbers = |title: &str, of: &dyn Fn(&Repeated<'_>) -> String| {
        Column::numbers(title, shown.iter().map(of))
    };
    let sign = |of: &Repeated<'_>| if of.not_compared > 0 { "≥" } else { "" };
    let table = Table::new([
        numbers("repeated", &|of| format!("{}{}", sign(of), grouped(of.repeated))).at_least(14),
        numbers("of", &|of| grouped(of.element.measure.count)).at_least(8),
        numbers("", &|of| {
            format!("{}{}", sign(of), percent(of.repeated, of.element.measure.count))
        })
        .at_least(8),
        Column::words("function", shown.iter().map(|of| candidate(program, of.element))),
    ]);
    lines.extend(table.lines());
    if shown.iter().any(|of| of.not_compared > 0) {
        lines.push(format!("≥: further calls cannot be compared: {TRUST}"));
    }
    lines
}

/// A method that always returns the same value, with the command that tests a cache for it.
fn candidate(program: &Program, element: &Element) -> String {
    let path = element.path_text();
    let owner = element.under.map_or("", |under| &program.elements[under].name);
    let what = element.method.as_deref().map(|method| {
        if is_cache(method, &element.name, owner) {
            "it caches already".to_owned()
        } else {
            format!("test a cache with: {}", test_command(path, &method.profile.tests))
        }
    });
    format!("{path}  {}", what.unwrap_or_default())
}

/// The callers and the callees of the functions that a selector names.
pub fn callers(program: &Program, selector: &Selector) -> Vec<String> {
    let named: Vec<&Element> =
        program.methods().filter(|method| selector.matches(method.path_text())).collect();
    if named.is_empty() {
        let nearest = selector.nearest(program.methods().map(Element::path_text));
        let hint = if nearest.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", nearest.join(", "))
        };
        return vec![format!("--callers: `{selector}` matches no function of the programs{hint}")];
    }
    let has_lost_edges = program.profiles.has_lost_edges;
    named.into_iter().flat_map(|element| edges(element, has_lost_edges)).collect()
}

fn edges(element: &Element, has_lost_edges: bool) -> Vec<String> {
    let mut lines =
        vec![format!("{}: {}", element.path_text(), counted(element.measure.count, "call"))];
    let Some(profile) = element.method.as_ref().map(|method| &method.profile) else { return lines };
    let callers = profile
        .callers
        .iter()
        .map(|(path, edge)| (path.as_deref().unwrap_or("code without hooks"), edge));
    let more = |way: &str| format!("{:>25}  {way:<4} further functions, maybe: {NO_ROOM}", "≥");
    lines.extend(callers.map(|(path, edge)| edge_line("from", path, edge)));
    lines.extend(profile.has_lost_callers.then(|| more("from")));
    lines.extend(profile.callees.iter().map(|(path, edge)| edge_line("to", path, edge)));
    lines.extend(has_lost_edges.then(|| more("to")));
    lines
}

/// Why callers and callees may be missing, and what to do.
const NO_ROOM: &str =
    "some calls found no room (set METASPY_BUDGET to a larger size), or are of signal handlers";

fn edge_line(way: &str, path: &str, edge: &Edge) -> String {
    let sign = edge.sign();
    let (count, total) =
        (format!("{sign}{}", grouped(edge.count)), format!("{sign}{}", time(edge.total_ns)));
    format!("{count:>14} {total:>10}  {way:<4} {path}")
}

#[cfg(test)]
mod tests;
