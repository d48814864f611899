//! Productions of a grammar, from a recording: activations, matches and references, the
//! alternatives that shadow productions that never matched, and a set of inputs that covers the
//! others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{By, Filter, Measure, Scope, Store};
use metaspy_report::grammar::State;

use crate::graph::{Call, Graph, Method, Owner, OwnerKind};

/// Kind of the subjects that stand for productions. Their keys are the numbers of their sites.
const PRODUCTION: &str = "Production";
/// Relation of a production to the productions that it refers to.
const REFERS_TO: &str = "refers to";
/// Kind of the subjects whose labels state why a production never matched, by the number of its
/// site.
const SHADOW: &str = "Shadow";

/// Grammar, and the part of it that the recorded inputs exercised.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    /// Productions as methods: executions are activations, calls are references.
    pub graph: Graph,
    /// Productions in the order of the graph's methods.
    pub productions: Vec<Production>,
    /// Inputs that together match every production that matched, each with the number of
    /// productions that it adds.
    pub cover: Vec<(String, usize)>,
    /// True if the references were recorded. Otherwise, the causes of the events replace them.
    pub has_references: bool,
}

/// Results of a production.
#[derive(Clone, Debug)]
pub struct Production {
    /// Number of successful matches.
    pub matched: u64,
    /// Progress of the inputs: never entered, never matched, or matched.
    pub state: State,
    /// Reason why no run can reach the production.
    pub unused: Option<String>,
    /// Alternative that matches in its place.
    pub shadow: Option<String>,
    /// Number of inputs that it matched in, and the input with the fewest activations among them.
    pub inputs: (usize, Option<String>),
}

impl Grammar {
    /// Reads the productions of a recording.
    pub fn read(store: &Store, filter: &Filter) -> Grammar {
        let mut grammar = Grammar::default();
        let sites: Vec<_> =
            store.sites().iter().filter(|site| site.kind == SiteKind::Production).collect();
        let places: HashMap<SiteId, usize> =
            sites.iter().enumerate().map(|(at, site)| (site.id, at)).collect();
        let scope = Scope { filter: filter.clone(), ..Scope::default() };
        let tally = store.tally(By::Site, &scope);
        grammar.graph.exact = tally.exact;
        let mut measures = vec![Measure::default(); sites.len()];
        for row in &tally.rows {
            row.site
                .and_then(|site| places.get(&site))
                .into_iter()
                .for_each(|&at| measures[at] = row.measure);
        }
        let inputs = inputs(store, &scope, &places);
        let kind = |name: &str| store.kinds().find(|kind| kind.name == name).map(|kind| kind.id);
        let of_production = kind(PRODUCTION);
        let of_shadow = kind(SHADOW);
        for (at, site) in sites.iter().enumerate() {
            let measure = &measures[at];
            let (module, name) = site.path.rsplit_once("::").unwrap_or(("", &site.path));
            let owner = grammar.graph.owner(Owner {
                module: module.into(),
                name: "fn".into(),
                kind: OwnerKind::Functions,
                traits: Vec::new(),
            });
            grammar.graph.methods.push(Method {
                site: Some(site.id),
                path: site.path.clone(),
                path_with_arguments: site.path.clone(),
                name: name.to_owned(),
                owner,
                file: site.file.clone(),
                line: site.lines.0,
                lines: 1 + site.lines.1.saturating_sub(site.lines.0),
                executions: measure.count,
                total_ns: (measure.timed > 0).then(|| store.span_ns(measure.total_ticks)),
                self_ns: measure
                    .self_ticks
                    .filter(|_| measure.timed > 0)
                    .map(|ticks| store.span_ns(ticks)),
                ..Method::default()
            });
            let matched = matched(measure);
            let covered = inputs.iter().filter(|input| input.matched.contains(&at));
            let shadow =
                of_shadow.and_then(|kind| store.label(Subject::new(kind, site.id.0.into())));
            grammar.productions.push(Production {
                matched,
                state: match (measure.count, matched) {
                    (0, _) => State::NeverEntered,
                    (_, 0) => State::NeverMatched,
                    _ => State::Matched,
                },
                unused: site.skipped.clone(),
                shadow: shadow.map(str::to_owned),
                inputs: (
                    covered.clone().count(),
                    covered.min_by_key(|input| input.activations).map(|it| it.name.clone()),
                ),
            });
            let Some(kind) = of_production else { continue };
            let subject = Subject::new(kind, site.id.0.into());
            let references = store.relations_of(subject).into_iter();
            let references = references
                .filter(|it| it.name == REFERS_TO && it.from == subject && it.to.kind == kind);
            let references =
                references.filter_map(|it| places.get(&SiteId(u32::try_from(it.to.key).ok()?)));
            grammar.graph.calls.extend(references.map(|&to| Call {
                from: at,
                to,
                count: 0,
                total_ns: 0,
            }));
        }
        grammar.has_references = !grammar.graph.calls.is_empty();
        if !grammar.has_references {
            grammar.graph.add_causes(store, filter);
        }
        grammar.cover = cover(&inputs);
        grammar
    }
}

/// Productions that matched in an input.
struct Input {
    name: String,
    activations: u64,
    matched: BTreeSet<usize>,
}

fn inputs(store: &Store, scope: &Scope, places: &HashMap<SiteId, usize>) -> Vec<Input> {
    let mut inputs: BTreeMap<Subject, Input> = BTreeMap::new();
    for row in store.tally(By::SiteSubject, scope).rows {
        let (Some(at), Some(subject)) = (row.site.and_then(|site| places.get(&site)), row.subject)
        else {
            continue;
        };
        let Some(name) = store.label(subject) else { continue };
        let input = inputs.entry(subject).or_insert_with(|| Input {
            name: name.to_owned(),
            activations: 0,
            matched: BTreeSet::new(),
        });
        input.activations += row.measure.count;
        if matched(&row.measure) > 0 {
            input.matched.insert(*at);
        }
    }
    inputs.into_values().collect()
}

fn matched(measure: &Measure) -> u64 {
    measure
        .count
        .saturating_sub(measure.failed + measure.cancelled + measure.panicked + measure.running)
}

/// Selects, step by step, the input that adds most productions, and among equals the shortest
/// parse.
fn cover(inputs: &[Input]) -> Vec<(String, usize)> {
    let mut left: BTreeSet<usize> =
        inputs.iter().flat_map(|input| input.matched.iter().copied()).collect();
    let mut cover = Vec::new();
    while !left.is_empty() {
        let adds = |input: &Input| input.matched.intersection(&left).count();
        let best =
            inputs.iter().max_by_key(|input| (adds(input), std::cmp::Reverse(input.activations)));
        let Some(best) = best else { break };
        cover.push((best.name.clone(), adds(best)));
        left.retain(|at| !best.matched.contains(at));
    }
    cover
}
