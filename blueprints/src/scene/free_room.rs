//! Free room beside the boxes of a tree, which their labels use.
//!
//! A layout gives all labels of a tree the same number of letters at most, because one number is
//! found without trying each label. Most labels then end where nothing else begins.

use std::collections::HashMap;

use super::label::{MARGIN, letters, line, text_width, widened};
use super::{
    Border, Distinct, Edge, EdgeKind, LETTER, Label, LabelPlace, Name, Node, OUTSET, Rect, SIZE,
};

/// Height of a strip of a page, in pixels.
const STRIP: f64 = 16.0;
/// Maximum number of strips of a page. Heights come from recordings, which may be damaged.
const STRIPS: f64 = 4_096.0;
/// Space between a label and the next item at its right side, besides its margin.
const APART: f64 = 4.0;
/// Half of the width of a line between boxes, with the space around it.
const STROKE: f64 = 1.5;
/// Minimum number of letters of a label that a box has only because there is room.
const LEAST_LETTERS: usize = 14;
/// Maximum number of boxes whose labels are lengthened.
const BOXES: usize = 3_000;

/// Lengthens the labels beside the boxes of a tree up to the next items at their right sides, or up
/// to the right side of the page, and returns the size of the page. A box without a label gets one
/// where there is room. Each box has a name. No two labels below one box become equal.
pub(crate) fn use_free_room(
    nodes: &mut [Node],
    edges: &[Edge],
    names: &[Name],
    page: (f64, f64),
) -> (f64, f64) {
    if nodes.len() > BOXES {
        return page;
    }
    lengthen(nodes, edges, names, widened(page));
    let label = |node: &Node| {
        node.label.as_ref().map_or(0.0, |label| beside(node, &label.text, label.size).right())
    };
    (nodes.iter().map(label).fold(page.0, f64::max), page.1)
}

fn lengthen(nodes: &mut [Node], edges: &[Edge], names: &[Name], page: (f64, f64)) {
    let mut parent = vec![None; nodes.len()];
    let mut is_leaf = vec![true; nodes.len()];
    for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Tree) {
        parent[edge.to] = Some(edge.from);
        is_leaf[edge.from] = false;
    }
    let mut taken = Taken::new(nodes, edges, page);
    let mut below: HashMap<Option<usize>, Distinct> = HashMap::new();
    let size = nodes.iter().filter_map(|node| Some(node.label.as_ref()?.size)).fold(SIZE, f64::max);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&at| nodes[at].label.is_none());
    for at in order {
        let name = &names[at];
        let distinct = below.entry(parent[at]).or_default();
        match &nodes[at].label {
            Some(label) if label.place == LabelPlace::Beside => {
                let size = label.size;
                let now = beside(&nodes[at], &label.text, size);
                let more = (taken.room(&now) - APART) / letter(size);
                let most = letters(&label.text) + more.max(0.0) as usize;
                let label = Label::beside(name.cut(distinct, most), size);
                taken.add(&beside(&nodes[at], &label.text, size));
                nodes[at].label = Some(label);
            }
            // The lines below a box would move if it had a label.
            None if is_leaf[at] => {
                let now = Rect { w: 0.0, ..beside(&nodes[at], "", size) };
                let most = ((taken.room(&now) - APART - MARGIN) / letter(size)).max(0.0) as usize;
                if most < LEAST_LETTERS.min(name.letters()) {
                    continue;
                }
                let label = Label::beside(name.cut(distinct, most), size);
                taken.add(&beside(&nodes[at], &label.text, size));
                nodes[at].label = Some(label);
            }
            _ => {}
        }
    }
}

/// Returns the width of a letter of this size.
fn letter(size: f64) -> f64 {
    LETTER * size / SIZE
}

/// Returns the place of a text beside a box.
fn beside(node: &Node, text: &str, size: f64) -> Rect {
    let outset = if node.border == Border::Changed { OUTSET } else { 0.0 };
    let line = line(size);
    let middle = node.rect.y + node.height().min(line) / 2.0;
    Rect {
        x: node.rect.right() + outset,
        y: middle - line / 2.0,
        w: text_width(text, size),
        h: line,
    }
}

/// Parts of a page on which something is drawn, in strips of equal height.
struct Taken {
    strips: Vec<Vec<Rect>>,
    strip: f64,
    right: f64,
}

impl Taken {
    fn new(nodes: &[Node], edges: &[Edge], page: (f64, f64)) -> Taken {
        let strip = STRIP.max(page.1 / STRIPS);
        let mut taken = Taken { strips: Vec::new(), strip, right: page.0 };
        for node in nodes {
            let outset = if node.border == Border::Changed { OUTSET } else { 0.0 };
            let Rect { x, y, w, .. } = node.rect;
            let h = node.height();
            taken.add(&Rect {
                x: x - outset,
                y: y - outset,
                w: w + 2.0 * outset,
                h: h + 2.0 * outset,
            });
            if let Some(label) =
                node.label.as_ref().filter(|label| label.place == LabelPlace::Beside)
            {
                taken.add(&beside(node, &label.text, label.size));
            }
        }
        for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Tree) {
            let from = &nodes[edge.from];
            let to = &nodes[edge.to];
            let bend = from.bend();
            let start = from.rect.x + from.rect.w / 2.0;
            let end = to.entry(bend);
            taken.add(&around((start, start), (from.rect.bottom(), bend)));
            taken.add(&around((start.min(end), start.max(end)), (bend, bend)));
            taken.add(&around((end, end), (bend.min(to.rect.y), to.rect.y)));
        }
        taken
    }

    fn add(&mut self, rect: &Rect) {
        let strips = self.strips_of(rect);
        if self.strips.len() < strips.end {
            self.strips.resize(strips.end, Vec::new());
        }
        self.strips[strips].iter_mut().for_each(|strip| strip.push(*rect));
    }

    /// Returns the width of the free room at the right side of a rectangle.
    fn room(&self, rect: &Rect) -> f64 {
        let strips = self.strips_of(rect);
        let end = strips.end.min(self.strips.len());
        let beside = self.strips[strips.start.min(end)..end].iter().flatten();
        let beside = beside.filter(|other| other.y < rect.bottom() && rect.y < other.bottom());
        let beside = beside.filter(|other| other.right() > rect.right() + 0.01);
        beside.map(|other| other.x).fold(self.right, f64::min) - rect.right()
    }

    fn strips_of(&self, rect: &Rect) -> std::ops::Range<usize> {
        let strip = |y: f64| (y.max(0.0) / self.strip) as usize;
        strip(rect.y)..strip(rect.bottom()) + 1
    }
}

/// Returns the room of a line between two places.
fn around((left, right): (f64, f64), (top, bottom): (f64, f64)) -> Rect {
    let long = 2.0 * STROKE;
    Rect { x: left - STROKE, y: top - STROKE, w: right - left + long, h: bottom - top + long }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(x: f64, y: f64, label: Option<&str>) -> Node {
        let label = label.map(|text| Label::beside(text.into(), SIZE));
        Node { rect: Rect { x, y, w: 10.0, h: 20.0 }, label, ..Node::default() }
    }

    fn name(text: &str) -> Name {
        Name { text: text.into(), path: format!("a::{text}"), ..Name::default() }
    }

    fn texts(nodes: &[Node]) -> Vec<&str> {
        nodes.iter().map(|node| node.label.as_ref().map_or("", |label| &label.text)).collect()
    }

    #[test]
    fn labels_grow_up_to_the_next_box_or_line_and_those_without_get_one() {
        let mut nodes = [
            node(100.0, 0.0, Some("get…ces")),
            // Of these two, the right one has the room of the page, and the left one has none.
            node(60.0, 40.0, Some("get…ces")),
            node(120.0, 40.0, Some("Pla…ces")),
            // A line leads to this box, and no label is as wide as the room before it.
            node(20.0, 80.0, None),
            node(150.0, 90.0, None),
        ];
        let edge = |from, to| Edge { from, to, count: 1, kind: EdgeKind::Tree };
        let edges = [edge(0, 1), edge(0, 2), edge(2, 4), edge(1, 3)];
        let names = [
            "get_plain_resources",
            "get_plain_resources",
            "Place::get_plain_resources",
            "set",
            "set",
        ];
        let names: Vec<Name> = names.into_iter().map(name).collect();
        lengthen(&mut nodes, &edges, &names, (300.0, 200.0));
        let expected =
            ["get_plain_resources", "get…ces", "Place::get_plain_resources", "set", "set"];
        assert_eq!(texts(&nodes), expected);
    }

    #[test]
    fn a_label_ends_before_the_page_does() {
        let mut nodes = [node(0.0, 0.0, Some("a…e"))];
        lengthen(&mut nodes, &[], &[name("a_name_that_is_too_long_here")], (100.0, 20.0));
        assert_eq!(texts(&nodes), ["a_name_…g_here"]);
        let label = beside(&nodes[0], "a_name_…g_here", SIZE);
        assert!(label.right() <= 100.0 - APART, "{label:?}");
    }
}
