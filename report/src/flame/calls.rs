//! Callers and times: methods with their callers, one level up.
//!
//! A frame is drawn with what it calls only where all calls of its method are below it: elsewhere nobody recorded how its
//! time divides. So all drawn numbers are exact, and the sandwich of any method has its callers and callees.

use std::collections::{BTreeMap, HashMap};

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, Store};

use super::{Edge, FlamePage, Lane, Measure, Row, Sites, Stacks, Tree, Unit, Values, tree};
use crate::program::Program;

/// Measure of times. The other one is calls.
const TIME: usize = 0;

/// Adds the callers of a recording.
pub fn add(page: &mut FlamePage, store: &Store) {
    let program = Program::read(store, &Filter::all());
    if !program.profiles.has_calls() {
        return page.lacks("callers", "not recorded: METASPY_PROFILE=calls, or `cargo metaspy run --timed`");
    }
    let sites = Sites::of(store);
    let mut places: HashMap<SiteId, usize> = HashMap::new();
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
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
            row.total = tree::sum(row.total, [ns(method.profile.total_ns), element.measure.count, 0]);
            is_least |= method.profile.has_lost_times;
        }
    }
    let mut edges: BTreeMap<(Option<usize>, usize), Values> = BTreeMap::new();
    for &(caller, callee, edge) in &program.edges {
        let (Some(&to), from) = (places.get(&callee), caller.map(|caller| places.get(&caller).copied())) else {
            continue;
        };
        let values = edges.entry((from.flatten(), to)).or_default();
        *values = tree::sum(*values, [edge.total_ns, edge.count, 0]);
    }
    let edges: Vec<Edge> = edges.into_iter().map(|((from, to), total)| Edge { from, to, total }).collect();
    let (tree, parts) = expanded(&edges, &rows);
    let mut notes = Vec::new();
    if parts > 0 {
        notes.push(format!(
            "{parts} hatched frames are methods with several callers: what they call is not recorded by caller, and their \
             sandwich has it"
        ));
    }
    // The calls of a method are no part of its caller's.
    let calls = Measure { is_width: false, ..Measure::new("calls", Unit::Count) };
    let measures = [Measure::new("wall time", Unit::Ns), calls];
    page.stacks.push(Stacks {
        name: "callers".into(),
        about: "callers and times of all threads: calls and times are known by caller, one level up".into(),
        measures: measures.into_iter().map(|measure| Measure { is_least, ..measure }).collect(),
        lanes: vec![Lane { tree, ..Lane::default() }],
        rows,
        edges: Some(edges),
        notes,
        ..Stacks::default()
    });
}

/// Draws the methods below code without hooks, as far as their place is the only one. Returns how many frames are not.
fn expanded(edges: &[Edge], rows: &BTreeMap<usize, Row>) -> (Tree, usize) {
    let mut callees: HashMap<Option<usize>, Vec<&Edge>> = HashMap::new();
    let mut callers: HashMap<usize, usize> = HashMap::new();
    for edge in edges.iter().filter(|edge| edge.from != Some(edge.to)) {
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
    tree.frames[0].total = roots.fold([0; super::MEASURES], |all, frame| tree::sum(all, frame.total));
    (tree, parts)
}
