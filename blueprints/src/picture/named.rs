//! Labels of boxes in frames. A method with a part of the time that matters, and one that a finding
//! is about, has its whole name; others have the part that fits in their boxes.

use std::collections::{BTreeMap, HashMap};

use metaspy_report::text::clean;

use super::LABELLED;
use super::stated::Marks;
use crate::graph::Graph;
use crate::layout::columns::columns;
use crate::layout::nested::{Cell, LeastLetters, Page, Placing, nested};
use crate::scene::{Distinct, Label, Rect, SIZE, line, readable, zoom};

/// Maximum number of letters of a name.
const LETTERS: usize = 40;
/// Maximum number of methods of a picture that is made readable as a whole. Larger ones begin with
/// their modules.
const METHODS: usize = 3_000;
/// Maximum number of methods of a picture whose frames may be as wide as their names.
const FEW: usize = 500;
/// Least zoom with whole names of frames, as a part of the zoom with names that are cut.
const SMALLER: f64 = 0.8;
/// Minimum height at which a thin box always has a label.
const TALL: f64 = 45.0;

/// Box in a frame, with its label.
pub struct Named {
    /// Index of the method.
    pub method: usize,
    /// Position and size.
    pub rect: Rect,
    /// Label, if there is room, or if the box needs one.
    pub label: Option<Label>,
}

/// Arrangement of boxes in frames.
pub struct Form<'f> {
    /// Places the boxes of a type.
    pub placing: Placing,
    /// Gives the space around the box of a method.
    pub outset: &'f dyn Fn(usize) -> f64,
    /// Returns true for an owner in which no method ran.
    pub is_absent: &'f dyn Fn(usize) -> bool,
}

impl Default for Form<'_> {
    fn default() -> Self {
        Form { placing: columns, outset: &|_| 0.0, is_absent: &|_| false }
    }
}

/// Lays out methods with boxes of these sizes in the frames of their types and modules, with
/// labels.
pub fn named(
    graph: &Graph,
    sizes: &[(usize, (f64, f64))],
    marks: &Marks,
    form: &Form<'_>,
) -> (Page, Vec<Named>) {
    let texts = texts(graph, sizes, marks);
    let label = |method: usize, size: (f64, f64), letters: f64| match texts.get(&method) {
        Some(text) => Some(Label::whole(text.clone(), size, letters)),
        None => (size.0 < line(SIZE) && size.1 >= TALL)
            .then(|| Label::along(&name(graph, method), size.1)),
    };
    let lay_out = |letters: f64, least: LeastLetters| {
        let cell = |&(method, size): &(usize, (f64, f64))| {
            let label = label(method, size, letters);
            let letters = if texts.contains_key(&method) { letters } else { SIZE };
            let (w, h) = label.map_or(size, |label| label.room(size));
            let space = 2.0 * (form.outset)(method);
            Cell { method, size: (w + space, h + space), letters }
        };
        let cells: Vec<Cell> = sizes.iter().map(cell).collect();
        let page = nested(graph, &cells, form.placing, least, form.is_absent);
        let size = page.size;
        ((page, letters), size)
    };
    let cut = |letters: f64| lay_out(letters, LeastLetters::CUT);
    let (page, letters) = if sizes.len() > METHODS {
        cut(SIZE).0
    } else {
        let cut = readable(cut);
        let whole =
            (sizes.len() <= FEW).then(|| readable(|letters| lay_out(letters, LeastLetters::WHOLE)));
        whole
            .filter(|whole| whole.fits && zoom(whole.page) >= SMALLER * zoom(cut.page))
            .unwrap_or(cut)
            .picture
    };
    let sizes: HashMap<usize, (f64, f64)> = sizes.iter().copied().collect();
    let mut boxes: Vec<Named> = page
        .boxes
        .iter()
        .map(|&(method, cell)| {
            let (w, h) = sizes[&method];
            // A box stands in the middle of a line of text that is higher.
            let rect = Rect { w, h, ..cell.moved((form.outset)(method), (cell.h - h) / 2.0) };
            let label = label(method, (w, h), letters)
                .or_else(|| Label::within(&name(graph, method), (w, h)));
            Named { method, rect, label }
        })
        .collect();
    tell_apart(graph, &texts, &mut boxes);
    (page, boxes)
}

/// Returns the names of the methods that need one, which differ within each type.
fn texts(graph: &Graph, sizes: &[(usize, (f64, f64))], marks: &Marks) -> HashMap<usize, String> {
    let whole = sizes.iter().map(|&(at, _)| graph.total(at)).max().unwrap_or(0);
    let mut of_types: BTreeMap<usize, Distinct> = BTreeMap::new();
    sizes
        .iter()
        .map(|&(at, _)| at)
        .filter(|&at| {
            marks.has(at) || whole > 0 && graph.total(at) as f64 >= LABELLED * whole as f64
        })
        .map(|at| {
            let distinct = of_types.entry(graph.methods[at].owner).or_default();
            let text = distinct.text(&name(graph, at), &clean(&graph.methods[at].name), LETTERS);
            (at, marks.of(&[at]) + &text)
        })
        .collect()
}

/// Cuts the other labels of a type so that none is equal to another, and removes those that
/// cannot differ.
fn tell_apart(graph: &Graph, texts: &HashMap<usize, String>, boxes: &mut [Named]) {
    let mut of_types: BTreeMap<usize, Distinct> = BTreeMap::new();
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by_key(|&at| !texts.contains_key(&boxes[at].method));
    for at in order {
        let method = boxes[at].method;
        let distinct = of_types.entry(graph.methods[method].owner).or_default();
        let Some(mut label) = boxes[at].label.take() else { continue };
        let text = match texts.get(&method) {
            Some(_) => Some(distinct.text(&label.text, &label.text, usize::MAX)),
            None => distinct.cut(&name(graph, method), &label.text),
        };
        boxes[at].label = text.map(|text| {
            label.text = text;
            label
        });
    }
}

/// Returns the name of a method in the frame of its type.
fn name(graph: &Graph, method: usize) -> String {
    let name = &graph.methods[method].name;
    // A closure is one of its function.
    let last = name.rsplit("::").next().filter(|last| !last.starts_with('{'));
    clean(last.unwrap_or(name)).into_owned()
}
