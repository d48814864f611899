//! Behavioural distribution blueprint (*Execution profiling blueprints*, section 4.2): callers
//! above callees. Height is total time, width is executions, and colour is the kind of returned
//! values.

use metaspy_report::program::Returned;

use super::caching::{self, caching};
use super::call_tree::{CallTree, Chains, Form, Item, call_tree};
use super::structural::own;
use super::{Options, PictureError, height_word, hooks_note, own_grey, own_greys, widths};
use crate::graph::Graph;
use crate::scene::{Fill, Kind, Label, Node, Rect, Scene, Sign, use_free_room};

/// Draws the calls of the program, or of a method.
pub fn draw(graph: &Graph, options: &Options) -> Result<Scene, PictureError> {
    let form = Form {
        least: (3.0, 6.0),
        chains: Chains::Folded,
        outset: 0.0,
        size: None,
        order: None,
        sign: &|_| None,
    };
    let CallTree { items, rects, labels, names, edges, size, total_ns, mut notes, marks, .. } =
        call_tree(graph, options, &form)?;
    let boxes = items.iter().zip(&rects).zip(labels);
    let mut nodes: Vec<Node> =
        boxes.map(|((item, &rect), label)| node(graph, item, total_ns, rect, label)).collect();
    let size = use_free_room(&mut nodes, &edges, &names, size);
    let candidates = caching(graph, &nodes);
    notes.extend(hooks_note(graph));
    notes.extend(caching::notes(graph, candidates.is_some()));
    Ok(Scene {
        kind: Kind::Behavioural,
        title: String::new(),
        size,
        frames: Vec::new(),
        edges,
        legend: legend(graph),
        findings: marks.stated(options.findings.as_ref(), &nodes),
        lists: candidates.into_iter().collect(),
        nodes,
        notes,
    })
}

fn node(graph: &Graph, item: &Item, whole: u64, rect: Rect, label: Option<Label>) -> Node {
    let share = item.total_ns as f64 / whole.max(1) as f64;
    let Some(&top) = item.methods.first() else {
        return Node {
            rect,
            methods: Vec::new(),
            fill: Fill::Unknown,
            share,
            label,
            ..Node::default()
        };
    };
    let fill = match graph.methods[top].returns {
        Some(Returned::Unit | Returned::Itself) => Fill::Unit,
        Some(Returned::Constant) => Fill::Constant,
        Some(Returned::Varies) => Fill::Varies,
        Some(Returned::NotComparable) => Fill::NotComparable,
        None if graph.measured.is_some() => own_grey(graph, item.methods[item.named]),
        None => Fill::Unknown,
    };
    let method = &graph.methods[*item.methods.last().unwrap_or(&top)];
    Node {
        rect,
        methods: item.methods.clone(),
        named: item.named,
        fill,
        share,
        own: own(rect.h, method.self_ns, Some(item.total_ns)),
        label,
        ..Node::default()
    }
}

fn legend(graph: &Graph) -> Vec<Sign> {
    if graph.measured.is_some() {
        return std::iter::once(Sign::words(format!("width: {}s", graph.count_word())))
            .chain(widths(3.0, 3.0))
            .chain([Sign::words(format!("height: {}", height_word(graph)))])
            .chain(own_greys(graph))
            .chain([
                Sign::words(format!(
                    "+3: three more functions, with less own {}",
                    graph.amount_word()
                )),
                Sign::words("↻: calls back into its callers"),
            ])
            .collect();
    }
    let fills = [
        Sign::fill(Fill::Constant, "always the same value for each receiver"),
        Sign::fill(Fill::Unit, "nothing, or the receiver"),
        Sign::fill(Fill::Varies, "different values"),
        Sign::fill(Fill::NotComparable, "values that cannot be compared"),
        Sign::fill(
            Fill::Unknown,
            if graph.has_returns { "not recorded" } else { "not recorded: record with --returns" },
        ),
    ];
    let marks = [
        Sign::words("orange bar: own time"),
        Sign::words("+3: three more methods, with less own time"),
        Sign::words("↻: calls back into its callers"),
    ];
    std::iter::once(Sign::words("width: calls"))
        .chain(widths(3.0, 3.0))
        .chain([
            Sign::words("height: total time, wall clock"),
            Sign::words("colour: what it returned"),
        ])
        .chain(fills)
        .chain(marks)
        .collect()
}
