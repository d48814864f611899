//! Tree of methods as boxes with a label beside each, and the calls between the boxes.

use std::collections::BTreeMap;

use crate::graph::{Call, Graph};
use crate::layout::spanning_tree::Tree;
use crate::layout::tidy_tree::{Input, tidy_tree};
use crate::layout::tour::Tour;
use crate::scene::{Edge, EdgeKind, LETTER, LINE, Label, Place, Rect};

/// Boxes of a tree, with their places.
pub struct Boxes {
    /// Method of each box; `None` for the box above all methods.
    pub methods: Vec<Option<usize>>,
    /// Rectangle of each box.
    pub(crate) rects: Vec<Rect>,
    /// Calls between the boxes.
    pub edges: Vec<Edge>,
    /// Size of the whole picture.
    pub size: (f64, f64),
    /// Number of methods further down that are not drawn.
    pub hidden: usize,
}

/// Function that gives the size and the label of a method's box; `None` is the box above all
/// methods.
pub type Form<'f> = dyn Fn(Option<usize>) -> ((f64, f64), Label) + 'f;

/// Places the uppermost methods of a tree as boxes, at most `most` of them.
pub fn boxes(graph: &Graph, tree: &Tree, most: usize, form: &Form<'_>) -> Boxes {
    let mut methods: Vec<Option<usize>> = Vec::new();
    methods.extend(tree.root.is_none().then_some(None));
    methods.extend(tree.tops.iter().map(|&top| Some(top)));
    let mut next = 0;
    while let Some(&method) = methods.get(next).filter(|_| methods.len() < most) {
        next += 1;
        methods.extend(method.iter().flat_map(|&method| &tree.callees[method]).map(|&callee| Some(callee)));
    }
    methods.truncate(most);
    let mut place = vec![None; graph.methods.len()];
    methods.iter().enumerate().for_each(|(at, method)| method.iter().for_each(|&method| place[method] = Some(at)));
    let children: Vec<Vec<usize>> = methods
        .iter()
        .map(|method| method.map_or(&tree.tops, |method| &tree.callees[method]))
        .map(|callees| callees.iter().filter_map(|&callee| place[callee]).collect())
        .collect();
    let (sizes, labels): (Vec<(f64, f64)>, Vec<f64>) =
        methods.iter().map(|&method| form(method)).map(|((w, h), label)| ((w, h.max(LINE)), room(&label))).unzip();
    let (mut rects, size) = tidy_tree(&Input { sizes: &sizes, labels: &labels, children: &children, root: 0 });
    // A label may be higher than its box, so the box gets its own height back.
    rects.iter_mut().zip(&methods).for_each(|(rect, &method)| rect.h = form(method).0.1);
    let of_box: Vec<&[usize]> = methods.iter().map(|method| method.as_slice()).collect();
    let below: Vec<&[usize]> = children.iter().map(Vec::as_slice).collect();
    let edges = edges(&graph.calls, graph.methods.len(), &of_box, &below, 0);
    let in_tree = tree.caller.iter().filter(|caller| caller.is_some()).count();
    let hidden = in_tree - methods.iter().flatten().count();
    Boxes { methods, rects, edges, size, hidden }
}

/// Makes a label that stands beside its box.
pub fn beside(text: String) -> Label {
    Label { text, place: Place::Beside }
}

fn room(label: &Label) -> f64 {
    4.0 + LETTER * label.text.chars().count() as f64
}

/// Collects the calls between boxes, given the methods and the children of each box, and the box at
/// the top.
pub fn edges(calls: &[Call], count: usize, methods: &[&[usize]], children: &[&[usize]], root: usize) -> Vec<Edge> {
    let mut place = vec![None; count];
    for (at, methods) in methods.iter().enumerate() {
        methods.iter().for_each(|&method| place[method] = Some(at));
    }
    let mut parent = vec![None; methods.len()];
    for (at, children) in children.iter().enumerate() {
        children.iter().for_each(|&child| parent[child] = Some(at));
    }
    let below: Vec<Vec<usize>> = children.iter().map(|children| children.to_vec()).collect();
    let tour = Tour::new(&below, &[root]);
    let mut counts = BTreeMap::new();
    for call in calls {
        if let (Some(from), Some(to)) = (place[call.from], place[call.to])
            && from != to
        {
            *counts.entry((from, to)).or_insert(0) += call.count;
        }
    }
    let to_tops = parent.iter().enumerate().filter_map(|(to, &from)| Some((from?, to)));
    to_tops.for_each(|edge| _ = counts.entry(edge).or_insert(0));
    let kind = |from, to| match parent[to] == Some(from) {
        true => EdgeKind::Tree,
        false if tour.is_above(to, from) => EdgeKind::Back,
        false => EdgeKind::Cross,
    };
    counts.into_iter().map(|((from, to), count)| Edge { from, to, count, kind: kind(from, to) }).collect()
}
