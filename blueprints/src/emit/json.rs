//! Scenes as JSON, for the HTML page and for other programs.
//!
//! Rows are arrays, because a picture has thousands of them: `docs/blueprints.md` lists their
//! fields.

use serde_json::{Map, Value, json};

use metaspy_report::coverage::Pattern;
use metaspy_report::flame::Unit;
use metaspy_report::program::TestCount;
use metaspy_report::text::short_type;

use crate::graph::{Bounds, Call, Graph, HookCost, Measured, Method, OwnerKind};
use crate::scene::{Border, EdgeKind, Frame, List, Node, Rect, SIZE, Scene, Stated, Statement};

/// Writes a scene together with the methods that it shows.
pub fn json(scene: &Scene, graph: &Graph) -> Value {
    let shown = Shown::new(graph, [scene]);
    let mut all = shown.graph(graph);
    all.extend(shown.picture(scene));
    all.extend(graph.hooks.map(|cost| ("hook_cost".to_owned(), hook_cost(graph, cost))));
    Value::Object(all)
}

/// Writes the cost of hooks that was subtracted from times, and where it comes from.
fn hook_cost(graph: &Graph, cost: HookCost) -> Value {
    json!({
        "within_ns": cost.within_ns,
        "whole_ns": cost.whole_ns,
        "returned_ns": cost.returned_ns,
        "from": if graph.recorded_hooks() == Some(cost) { "recording" } else { "option" },
        "is_subtracted": true,
    })
}

/// Methods that a set of scenes shows.
pub(super) struct Shown {
    /// Indices of the shown methods in the graph, in output order.
    methods: Vec<usize>,
    /// For each method of the graph, its index in `methods`; `None` if no scene shows it.
    places: Vec<Option<usize>>,
}

impl Shown {
    /// Collects the methods that these scenes of a graph show.
    pub fn new<'s>(graph: &Graph, scenes: impl IntoIterator<Item = &'s Scene>) -> Shown {
        let mut shown = Shown { methods: Vec::new(), places: vec![None; graph.methods.len()] };
        for &at in scenes.into_iter().flat_map(|scene| &scene.nodes).flat_map(|node| &node.methods)
        {
            if shown.places[at].is_none() {
                shown.places[at] = Some(shown.methods.len());
                shown.methods.push(at);
            }
        }
        shown
    }

    /// Writes the methods, their owners and files, and the calls between them.
    pub fn graph(&self, graph: &Graph) -> Map<String, Value> {
        let of_shown = |of: &dyn Fn(&Method) -> usize| {
            let mut all: Vec<usize> =
                self.methods.iter().map(|&at| of(&graph.methods[at])).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let owners = of_shown(&|method| method.owner);
        let mut files: Vec<&str> =
            self.methods.iter().map(|&at| graph.methods[at].file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let mut returns: Vec<&str> =
            self.methods.iter().filter_map(|&at| Some(graph.methods[at].returns?.word())).collect();
        returns.sort_unstable();
        returns.dedup();
        let method = |&at: &usize| {
            let method = &graph.methods[at];
            let mut row = json!([
                method.name,
                owners.binary_search(&method.owner).unwrap_or(0),
                method.executions,
                method.total_ns,
                method.self_ns,
                method.receivers.with_places(),
                method
                    .returns
                    .and_then(|word| returns.iter().position(|&other| other == word.word())),
                tests(method.tests),
                method.lines,
                files.binary_search(&method.file.as_str()).unwrap_or(0),
                method.line
            ]);
            row.as_array_mut()
                .into_iter()
                .for_each(|row| row.extend(graph.hooks.map(|_| method.hooks_ns.into())));
            row
        };
        let call = |call: &Call| {
            let mut row =
                vec![self.places[call.from]? as u64, self.places[call.to]? as u64, call.count];
            row.extend((call.total_ns > 0).then_some(call.total_ns));
            Some(Value::from(row))
        };
        let mut all = Map::new();
        let owner = |&at: &usize| {
            let owner = &graph.owners[at];
            let mut row = json!([owner.module, owner.name]);
            let traits: Vec<Value> =
                owner.traits.iter().map(|name| trait_of(graph, &owners, name)).collect();
            row.as_array_mut()
                .into_iter()
                .for_each(|row| row.extend((!traits.is_empty()).then(|| traits.clone().into())));
            row
        };
        all.insert("owners".into(), owners.iter().map(owner).collect());
        all.insert("methods".into(), self.methods.iter().map(method).collect());
        all.insert("calls".into(), graph.calls.iter().filter_map(call).collect());
        if graph.bounds != Bounds::default() {
            let places = |of: &[bool]| -> Value {
                self.methods
                    .iter()
                    .enumerate()
                    .filter(|&(_, &at)| of[at])
                    .map(|(place, _)| place)
                    .collect()
            };
            let Bounds { calls, times, own } = &graph.bounds;
            let at_most =
                json!({ "calls": places(calls), "total": places(times), "own": places(own) });
            all.insert("at_most".into(), at_most);
        }
        if let Some(Measured { amount, unit, count, .. }) = &graph.measured {
            let unit = if *unit == Unit::Ns { "ns" } else { "count" };
            all.insert(
                "measured".into(),
                json!({ "amount": amount, "unit": unit, "count": count }),
            );
        }
        all.insert("files".into(), files.into());
        all.insert("returns".into(), returns.into());
        all
    }

    /// Writes the picture. It refers to methods by their index in the list of methods.
    pub fn picture(&self, scene: &Scene) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("kind".into(), scene.kind.word().into());
        all.insert("of_methods".into(), scene.kind.is_of_methods().into());
        all.insert("title".into(), scene.title.as_str().into());
        all.insert("size".into(), json!([round(scene.size.0), round(scene.size.1)]));
        all.insert("frames".into(), scene.frames.iter().map(frame).collect());
        all.insert("nodes".into(), scene.nodes.iter().map(|node| self.node(node)).collect());
        let edges = scene.edges.iter().map(|edge| match edge.kind {
            EdgeKind::Tree => json!([edge.from, edge.to, edge.count]),
            EdgeKind::Cross => json!([edge.from, edge.to, edge.count, "cross"]),
            EdgeKind::Back => json!([edge.from, edge.to, edge.count, "back"]),
        });
        all.insert("edges".into(), edges.collect());
        let signs = scene.legend.iter().map(|sign| {
            json!([
                sign.size.map(|(w, h)| [round(w), round(h)]),
                sign.fill.class(),
                sign.text,
                sign.mark.map(Pattern::word)
            ])
        });
        all.insert("legend".into(), signs.collect());
        if !scene.findings.first.is_empty() {
            all.insert("findings".into(), stated(&scene.findings));
        }
        all.insert("lists".into(), scene.lists.iter().map(list).collect());
        all.insert("notes".into(), scene.notes.clone().into());
        all
    }

    fn node(&self, node: &Node) -> Value {
        let methods: Vec<usize> = node.methods.iter().filter_map(|&at| self.places[at]).collect();
        let rect = &node.rect;
        let mut row = vec![
            round(rect.x),
            round(rect.y),
            round(rect.w),
            round(rect.h),
            node.fill.class().into(),
            methods.into(),
        ];
        let mut more = Map::new();
        if node.own > 0.0 {
            more.insert("own".into(), round(node.own));
        }
        if let Some(label) = &node.label {
            more.insert(label.place.class().into(), label.text.as_str().into());
            more.extend((label.size > SIZE).then(|| ("size".to_owned(), round(label.size))));
        }
        if node.named > 0 {
            more.insert("named".into(), node.named.into());
        }
        if node.border == Border::Changed {
            more.insert("changed".into(), 1.into());
        }
        more.extend(node.mark.map(|pattern| ("mark".to_owned(), pattern.word().into())));
        if !node.strips.is_empty() {
            let strip = |Rect { x, y, w, h }: &Rect| {
                [x, y, w, h].into_iter().map(|&length| round(length)).collect()
            };
            more.insert(
                "strips".into(),
                node.strips.iter().map(strip).collect::<Vec<Value>>().into(),
            );
        }
        more.extend(node.ghost.map(|ghost| ("ghost".into(), round(ghost))));
        if !node.tip.is_empty() {
            more.insert("tip".into(), node.tip.join("\n").into());
        }
        if !more.is_empty() {
            row.push(more.into());
        }
        row.into()
    }
}

fn frame(Frame { rect, label, size, name, kind, mark }: &Frame) -> Value {
    let mut row = json!([
        round(rect.x),
        round(rect.y),
        round(rect.w),
        round(rect.h),
        kind.class(),
        label,
        name
    ]);
    let mark = mark.map(|pattern| Value::from(pattern.word()));
    let size = (*size > SIZE).then(|| round(*size));
    if let Some(row) = row.as_array_mut() {
        row.extend(mark.or_else(|| size.as_ref().map(|_| Value::Null)));
        row.extend(size);
    }
    row
}

fn stated(stated: &Stated) -> Value {
    let statement = |it: &Statement| {
        let parts: Vec<Value> = it.parts.iter().map(|part| json!([part.word, part.text])).collect();
        json!([it.kind, it.cost, it.title, parts, it.nodes])
    };
    json!({ "first": stated.first.iter().map(statement).collect::<Vec<_>>(), "further": stated.further })
}

fn list(list: &List) -> Value {
    let rows: Vec<Value> = list.rows.iter().map(|row| json!([row.node, row.text])).collect();
    json!([list.title, rows])
}

/// Returns the index of a trait among the shown owners, or its name if no owner or several owners
/// have that name.
fn trait_of(graph: &Graph, owners: &[usize], name: &str) -> Value {
    let is_it = |&at: &usize| {
        graph.owners[at].kind == OwnerKind::Trait && graph.owners[at].name == short_type(name)
    };
    let mut found = owners.iter().enumerate().filter(|(_, at)| is_it(at)).map(|(place, _)| place);
    match (found.next(), found.next()) {
        (Some(place), None) => place.into(),
        _ => name.into(),
    }
}

/// Rounds a length to one decimal; a whole length becomes an integer.
fn round(length: f64) -> Value {
    let tenths = (length * 10.0).round();
    if tenths % 10.0 == 0.0 {
        Value::from((tenths / 10.0) as i64)
    } else {
        Value::from(tenths / 10.0)
    }
}
/// Writes an exact count as a number, and a lower bound as text.
fn tests(tests: TestCount) -> Value {
    if tests.is_least && tests.count > 0 { tests.to_string().into() } else { tests.count.into() }
}
