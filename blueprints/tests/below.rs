//! What a picture shows of methods that several callers share: nothing with time is missing, and
//! below a root the numbers are those within its calls.

#[path = "fixture/mod.rs"]
mod fixture;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use fixture::program;
use metaspy_blueprints::graph::Call;
use metaspy_blueprints::{Graph, Kind, Options, emit, picture};
use metaspy_core::hook::{Frame, Guard, observed};
use metaspy_core::method_profilers::{Calls, Contexts};
use metaspy_core::site::register_dynamic;
use metaspy_core::{Profiler, Recording, Site, SiteDef, SiteKind};
use metaspy_reader::Filter;
use metaspy_report::program::Edge;

fn site(name: &'static str) -> &'static Site {
    let lines = (line!(), line!());
    register_dynamic(SiteDef {
        kind: SiteKind::Method,
        module: "app",
        name,
        file: file!(),
        lines,
        skipped: None,
    })
}

fn call(site: &'static Site, within: impl FnOnce()) {
    let mut frame = Frame::vacant();
    let _call = Guard::of(site, observed::enter_site(&mut frame, site));
    within();
}

/// A run in which three methods share a fourth, and a second entry takes a small part of the time.
static SHARED: LazyLock<Graph> = LazyLock::new(|| recorded(Profiler::new("calls")));

/// Records it with a profiler that also times calls.
fn recorded(profiler: Profiler) -> Graph {
    // There is one recording in a process at a time.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let [main, often, sometimes, once, shared, leaf, second] =
        ["main", "often", "sometimes", "once", "shared", "leaf", "second"].map(site);
    let recording = Recording::memory().budget(8 << 20).start().expect("there is memory");
    let installed = profiler.method_profiler(Calls::default()).install().expect("it installs");
    let sleep = || std::thread::sleep(Duration::from_millis(1));
    let share = |count: usize| (0..count).for_each(|_| call(shared, || call(leaf, sleep)));
    call(main, || {
        call(often, || share(44));
        call(sometimes, || share(5));
        call(once, || share(1));
    });
    call(second, sleep);
    drop(installed);
    Graph::read(&recording.store(), &Filter::all())
}

#[test]
fn every_method_with_a_hundredth_of_the_time_is_in_picture_list_and_search() {
    let graph = &*SHARED;
    let whole: u64 = graph.entries.iter().map(|(_, edge)| edge.total_ns).sum();
    let scene = picture::draw(Kind::Behavioural, graph, &Options::default()).expect("it is drawn");
    let in_picture: BTreeSet<usize> =
        scene.nodes.iter().flat_map(|node| node.methods.iter().copied()).collect();
    let in_list: BTreeSet<usize> =
        emit::outline(&scene, graph).iter().filter_map(|line| line.method).collect();
    let json = emit::json(&scene, graph);
    let searched = json["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|node| node[5].as_array().into_iter().flatten());
    let in_search: BTreeSet<&str> =
        searched.filter_map(|at| json["methods"][at.as_u64()? as usize][0].as_str()).collect();
    let heavy = (0..graph.methods.len()).filter(|&at| graph.total(at) * 100 >= whole);
    let mut count = 0;
    for at in heavy {
        count += 1;
        let name = graph.methods[at].name.as_str();
        assert!(
            in_picture.contains(&at) && in_list.contains(&at) && in_search.contains(name),
            "{name}: {scene:?}"
        );
    }
    assert!(count >= 6, "the second entry has a hundredth of the time as well: {graph:?}");
    let shared = graph.find("app::shared").expect("it ran");
    let is_folded =
        scene.nodes.iter().any(|node| node.methods[..].iter().skip(1).any(|&at| at == shared));
    assert!(!is_folded, "no caller has all of its time: {:?}", scene.nodes);
}

#[test]
fn below_a_root_a_shared_method_has_the_calls_and_the_time_of_the_root() {
    let graph = SHARED.clone().below("app::once").expect("it ran");
    let at = |name: &str| graph.find(name).expect("it ran");
    let [root, shared, leaf] = ["app::once", "app::shared", "app::leaf"].map(at);
    assert_eq!(
        (graph.methods[shared].executions, graph.calls_sign(shared), graph.time_sign(shared)),
        (1, "", "")
    );
    assert!(graph.total(shared) <= graph.total(root) && graph.total(shared) >= 1_000_000);
    assert_eq!(
        (graph.methods[leaf].executions, graph.calls_sign(leaf), graph.time_sign(leaf)),
        (50, "≤", "≤")
    );
    assert!(graph.total(leaf) <= graph.total(shared));
    let scene = picture::draw(Kind::Behavioural, &graph, &Options::default()).expect("it is drawn");
    assert!(scene.nodes.iter().all(|node| node.share <= 1.0), "{:?}", scene.nodes);
    let notes = scene.notes.join("; ");
    assert!(
        notes.contains("≤: 1 method") && notes.contains("4 methods not called from here"),
        "{notes}"
    );
    let text = emit::text(&scene, &graph, 100, 20);
    assert!(text.contains(" 1× once") && !text.contains(" 50×"), "{text}");
    let json = emit::json(&scene, &graph);
    assert_eq!(json["at_most"]["calls"].as_array().map(Vec::len), Some(1), "{json}");
}

/// Calls of a made-up program: a tree, each call with its method and its own time.
struct Made {
    method: usize,
    own_ns: u64,
    callees: Vec<Made>,
}

fn made(dice: &mut impl FnMut(u64) -> u64, methods: u64, depth: usize) -> Made {
    let callees = if depth == 0 { 0 } else { dice(4) };
    Made {
        method: dice(methods) as usize,
        own_ns: 1 + dice(50),
        callees: (0..callees).map(|_| made(dice, methods, depth - 1)).collect(),
    }
}

/// The calls and the time of each method within the calls of a root, or in all; and the calls
/// between methods.
#[derive(Default)]
struct Counted {
    methods: BTreeMap<usize, Edge>,
    calls: BTreeMap<(Option<usize>, usize), Edge>,
}

impl Counted {
    fn count(&mut self, made: &Made, root: Option<usize>, above: &mut Vec<usize>) -> u64 {
        above.push(made.method);
        let below: u64 = made.callees.iter().map(|callee| self.count(callee, root, above)).sum();
        above.pop();
        let total_ns = made.own_ns + below;
        let within = match root {
            Some(root) => above.iter().position(|&method| method == root),
            None => Some(0),
        };
        let is_root = root == Some(made.method);
        let from = within.unwrap_or(above.len());
        if within.is_some() || is_root {
            let is_outermost = !above[from..].contains(&made.method);
            let edge = Edge {
                count: 1,
                total_ns: if is_outermost { total_ns } else { 0 },
                is_least: false,
            };
            self.methods.entry(made.method).or_default().add(edge);
            self.calls.entry((above.last().copied(), made.method)).or_default().add(edge);
        }
        total_ns
    }
}

#[test]
fn numbers_below_a_root_are_those_of_a_walk_or_bounds_of_them() {
    let (mut exact, mut bounds) = (0, 0);
    for seed in 0..60_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut dice = |sides: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % sides
        };
        let methods = 3 + dice(12);
        let runs: Vec<Made> = (0..1 + dice(3)).map(|_| made(&mut dice, methods, 6)).collect();
        let mut all = Counted::default();
        runs.iter().for_each(|made| _ = all.count(made, None, &mut Vec::new()));
        let mut graph = program(methods as usize, seed);
        (graph.calls, graph.entries) = (Vec::new(), Vec::new());
        for (at, method) in graph.methods.iter_mut().enumerate() {
            let edge = all.methods.get(&at).copied().unwrap_or_default();
            (method.executions, method.total_ns, method.self_ns) =
                (edge.count, Some(edge.total_ns), Some(0));
        }
        for (&(from, to), &edge) in &all.calls {
            match from {
                Some(from) => {
                    graph.calls.push(Call { from, to, count: edge.count, total_ns: edge.total_ns })
                }
                None => graph.entries.push((to, edge)),
            }
        }
        for &root in all.methods.keys() {
            let mut walked = Counted::default();
            runs.iter().for_each(|made| _ = walked.count(made, Some(root), &mut Vec::new()));
            let below = graph.clone().below(&graph.methods[root].path).expect("it is a method");
            for (&at, edge) in &walked.methods {
                let (method, words) =
                    (&below.methods[at], format!("seed {seed}, {at} below {root}"));
                match below.calls_sign(at) {
                    "" => assert_eq!(method.executions, edge.count, "{words}"),
                    _ => assert!(method.executions >= edge.count, "{words}"),
                }
                match below.time_sign(at) {
                    "" => assert_eq!(below.total(at), edge.total_ns, "{words}"),
                    _ => assert!(below.total(at) >= edge.total_ns, "{words}"),
                }
                assert!(below.total(at) <= below.total(root), "{words}");
                if below.calls_sign(at).is_empty() { exact += 1 } else { bounds += 1 }
            }
        }
    }
    assert!(exact > 100 && bounds > 100, "{exact} and {bounds}");
}

#[test]
fn recorded_contexts_tell_exactly_what_is_below_a_root() {
    let graph = recorded(Profiler::new("tree").method_profiler(Contexts::default()));
    let bounded = SHARED.clone().below("app::once").expect("it ran");
    for (root, calls) in [("app::often", 44), ("app::sometimes", 5), ("app::once", 1)] {
        let below = graph.clone().below(root).expect("it ran");
        for name in ["app::shared", "app::leaf"] {
            let at = below.find(name).expect("it ran");
            let signs = [below.calls_sign(at), below.time_sign(at), below.own_sign(at)];
            assert_eq!(
                (below.methods[at].executions, signs),
                (calls, ["", "", ""]),
                "{name} below {root}"
            );
            assert!(
                below.total(at) <= below.total(below.find(root).expect("it ran")),
                "{name} below {root}"
            );
        }
        let leaf = below.find("app::leaf").expect("it ran");
        let made = below.calls.iter().find(|call| call.to == leaf).expect("it is called");
        assert_eq!(made.count, calls, "{root}");
    }
    let leaf = bounded.find("app::leaf").expect("it ran");
    assert_eq!(bounded.calls_sign(leaf), "≤", "callers alone do not tell it");
}
