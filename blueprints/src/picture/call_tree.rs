//! Call graph as a tree of boxes: selects the methods to draw, folds chains into boxes, and places
//! the boxes.

use std::cmp::Reverse;

use metaspy_report::text::{clean, counted, percent};

use super::boxes::{edges, texts};
use super::stated::Marks;
use super::{LABELLED, Options, PictureError, width};
use crate::emit::name_of;
use crate::graph::Graph;
use crate::layout::spanning_tree::{Tree, spanning_tree};
use crate::layout::tidy_tree::{Input, tidy_tree};
use crate::layout::tour::Tour;
use crate::scene::{Edge, Label, Name, Readable, Rect, SIZE, readable};

/// Candidate heights of the tallest box.
const HEIGHTS: [f64; 8] = [320.0, 260.0, 220.0, 180.0, 150.0, 120.0, 90.0, 60.0];
/// Size of a screen, in pixels.
const SCREEN: (f64, f64) = (1400.0, 820.0);
/// Candidate numbers of letters of a label at most, without its marks. The first with which the
/// picture is not made much larger by its labels is used.
const LETTERS: [usize; 6] = [40, 32, 26, 20, 17, 14];
/// Number of letters where a page shows a part of the picture only.
const LETTERS_OF_PART: usize = 26;
/// Maximum size of letters with which a picture is not much larger.
const LARGE: f64 = SIZE * 1.5;
/// Maximum number of boxes that are made readable as a whole.
const BOXES: usize = 3_000;
/// Minimum share of the heaviest callee, both of its caller's time and of its own time in this
/// caller, to fold a chain.
const FOLDED: f64 = 0.95;
/// Maximum share of all other callees together, to fold a chain.
const BESIDE: f64 = 0.10;

/// Appearance of the boxes of a tree.
pub struct Form<'f> {
    /// Minimum height and width of a box.
    pub least: (f64, f64),
    /// Treatment of chains.
    pub chains: Chains,
    /// Additional space between a box and its label, for a frame around the box.
    pub outset: f64,
    /// Gives the size of the box of a method, in place of calls and time; `None` for the box above
    /// all.
    pub size: Option<&'f dyn Fn(Option<usize>) -> (f64, f64)>,
    /// Gives a number of a method by which callees are in order, the largest first, in place of
    /// time.
    pub order: Option<&'f dyn Fn(usize) -> u64>,
    /// Gives a sign of a method, which its label ends with. A method with a sign has a label.
    pub sign: &'f dyn Fn(usize) -> Option<String>,
}

/// Treatment of a caller and the callee that has nearly all of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    /// Caller and callee share a box.
    Folded,
    /// Caller and callee have a box each.
    Drawn,
}

/// Boxes of a tree, with their places.
pub struct CallTree {
    /// Boxes in drawing order; the last box is the root.
    pub items: Vec<Item>,
    /// Rectangle of each box.
    pub(crate) rects: Vec<Rect>,
    /// Label of each box; `None` for a box with little time.
    pub labels: Vec<Option<Label>>,
    /// Name of each box.
    pub names: Vec<Name>,
    /// Calls between boxes.
    pub edges: Vec<Edge>,
    /// Size of the whole picture.
    pub size: (f64, f64),
    /// Time of the root, in nanoseconds.
    pub total_ns: u64,
    /// Height of the tallest box.
    pub height: f64,
    /// Time of the tallest box: the root's, unless a shared callee has more.
    pub(crate) tallest_ns: u64,
    /// Notes on the methods that are left out.
    pub notes: Vec<String>,
    /// The methods that the findings of the recording are about.
    pub marks: Marks,
}

/// Box before it has a place.
pub struct Item {
    /// Methods in the box, the outermost first; empty for "(program)".
    pub methods: Vec<usize>,
    /// Time of the outermost method.
    pub total_ns: u64,
    /// Index in `methods` of the method that names the box: the one with most own time.
    pub named: usize,
    children: Vec<usize>,
}

/// Builds the tree of the calls of the program, or of a method.
pub(crate) fn call_tree(
    graph: &Graph,
    options: &Options,
    form: &Form<'_>,
) -> Result<CallTree, PictureError> {
    if !graph.is_timed() {
        return Err(PictureError::NoTimes);
    }
    if !graph.has_callers {
        return Err(PictureError::NoCallers);
    }
    let mut tree = spanning_tree(graph);
    if let Some(order) = form.order {
        tree.tops.sort_by_key(|&at| Reverse(order(at)));
        tree.callees.iter_mut().for_each(|callees| callees.sort_by_key(|&at| Reverse(order(at))));
    }
    let least = (tree.total_ns as f64 * options.threshold) as u64;
    let marks = Marks::new(graph, options.findings.as_ref());
    let is_drawn = drawn(graph, &tree, least, &marks);
    let folds = match form.chains {
        Chains::Folded => Some(times_in_callers(graph, &tree)),
        Chains::Drawn => None,
    };
    let items = items(graph, &tree, &is_drawn, folds.as_deref());
    if items.is_empty() {
        return Err(PictureError::NothingRan);
    }
    let is_recursive = recursive(graph, &tree);
    // A callee with other callers may have a million times more time than a small root.
    let tallest_ns = items.iter().map(|item| item.total_ns).max().unwrap_or(0).max(1);
    let longest_ns =
        items.iter().filter(|item| !item.methods.is_empty()).map(|item| item.total_ns).max();
    let whole = tree.total_ns.min(longest_ns.unwrap_or(0));
    let is_labelled: Vec<bool> =
        items.iter().map(|item| is_labelled(whole, &marks, form, item)).collect();
    let names: Vec<Name> =
        items.iter().map(|item| name(graph, &is_recursive, &marks, form, item)).collect();
    let children: Vec<Vec<usize>> = items.iter().map(|item| item.children.clone()).collect();
    let lay_out = |letters: usize| {
        let texts = texts(&names, &children, letters, |at| is_labelled[at]);
        let lay_out = |size: f64| {
            let labels: Vec<Option<Label>> = texts
                .iter()
                .map(|text| (!text.is_empty()).then(|| Label::beside(text.clone(), size)))
                .collect();
            let laid_out = best_height(graph, tallest_ns, &items, &labels, form);
            let page = laid_out.size;
            ((laid_out, labels), page)
        };
        if items.len() > BOXES {
            let (picture, page) = lay_out(SIZE);
            return Readable { picture, page, fits: true };
        }
        readable(lay_out)
    };
    let is_large =
        |labels: &[Option<Label>]| labels.iter().flatten().any(|label| label.size > LARGE);
    let [first @ .., last] = LETTERS;
    let is_good = |tree: &Labelled| tree.fits && !is_large(&tree.picture.1);
    let laid_out = first.into_iter().map(lay_out).find(is_good).unwrap_or_else(|| lay_out(last));
    let laid_out = if laid_out.fits { laid_out } else { lay_out(LETTERS_OF_PART) }.picture;
    let (LaidOut { height, rects, size, .. }, labels) = laid_out;
    let methods: Vec<&[usize]> = items.iter().map(|item| &*item.methods).collect();
    let children: Vec<&[usize]> = items.iter().map(|item| &*item.children).collect();
    let hidden = is_drawn
        .iter()
        .zip(&tree.caller)
        .filter(|&(drawn, caller)| caller.is_some() && !drawn)
        .count();
    // Their time may be in that of their callers, too.
    let has_guessed_tops = graph.has_lost_edges && graph.root.is_none();
    let mut notes = vec![
        format!(
            "{} not drawn: less than {} of {}{}",
            counted(hidden as u64, "method"),
            percent((options.threshold * 10_000.0) as u64, 10_000),
            if has_guessed_tops { "≤" } else { "" },
            graph.amount(tree.total_ns)
        ),
        "each method is drawn once, below the caller with most time in it".into(),
        "a shared callee has the time of all its callers, so it may be taller than the caller above it".into(),
    ];
    if has_guessed_tops {
        notes.push("a method whose callers found no room is at the top, and its time counts there once more".into());
    }
    let elsewhere = graph.ran().filter(|&at| tree.caller[at].is_none()).count();
    if graph.root.is_some() && elsewhere > 0 {
        notes.push(format!("{} not called from here", counted(elsewhere as u64, "method")));
    }
    Ok(CallTree {
        edges: edges(&graph.calls, graph.methods.len(), &methods, &children, items.len() - 1),
        labels,
        names,
        items,
        rects,
        size,
        total_ns: tree.total_ns,
        height,
        tallest_ns,
        notes,
        marks,
    })
}

/// Marks the methods with enough time and those that a finding is about, and the callers that lead
/// to them.
fn drawn(graph: &Graph, tree: &Tree, least: u64, marks: &Marks) -> Vec<bool> {
    let mut drawn = vec![false; graph.methods.len()];
    let is_meant = |at: usize| graph.total(at) >= least || marks.has(at);
    for at in (0..drawn.len()).filter(|&at| tree.caller[at].is_some() && is_meant(at)) {
        let mut next = Some(at);
        while let Some(method) = next.filter(|&method| !drawn[method]) {
            drawn[method] = true;
            next = tree.caller[method].flatten();
        }
    }
    drawn
}

/// Computes the time of each method within its caller in the tree.
fn times_in_callers(graph: &Graph, tree: &Tree) -> Vec<u64> {
    let mut times = vec![0; graph.methods.len()];
    for call in graph.calls.iter().filter(|call| tree.caller[call.to] == Some(Some(call.from))) {
        times[call.to] += call.total_ns;
    }
    times
}

/// Builds the boxes, each after its children; the root is last. Chains are folded by the
/// times of methods in their callers.
fn items(graph: &Graph, tree: &Tree, is_drawn: &[bool], in_callers: Option<&[u64]>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // Box of each method that begins a chain.
    let mut done: Vec<Option<usize>> = vec![None; graph.methods.len()];
    let mut open: Vec<(usize, bool)> =
        tree.tops.iter().rev().filter(|&&top| is_drawn[top]).map(|&top| (top, false)).collect();
    while let Some((method, is_ready)) = open.pop() {
        let chain = match in_callers {
            Some(times) => chain(graph, tree, is_drawn, times, method),
            None => vec![method],
        };
        let last = *chain.last().unwrap_or(&method);
        let callees = tree.callees[last].iter().filter(|&&callee| is_drawn[callee]);
        if is_ready {
            let children = callees.filter_map(|&callee| done[callee]).collect();
            let own = |&at: &usize| graph.methods[chain[at]].self_ns;
            let named = (0..chain.len()).rev().max_by_key(own).unwrap_or(0);
            items.push(Item { named, methods: chain, total_ns: graph.total(method), children });
            done[method] = Some(items.len() - 1);
        } else {
            open.push((method, true));
            open.extend(callees.rev().map(|&callee| (callee, false)));
        }
    }
    if tree.root.is_none() {
        let children = tree.tops.iter().filter_map(|&top| done[top]).collect();
        items.push(Item { methods: Vec::new(), total_ns: tree.total_ns, named: 0, children });
    }
    items
}

/// Follows a method down through callees that have nearly all of its time. A callee with other
/// callers gets its own box.
fn chain(
    graph: &Graph,
    tree: &Tree,
    is_drawn: &[bool],
    in_callers: &[u64],
    top: usize,
) -> Vec<usize> {
    let mut chain = vec![top];
    let mut at = top;
    loop {
        let callees = tree.callees[at].iter().copied().filter(|&callee| is_drawn[callee]);
        let Some(heaviest) =
            callees.clone().max_by_key(|&callee| (in_callers[callee], Reverse(callee)))
        else {
            return chain;
        };
        let rest: u64 =
            callees.filter(|&callee| callee != heaviest).map(|callee| in_callers[callee]).sum();
        let time = graph.total(at);
        let least = FOLDED * time.max(graph.total(heaviest)) as f64;
        if (in_callers[heaviest] as f64) < least || rest as f64 > BESIDE * time as f64 {
            return chain;
        }
        chain.push(heaviest);
        at = heaviest;
    }
}

/// Returns true if a box has enough time for a label, or if a finding is about it.
fn is_labelled(whole: u64, marks: &Marks, form: &Form<'_>, item: &Item) -> bool {
    let is_marked =
        item.methods.iter().any(|&method| marks.has(method) || (form.sign)(method).is_some());
    is_marked || item.methods.is_empty() || item.total_ns as f64 >= LABELLED * whole as f64
}

/// Returns the name of a box with its marks and signs.
fn name(graph: &Graph, is_recursive: &[bool], marks: &Marks, form: &Form<'_>, item: &Item) -> Name {
    let Some(&method) = item.methods.get(item.named) else {
        return Name { text: "(program)".into(), ..Name::default() };
    };
    let mut signs = String::new();
    if item.methods.len() > 1 {
        signs += &format!(" +{}", item.methods.len() - 1);
    }
    if item.methods.iter().any(|&method| is_recursive[method]) {
        signs += " ↻";
    }
    if let Some(sign) = item.methods.iter().find_map(|&method| (form.sign)(method)) {
        signs += &format!(" {sign}");
    }
    let path = clean(&graph.methods[method].path).into_owned();
    Name { marks: marks.of(&item.methods), text: name_of(graph, method), path, signs }
}

/// Marks the methods that call themselves or a caller above them.
fn recursive(graph: &Graph, tree: &Tree) -> Vec<bool> {
    let tour = Tour::new(&tree.callees, &tree.tops);
    let mut is_recursive = vec![false; graph.methods.len()];
    let back = graph.calls.iter().filter(|call| tour.is_above(call.to, call.from));
    back.for_each(|call| is_recursive[call.from] = true);
    is_recursive
}

/// Boxes of a tree with their places.
#[derive(Clone, Debug, Default)]
struct LaidOut {
    /// Score on a screen.
    score: f64,
    /// Height of the tallest box.
    height: f64,
    rects: Vec<Rect>,
    size: (f64, f64),
}

/// Boxes with their labels, in letters of a size.
type Labelled = Readable<(LaidOut, Vec<Option<Label>>)>;

/// Places the boxes at the height of the tallest box that shows most on a screen.
fn best_height(
    graph: &Graph,
    tallest_ns: u64,
    items: &[Item],
    labels: &[Option<Label>],
    form: &Form<'_>,
) -> LaidOut {
    let rooms: Vec<(f64, f64)> = labels
        .iter()
        .map(|label| label.as_ref().map_or((0.0, 0.0), |label| label.room((form.outset, 0.0))))
        .collect();
    let children: Vec<Vec<usize>> = items.iter().map(|item| item.children.clone()).collect();
    let size = |item: &Item, height: f64| {
        let method = item.methods.first().copied();
        if let Some(size) = form.size {
            return size(method);
        }
        let executions = method.map_or(1, |top| graph.methods[top].executions);
        let of_time = height * item.total_ns as f64 / tallest_ns as f64;
        (form.least.1.max(width(3.0, 3.0, executions)), form.least.0.max(of_time))
    };
    let laid_out = HEIGHTS.into_iter().map(|height| {
        let boxes: Vec<(f64, f64)> = items.iter().map(|item| size(item, height)).collect();
        // A box stands in the middle of a line of text that is higher.
        let sizes: Vec<(f64, f64)> =
            boxes.iter().zip(&rooms).map(|(&(w, h), room)| (w, h.max(room.1))).collect();
        let (mut rects, size) = tidy_tree(&Input {
            sizes: &sizes,
            labels: &rooms,
            children: &children,
            root: items.len() - 1,
        });
        for (rect, &(_, h)) in rects.iter_mut().zip(&boxes) {
            *rect = Rect { h, ..rect.moved(0.0, (rect.h - h) / 2.0) };
        }
        let zoom = (SCREEN.0 / size.0.max(1.0)).min(SCREEN.1 / size.1.max(1.0)).min(1.0);
        LaidOut { score: zoom * (height * zoom / 150.0).min(1.0), height, rects, size }
    });
    first_peak(laid_out)
}

/// Returns the first layout that its successor does not surpass. A lower tree fits at a larger zoom
/// until its boxes are too low, so there is a single peak, and it is expensive to lay out thousands
/// of boxes.
fn first_peak(mut laid_out: impl Iterator<Item = LaidOut>) -> LaidOut {
    let mut best = laid_out.next().unwrap_or_default();
    for next in laid_out {
        if next.score <= best.score {
            break;
        }
        best = next;
    }
    best
}
