//! Outline of a picture: the tree of its boxes and its lists, line by line, for screens that draw
//! them themselves.

use metaspy_report::text::clean;

use super::text::name_of;
use crate::graph::Graph;
use crate::scene::{EdgeKind, Fill, Scene};

/// Line of an outline.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of a box, or the title of a list.
    pub name: String,
    /// Index of the parent line in the tree; `None` at the top.
    pub parent: Option<usize>,
    /// True for the last child of its parent.
    pub is_last: bool,
    /// Index of the method; `None` for a title and for the whole program.
    pub method: Option<usize>,
    /// Share of the whole, in tenths of a percent.
    pub share: u64,
    /// Fill of the box.
    pub fill: Fill,
    /// Further numbers of the box or row, as text.
    pub note: String,
}

/// Lists the boxes as a tree, the heaviest first.
pub fn outline(scene: &Scene, graph: &Graph) -> Vec<Line> {
    let mut callees = vec![Vec::new(); scene.nodes.len()];
    let mut is_called = vec![false; scene.nodes.len()];
    for edge in scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Tree) {
        callees[edge.from].push(edge.to);
        is_called[edge.to] = true;
    }
    callees.iter_mut().for_each(|places| {
        places.sort_by(|&a, &b| scene.nodes[b].share.total_cmp(&scene.nodes[a].share))
    });
    let mut lines: Vec<Line> = Vec::new();
    let roots = (0..scene.nodes.len()).rev().filter(|&at| !is_called[at]);
    let mut open: Vec<(usize, Option<usize>, bool)> =
        roots.map(|root| (root, None, true)).collect();
    while let Some((at, parent, is_last)) = open.pop() {
        let node = &scene.nodes[at];
        let note =
            node.mark.map_or("", |pattern| pattern.title().split(':').next().unwrap_or_default());
        let mut line = Line {
            name: node.label.as_ref().map_or_else(String::new, |label| label.text.clone()),
            parent,
            is_last,
            method: None,
            share: (node.share * 1_000.0) as u64,
            fill: node.fill,
            note: note.into(),
        };
        // Each method of a chain has its own line, so that a search finds it.
        for (depth, &method) in node.methods.iter().enumerate() {
            if depth > 0 {
                let part = graph.total(method) as f64 / graph.total(node.methods[0]).max(1) as f64;
                let share = (node.share * part * 1_000.0) as u64;
                let inner =
                    Line { parent: Some(lines.len()), is_last: true, share, ..line.clone() };
                lines.push(std::mem::replace(&mut line, inner));
            }
            (line.name, line.method) = (name_of(graph, method), Some(method));
        }
        let here = Some(lines.len());
        lines.push(line);
        let last = callees[at].len().saturating_sub(1);
        open.extend(
            callees[at]
                .iter()
                .enumerate()
                .rev()
                .map(|(order, &callee)| (callee, here, order == last)),
        );
    }
    lines
}

/// Lists the rows of each list of a picture below the list's title.
pub fn lists(scene: &Scene, graph: &Graph) -> Vec<Line> {
    let mut lines = Vec::new();
    for list in &scene.lists {
        let title = lines.len();
        let line = |name: String, parent, is_last, method: Option<usize>, fill, note: &str| Line {
            name,
            parent,
            is_last,
            method,
            share: 0,
            fill,
            note: clean(note).into_owned(),
        };
        lines.push(line(list.title.clone(), None, true, None, Fill::Unknown, ""));
        for (at, row) in list.rows.iter().enumerate() {
            let node = row.node.map(|node| &scene.nodes[node]);
            let method = node.and_then(|node| node.methods.first().copied());
            let name = method.map_or_else(String::new, |method| name_of(graph, method));
            let fill = node.map_or(Fill::Unknown, |node| node.fill);
            lines.push(line(name, Some(title), at + 1 == list.rows.len(), method, fill, &row.text));
        }
    }
    lines
}
