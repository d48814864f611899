//! Coverage blueprint (*Spy: A flexible code profiling framework*, section 5): height is lines,
//! width is receivers, grey is executions. Methods that never ran have an outline in a signal
//! colour, and five patterns have marks.

use std::collections::HashSet;

use metaspy_report::coverage::Pattern;
use metaspy_report::text::counted;

use super::named::{Form, Named, named};
use super::stated::Marks;
use super::{Options, grey, steps};
use crate::graph::{Graph, Method};
use crate::scene::{Fill, Frame, Kind, List, ListRow, Node, Scene, Sign};

/// Height of a source line, in pixels.
const LINE: f64 = 0.9;
/// Minimum height of a box.
const LEAST: f64 = 3.0;
/// Maximum height of the tallest box. Taller boxes shrink the scale of all boxes.
const TALLEST: f64 = 540.0;

/// Draws all methods, whether they ran or not.
pub fn draw(graph: &Graph, options: &Options) -> Scene {
    let longest = graph.methods.iter().map(|method| method.lines).max().unwrap_or(1).max(1);
    let line = LINE.min(TALLEST / f64::from(longest));
    let sizes: Vec<(usize, (f64, f64))> =
        graph.methods.iter().map(|method| size(method, line)).enumerate().collect();
    let most = graph.methods.iter().map(|method| method.executions).max().unwrap_or(0);
    let marks = marks(graph);
    let mut has_run = vec![false; graph.owners.len()];
    graph.ran().for_each(|at| has_run[graph.methods[at].owner] = true);
    let stated = Marks::new(graph, options.findings.as_ref());
    let (mut page, boxes) = named(
        graph,
        &sizes,
        &stated,
        &Form { is_absent: &|owner: usize| !has_run[owner], ..Form::default() },
    );
    mark_absent(graph, &marks, &mut page.frames);
    let node = |Named { method: at, rect, label }: Named| {
        let method = &graph.methods[at];
        Node {
            rect,
            methods: vec![at],
            fill: fill(method, most),
            label,
            mark: marks[at].filter(|&it| it != Pattern::Absent),
            ..Node::default()
        }
    };
    let nodes: Vec<Node> = boxes.into_iter().map(node).collect();
    let ran = graph.ran().count() as u64;
    let notes = vec![
        format!(
            "{} of {} ran ({})",
            metaspy_report::text::grouped(ran),
            counted(graph.methods.len() as u64, "method"),
            metaspy_report::text::percent(ran, graph.methods.len() as u64)
        ),
        format!("height is linear in lines: {:.1} px a line", line),
        "width is the number of receivers; where there is no receiver, of the tests in which it ran".into(),
        "tests and what only they use are not drawn, nor are functions that cannot have a hook".into(),
    ];
    Scene {
        kind: Kind::Coverage,
        title: String::new(),
        size: page.size,
        frames: page.frames,
        edges: Vec::new(),
        legend: legend(most, line).chain(legend_of_marks(graph)).collect(),
        findings: stated.stated(options.findings.as_ref(), &nodes),
        lists: patterns(graph, &nodes),
        nodes,
        notes,
    }
}

/// Returns the size of a method's box, given the height of a source line.
pub(super) fn size(method: &Method, line: f64) -> (f64, f64) {
    (4.0 + 5.0 * (width_of(method) as f64).ln_1p(), LEAST.max(line * f64::from(method.lines)))
}

/// Returns the fill of a method's box. `most` is the largest number of executions.
pub(super) fn fill(method: &Method, most: u64) -> Fill {
    match method.executions {
        0 => Fill::NeverRan,
        n => Fill::Grey(grey(n, most).max(1)),
    }
}

/// Returns the pattern that each method shows, if any.
pub(super) fn marks(graph: &Graph) -> Vec<Option<Pattern>> {
    let mut marks = vec![None; graph.methods.len()];
    for (pattern, methods) in &graph.patterns {
        methods.iter().for_each(|&at| marks[at] = Some(*pattern));
    }
    marks
}

/// Marks the frame of each type in which no method ran, instead of all its methods.
fn mark_absent(graph: &Graph, marks: &[Option<Pattern>], frames: &mut [Frame]) {
    let absent: HashSet<String> = (graph.methods.iter().zip(marks))
        .filter(|(_, mark)| **mark == Some(Pattern::Absent))
        .map(|(method, _)| graph.owners[method.owner].path())
        .collect();
    frames
        .iter_mut()
        .filter(|frame| absent.contains(&frame.name))
        .for_each(|frame| frame.mark = Some(Pattern::Absent));
}

/// Lists the boxes that show each of the five patterns.
pub(super) fn patterns(graph: &Graph, nodes: &[Node]) -> Vec<List> {
    let mut places = vec![None; graph.methods.len()];
    nodes
        .iter()
        .enumerate()
        .for_each(|(place, node)| node.methods.iter().for_each(|&at| places[at] = Some(place)));
    let row = |&at: &usize| {
        Some(ListRow {
            node: Some(places[at]?),
            text: counted(u64::from(graph.methods[at].lines), "line"),
        })
    };
    let list = |(pattern, methods): &(Pattern, Vec<usize>)| List {
        title: pattern.title_of(methods.len()),
        rows: methods.iter().filter_map(row).collect(),
    };
    graph.patterns.iter().map(list).filter(|list| !list.rows.is_empty()).collect()
}

fn width_of(method: &Method) -> u64 {
    if method.receivers.magnitude() == 0 {
        method.tests.count
    } else {
        method.receivers.magnitude()
    }
}

/// Builds the legend of the pattern marks.
pub(super) fn legend_of_marks(graph: &Graph) -> impl Iterator<Item = Sign> {
    std::iter::once(Sign::words("marks")).chain(graph.patterns.iter().map(|(pattern, methods)| {
        Sign {
            size: Some((8.0, 10.0)),
            mark: Some(*pattern),
            text: pattern.title_of(methods.len()),
            ..Sign::default()
        }
    }))
}

/// Builds the legend of sizes and fills.
pub(super) fn legend(most: u64, line: f64) -> impl Iterator<Item = Sign> {
    let widths = [1_u64, 10, 1_000]
        .map(|n| Sign::sized((4.0 + 5.0 * (n as f64).ln_1p(), 10.0), counted(n, "receiver")));
    let heights = [10_u64, 50].map(|n| Sign::sized((8.0, line * n as f64), counted(n, "line")));
    let greys = steps(1, most)
        .into_iter()
        .map(move |n| Sign::fill(Fill::Grey(grey(n, most).max(1)), &counted(n, "call")));
    let rest = [Sign::fill(
        Fill::NeverRan,
        "never ran; the frame is in this colour if no method of a type ran",
    )];
    widths.into_iter().chain(heights).chain([Sign::words("grey: calls")]).chain(greys).chain(rest)
}
