//! Tree of methods as boxes with a label beside each, and the calls between the boxes.

use std::collections::{BTreeMap, HashMap};

use crate::graph::{Call, Graph};
use crate::layout::spanning_tree::Tree;
use crate::layout::tidy_tree::{Input, tidy_tree};
use crate::layout::tour::Tour;
use crate::scene::{Distinct, Edge, EdgeKind, Label, Name, Readable, Rect, SIZE, readable};

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
    /// Name of each box.
    pub names: Vec<Name>,
    /// Number of methods further down that are not drawn.
    pub hidden: usize,
}

/// Sizes and names of boxes. `None` is the box above all methods.
pub struct Form<'f> {
    /// Gives the size of a box.
    pub size: &'f dyn Fn(Option<usize>) -> (f64, f64),
    /// Gives the marks, the name, the path and the signs of a box.
    pub name: &'f dyn Fn(Option<usize>) -> Name,
    /// Returns true if the label of a box can be read when a page shows the whole picture.
    pub is_large: &'f dyn Fn(Option<usize>) -> bool,
    /// Maximum number of letters of a name.
    pub letters: usize,
}

/// Places the uppermost methods of a tree as boxes, at most `most` of them.
pub fn boxes(graph: &Graph, tree: &Tree, most: usize, form: &Form<'_>) -> (Boxes, Vec<Label>) {
    let mut methods: Vec<Option<usize>> = Vec::new();
    methods.extend(tree.root.is_none().then_some(None));
    methods.extend(tree.tops.iter().map(|&top| Some(top)));
    let mut next = 0;
    while let Some(&method) = methods.get(next).filter(|_| methods.len() < most) {
        next += 1;
        methods.extend(
            method.iter().flat_map(|&method| &tree.callees[method]).map(|&callee| Some(callee)),
        );
    }
    methods.truncate(most);
    let mut place = vec![None; graph.methods.len()];
    methods
        .iter()
        .enumerate()
        .for_each(|(at, method)| method.iter().for_each(|&method| place[method] = Some(at)));
    let children: Vec<Vec<usize>> = methods
        .iter()
        .map(|method| method.map_or(&tree.tops, |method| &tree.callees[method]))
        .map(|callees| callees.iter().filter_map(|&callee| place[callee]).collect())
        .collect();
    let names: Vec<Name> = methods.iter().map(|&method| (form.name)(method)).collect();
    let texts = texts(&names, &children, form.letters, |_| true);
    let heights: Vec<(f64, f64)> = methods.iter().map(|&method| (form.size)(method)).collect();
    let lay_out = |size: f64| {
        let label = |(&method, text): (&Option<usize>, &String)| {
            Label::beside(text.clone(), if (form.is_large)(method) { size } else { SIZE })
        };
        let labels: Vec<Label> = methods.iter().zip(&texts).map(label).collect();
        let rooms: Vec<(f64, f64)> = labels.iter().map(|label| label.room((0.0, 0.0))).collect();
        // A box stands in the middle of a line of text that is higher.
        let sizes: Vec<(f64, f64)> =
            heights.iter().zip(&rooms).map(|(&(w, h), room)| (w, h.max(room.1))).collect();
        let (mut rects, size) =
            tidy_tree(&Input { sizes: &sizes, labels: &rooms, children: &children, root: 0 });
        for (rect, &(_, h)) in rects.iter_mut().zip(&heights) {
            *rect = Rect { h, ..rect.moved(0.0, (rect.h - h) / 2.0) };
        }
        ((rects, labels), size)
    };
    let Readable { picture: (rects, labels), page: size, .. } = readable(lay_out);
    let of_box: Vec<&[usize]> = methods.iter().map(|method| method.as_slice()).collect();
    let below: Vec<&[usize]> = children.iter().map(Vec::as_slice).collect();
    let edges = edges(&graph.calls, graph.methods.len(), &of_box, &below, 0);
    let in_tree = tree.caller.iter().filter(|caller| caller.is_some()).count();
    let hidden = in_tree - methods.iter().flatten().count();
    (Boxes { methods, rects, edges, size, names, hidden }, labels)
}

/// Returns the texts of the labels, with names of so many letters at most, and an empty text for a
/// box without a label. Those below one box differ.
pub(super) fn texts(
    names: &[Name],
    children: &[Vec<usize>],
    letters: usize,
    is_labelled: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut parent = vec![None; names.len()];
    for (at, children) in children.iter().enumerate() {
        children.iter().for_each(|&child| parent[child] = Some(at));
    }
    let mut below: HashMap<Option<usize>, Distinct> = HashMap::new();
    let mut texts = vec![String::new(); names.len()];
    for at in (0..names.len()).filter(|&at| is_labelled(at)) {
        texts[at] = names[at].shortened(below.entry(parent[at]).or_default(), letters);
    }
    texts
}

/// Collects the calls between boxes, given the methods and the children of each box, and the box at
/// the top.
pub fn edges(
    calls: &[Call],
    count: usize,
    methods: &[&[usize]],
    children: &[&[usize]],
    root: usize,
) -> Vec<Edge> {
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
    counts
        .into_iter()
        .map(|((from, to), count)| Edge { from, to, count, kind: kind(from, to) })
        .collect()
}
