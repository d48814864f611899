//! Callers and times: methods with their callers, one level up.
//!
//! A frame is drawn with its callees only where all calls of its method are below it: elsewhere
//! nobody recorded how its time divides. So all drawn numbers are exact, and the sandwich of any
//! method has its callers and callees.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, RowKey, Store};

use super::{
    Edge, FlamePage, FunctionValues, Lane, Measure, Sites, Stacks, Tree, Unit, Values, package_of,
    tree,
};
use crate::program::{INSTRUCTIONS, OWN_INSTRUCTIONS, Program};
use crate::text::counted;

/// Measure of times. The other one is calls.
const TIME: usize = 0;

/// Adds the callers of a recording.
pub fn add(page: &mut FlamePage, store: &Store) {
    let program = Program::read(store, &Filter::all());
    if !program.profiles.has_calls() {
        return page.lacks(
            "callers",
            "not recorded: METASPY_PROFILE=calls, or `cargo metaspy run --timed`",
        );
    }
    let sites = Sites::of(store);
    let mut places: HashMap<SiteId, usize> = HashMap::new();
    let mut rows: BTreeMap<usize, FunctionValues> = BTreeMap::new();
    let mut is_least = program.profiles.has_lost_edges;
    for element in &program.elements {
        let (Some(method), Some(site)) = (&element.method, element.site()) else { continue };
        let at = page.path(&method.path_with_arguments(), &sites);
        if page.functions[at].place.is_empty() && !method.site.file.is_empty() {
            page.functions[at].place = format!("{}:{}", method.site.file, method.site.lines.0);
        }
        places.insert(site, at);
        if element.measure.count > 0 {
            let row = rows.entry(at).or_default();
            let ns = |time: Option<u64>| time.unwrap_or(0);
            row.own = tree::sum(row.own, [ns(method.profile.self_ns), element.measure.count, 0]);
            row.total =
                tree::sum(row.total, [ns(method.profile.total_ns), element.measure.count, 0]);
            is_least |= method.profile.has_lost_times;
        }
    }
    let mut edges: BTreeMap<(Option<usize>, usize), Values> = BTreeMap::new();
    for &(caller, callee, edge) in &program.edges {
        let (Some(&to), from) =
            (places.get(&callee), caller.map(|caller| places.get(&caller).copied()))
        else {
            continue;
        };
        let values = edges.entry((from.flatten(), to)).or_default();
        *values = tree::sum(*values, [edge.total_ns, edge.count, 0]);
    }
    let edges: Vec<Edge> =
        edges.into_iter().map(|((from, to), total)| Edge { from, to, total }).collect();
    page.stacks.push(of_edges(Stacks {
        name: "callers".into(),
        about:
            "callers and times of all threads: calls and times are known by caller, one level up"
                .into(),
        measures: measures(Measure::new("wall time", Unit::Ns), is_least),
        rows,
        edges: Some(edges),
        ..Stacks::default()
    }));
}

/// Adds the instructions by caller of a profile of callgrind.
pub(crate) fn add_instructions(page: &mut FlamePage, store: &Store) {
    let profiles = store.united_profiles();
    let mut edges: Vec<Edge> = Vec::new();
    let mut rows: BTreeMap<usize, FunctionValues> = BTreeMap::new();
    let mut function = |site: SiteId| {
        let path = store.site_path(site);
        let known = store.site(site).filter(|site| !site.file.is_empty());
        let place = known.map_or(String::new(), |site| format!("{}:{}", site.file, site.lines.0));
        page.function(path, &place, package_of(path))
    };
    for table in profiles
        .iter()
        .filter(|profile| profile.name == INSTRUCTIONS)
        .flat_map(|profile| &profile.tables)
    {
        for row in &table.rows {
            let number = |column| table.value(row.key, column).number().unwrap_or(0);
            match row.key {
                RowKey::Site(site) => {
                    rows.entry(function(site)).or_default().own[0] += number(OWN_INSTRUCTIONS)
                }
                RowKey::Caller(to, Some(from)) => {
                    let total = [number(OWN_INSTRUCTIONS), number("calls"), 0];
                    edges.push(Edge { from: Some(function(from)), to: function(to), total });
                }
                _ => {}
            }
        }
    }
    if edges.is_empty() {
        return;
    }
    // Calls within a recursion have no instructions of their own.
    let is_least = edges.iter().any(|edge| edge.total[TIME] == 0 && edge.total[1] > 0);
    for row in rows.values_mut() {
        row.total[0] = row.own[0];
    }
    let mut called: BTreeSet<usize> = BTreeSet::new();
    for edge in edges.iter().filter(|edge| edge.from != Some(edge.to)) {
        let row = rows.entry(edge.from.expect("it has a caller")).or_default();
        row.total[0] = row.total[0].saturating_add(edge.total[0]);
        called.extend((edge.total[0] > 0).then_some(edge.to));
    }
    for edge in &edges {
        let row = rows.entry(edge.to).or_default();
        let calls = row.own[1].saturating_add(edge.total[1]);
        (row.own[1], row.total[1]) = (calls, calls);
    }
    for (&to, row) in rows.iter().filter(|(at, _)| !called.contains(at)) {
        edges.push(Edge { from: None, to, total: row.total });
    }
    page.stacks.push(of_edges(Stacks {
        name: INSTRUCTIONS.into(),
        about: "instructions of all threads as callgrind counted them: they are known by caller, one level up".into(),
        measures: measures(Measure::new(INSTRUCTIONS, Unit::Count), is_least),
        rows,
        edges: Some(edges),
        ..Stacks::default()
    }));
}

/// A measure, and the calls. The calls of a method are no part of its caller's.
fn measures(measure: Measure, is_least: bool) -> Vec<Measure> {
    let calls = Measure { is_width: false, ..Measure::new("calls", Unit::Count) };
    [measure, calls].map(|measure| Measure { is_least, ..measure }).into()
}

/// Adds the frames that the edges make, and a sentence about those whose callees are not known.
fn of_edges(stacks: Stacks) -> Stacks {
    let (tree, parts) = expanded(stacks.edges.as_deref().unwrap_or_default(), &stacks.rows);
    let notes = (parts > 0).then(|| {
        format!(
            "{} with several callers: what they call is not recorded by caller, and their sandwich has it",
            counted(parts as u64, "hatched frame")
        )
    }).into_iter().collect();
    Stacks { lanes: vec![Lane { tree, ..Lane::default() }], notes, ..stacks }
}

/// Draws the methods below code without hooks, as far as their place is the only one. Returns how
/// many frames are not.
fn expanded(edges: &[Edge], rows: &BTreeMap<usize, FunctionValues>) -> (Tree, usize) {
    let mut callees: HashMap<Option<usize>, Vec<&Edge>> = HashMap::new();
    let mut callers: HashMap<usize, usize> = HashMap::new();
    // Calls within a recursion have no time of their own.
    for edge in edges
        .iter()
        .filter(|edge| edge.from != Some(edge.to) && (edge.from.is_none() || edge.total[TIME] > 0))
    {
        callees.entry(edge.from).or_default().push(edge);
        *callers.entry(edge.to).or_default() += 1;
    }
    let mut tree = Tree::default();
    let mut next = vec![(None, 0)];
    let mut parts = 0;
    while let Some((method, place)) = next.pop() {
        for edge in callees.get(&method).into_iter().flatten() {
            let at = tree.child(place, edge.to);
            let frame = &mut tree.frames[at];
            frame.total = edge.total;
            frame.own = edge.total;
            if callers[&edge.to] == 1 {
                frame.own[TIME] = rows.get(&edge.to).map_or(0, |row| row.own[TIME]);
                next.push((Some(edge.to), at));
            } else if callees.contains_key(&Some(edge.to)) {
                (frame.own[TIME], frame.is_part) = (0, true);
                parts += 1;
            }
        }
    }
    let roots = tree.frames.iter().skip(1).filter(|frame| frame.caller == 0);
    tree.frames[0].total =
        roots.fold([0; super::MEASURES], |all, frame| tree::sum(all, frame.total));
    (tree, parts)
}
