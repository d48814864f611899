//! Call graph of *Spy: A flexible code profiling framework*, section 5.3: the methods that a method
//! leads to, in the shapes of the coverage blueprint, with the marks of its five patterns.
//!
//! SPY reads outgoing calls from the code, while a recording has the calls that happened. Calls of
//! methods that never ran come from the source (see [`written_calls`]), so that the picture shows
//! the gaps as well.

use std::cmp::Reverse;

use metaspy_report::text::{clean, counted};

use super::boxes::{Boxes, Form, boxes};
use super::coverage::{fill, legend, legend_of_marks, marks, patterns, size};
use super::stated::Marks;
use super::{LABELLED, Options, PictureError};
use crate::emit::name_of;
use crate::graph::Graph;
use crate::graph::written_calls::written_calls;
use crate::layout::spanning_tree::breadth_first;
use crate::scene::{Fill, Kind, Label, Name, Node, Scene, Sign, use_free_room};

/// Height of a source line, in pixels.
const LINE: f64 = 0.6;
/// Candidate limits on the number of boxes. The first limit at which all labels are readable on a
/// screen is used.
const MOST: [usize; 5] = [250, 150, 100, 60, 40];
/// Maximum size of a picture whose labels are readable on a screen.
const READABLE: (f64, f64) = (2_000.0, 1_150.0);
/// Candidate numbers of letters of a name at most.
const LETTERS: [usize; 3] = [32, 24, 18];

/// Draws the calls of the program, or of a method.
pub fn draw(graph: &Graph, options: &Options) -> Result<Scene, PictureError> {
    if !graph.has_callers {
        return Err(PictureError::NoCallers);
    }
    let mut graph = graph.clone();
    let written = written_calls(&graph);
    graph.calls.extend(&written);
    let mut tree = breadth_first(&graph, graph.root);
    // If there is not room for all methods, the longest are drawn first.
    tree.callees
        .iter_mut()
        .for_each(|callees| callees.sort_by_key(|&at| Reverse(graph.methods[at].lines)));
    let stated = Marks::new(&graph, options.findings.as_ref());
    let whole = graph.ran().map(|at| graph.total(at)).max().unwrap_or(0);
    let name = |at: Option<usize>| match at {
        Some(at) => Name {
            marks: stated.of(&[at]),
            text: name_of(&graph, at),
            path: clean(&graph.methods[at].path).into_owned(),
            signs: String::new(),
        },
        None => Name { text: "(program)".into(), ..Name::default() },
    };
    let has_time = |at: usize| whole > 0 && graph.total(at) as f64 >= LABELLED * whole as f64;
    let is_large = |at: Option<usize>| at.is_none_or(|at| stated.has(at) || has_time(at));
    let size = |at: Option<usize>| at.map_or((12.0, 12.0), |at| size(&graph.methods[at], LINE));
    let draw = |most: usize, letters: usize| {
        boxes(&graph, &tree, most, &Form { size: &size, name: &name, is_large: &is_large, letters })
    };
    let trials = MOST.into_iter().flat_map(|most| LETTERS.map(|letters| (most, letters)));
    let readable = trials
        .map(|(most, letters)| draw(most, letters))
        .find(|(boxes, _)| boxes.size.0 <= READABLE.0 && boxes.size.1 <= READABLE.1);
    let (Boxes { methods, rects, edges, size, names, hidden }, labels) =
        readable.unwrap_or_else(|| draw(MOST[MOST.len() - 1], LETTERS[LETTERS.len() - 1]));
    let most = methods.iter().flatten().map(|&at| graph.methods[at].executions).max().unwrap_or(0);
    let marks = marks(&graph);
    let node = |((&at, &rect), label): ((&Option<usize>, &_), Label)| Node {
        rect,
        methods: at.into_iter().collect(),
        fill: at.map_or(Fill::Unknown, |at| fill(&graph.methods[at], most)),
        share: 1.0,
        label: Some(label),
        mark: at.and_then(|at| marks[at]),
        ..Node::default()
    };
    let mut nodes: Vec<Node> = methods.iter().zip(&rects).zip(labels).map(node).collect();
    let size = use_free_room(&mut nodes, &edges, &names, size);
    let ran = methods.iter().flatten().filter(|&&at| graph.methods[at].executions > 0).count();
    let mut notes = vec![
        format!("{} of {} drawn ran", ran, counted(methods.iter().flatten().count() as u64, "method")),
        "each method is drawn once, below the caller nearest to the top".into(),
        "dashed: a call in the source of a method that never ran, found by a name that only one method has".into(),
    ];
    if hidden > 0 {
        notes.push(format!(
            "{} further down not drawn: --from METHOD begins there",
            counted(hidden as u64, "method")
        ));
    }
    let elsewhere = graph.ran().filter(|&at| tree.caller[at].is_none()).count();
    if elsewhere > 0 {
        notes.push(format!("{} not called from here", counted(elsewhere as u64, "method")));
    }
    Ok(Scene {
        kind: Kind::Calls,
        title: String::new(),
        size,
        frames: Vec::new(),
        edges,
        legend: std::iter::once(Sign::words("height: lines, width: receivers"))
            .chain(legend(most, LINE))
            .chain(legend_of_marks(&graph))
            .collect(),
        findings: stated.stated(options.findings.as_ref(), &nodes),
        lists: patterns(&graph, &nodes),
        nodes,
        notes,
    })
}
