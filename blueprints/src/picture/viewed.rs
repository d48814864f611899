//! Methods of a program in the channels of a [view](crate::view): in the frames of their types, at
//! two numbers, or below their callers.

use std::cmp::Reverse;

use metaspy_report::text::counted;

use super::call_tree::{CallTree, Chains, Form as TreeForm, call_tree};
use super::domain::{BORDER, ORDER, legend, most, name_at_places, scattered, side, tip};
use super::named::{Form, Named, named};
use super::stated::Marks;
use super::{Options, PictureError, grey, hooks_note};
use crate::layout::columns::{GAP, columns};
use crate::layout::skyline::rows;
use crate::scene::{
    Border, Fill, Frame, Kind, Label, List, ListRow, Node, OUTSET, Rect, Scene, Stated,
    use_free_room,
};
use crate::view::{CHANNELS, Viewed};

/// Maximum number of rows of the list.
const LISTED: usize = 100;

/// Boxes of a picture, and their frames, edges and notes.
struct Drawn {
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    edges: Vec<crate::scene::Edge>,
    size: (f64, f64),
    notes: Vec<String>,
}

/// Draws the methods of a program as a view describes them, in a structural or a behavioural
/// picture.
///
/// # Errors
///
/// If no method ran, if the kind of picture has no view, or if the recording lacks the callers that
/// it needs.
pub fn draw(kind: Kind, viewed: &Viewed, options: &Options) -> Result<Scene, PictureError> {
    let Viewed { graph, view, numbers } = viewed;
    if graph.ran().next().is_none() {
        return Err(PictureError::NothingRan);
    }
    let most = most(numbers);
    let marks = Marks::new(graph, options.findings.as_ref());
    let Drawn { nodes, frames, edges, size, mut notes } = match kind {
        Kind::Structural if view.x.is_some() => at_places(viewed, most, &marks),
        Kind::Structural => in_frames(viewed, most, &marks),
        Kind::Behavioural if view.x.is_some() => return Err(PictureError::NoPlaces),
        Kind::Behavioural => below_callers(viewed, most, options)?,
        _ => return Err(PictureError::NoViewOfKind),
    };
    notes.push("width and height grow with the square root of their numbers".into());
    notes.extend(hooks_note(graph));
    notes.extend(graph.notes.iter().cloned());
    if !graph.exact {
        notes.push("some numbers are lower bounds: `metaspy verify` lists what was lost".into());
    }
    let findings: Stated = marks.stated(options.findings.as_ref(), &nodes);
    Ok(Scene {
        kind,
        title: if view.title.is_empty() {
            options.title.clone()
        } else {
            format!("{} in {}", view.title, options.title)
        },
        size,
        frames,
        edges,
        legend: legend(viewed, most),
        findings,
        lists: largest(viewed, &nodes).into_iter().collect(),
        nodes,
        notes,
    })
}

/// Lists the methods with the largest numbers of the channel of greys.
fn largest(viewed: &Viewed, nodes: &[Node]) -> Option<List> {
    let fill = |at: usize| nodes[at].methods.first().map_or(0, |&method| viewed.numbers[method][2]);
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| fill(at) > 0).collect();
    order.sort_by_key(|&at| (Reverse(fill(at)), at));
    let row = |&at: &usize| ListRow { node: Some(at), text: viewed.view.fill.text(fill(at)) };
    let rows: Vec<ListRow> = order.iter().take(LISTED).map(row).collect();
    (!rows.is_empty()).then(|| List { title: viewed.view.fill.words(), rows })
}

fn sides(viewed: &Viewed, most: [u64; CHANNELS], at: usize) -> (f64, f64) {
    let [height, width, ..] = viewed.numbers[at];
    (side(width, most[1]), side(height, most[0]))
}

fn node(
    viewed: &Viewed,
    most: [u64; CHANNELS],
    at: usize,
    rect: Rect,
    label: Option<Label>,
) -> Node {
    Node {
        rect,
        methods: vec![at],
        fill: Fill::Grey(grey(viewed.numbers[at][2], most[2])),
        border: if viewed.numbers[at][BORDER] > 0 { Border::Changed } else { Border::Thin },
        share: viewed.numbers[at][0] as f64 / most[0] as f64,
        label,
        tip: tip(viewed, at),
        ..Node::default()
    }
}

/// Places the methods in the frames of their types and modules.
fn in_frames(viewed: &Viewed, most: [u64; CHANNELS], marks: &Marks) -> Drawn {
    let Viewed { graph, view, numbers } = viewed;
    let mut shown: Vec<usize> = graph.ran().collect();
    if view.order.is_some() {
        shown.sort_by_key(|&at| Reverse(numbers[at][ORDER]));
    }
    let sizes: Vec<(usize, (f64, f64))> =
        shown.iter().map(|&at| (at, sides(viewed, most, at))).collect();
    let outset = |at: usize| if numbers[at][BORDER] > 0 { OUTSET } else { 0.0 };
    let placing = if view.order.is_some() { in_rows } else { columns };
    let (page, boxes) =
        named(graph, &sizes, marks, &Form { placing, outset: &outset, ..Form::default() });
    let boxes = boxes.into_iter();
    Drawn {
        nodes: boxes
            .map(|Named { method, rect, label }| node(viewed, most, method, rect, label))
            .collect(),
        frames: page.frames,
        edges: Vec::new(),
        size: page.size,
        notes: vec![format!("{} in their types", counted(sizes.len() as u64, "method"))],
    }
}

/// Places boxes in rows, in their order.
fn in_rows(sizes: &[(f64, f64)]) -> (Vec<(f64, f64)>, (f64, f64)) {
    rows(sizes, GAP)
}

/// Places the methods at two numbers, with names where there is room.
fn at_places(viewed: &Viewed, most: [u64; CHANNELS], marks: &Marks) -> Drawn {
    let group = scattered(viewed.graph.ran().collect(), &viewed.numbers, most, &|at: usize| {
        sides(viewed, most, at)
    });
    let boxes = group.boxes.iter();
    let mut nodes: Vec<Node> =
        boxes.map(|&(at, rect)| node(viewed, most, at, rect, None)).collect();
    let size = name_at_places(viewed, marks, &mut nodes, group.size);
    let notes = vec![format!(
        "{} at two numbers; some cover others",
        counted(nodes.len() as u64, "method")
    )];
    Drawn { nodes, frames: Vec::new(), edges: Vec::new(), size, notes }
}

/// Places the methods below their callers.
fn below_callers(
    viewed: &Viewed,
    most: [u64; CHANNELS],
    options: &Options,
) -> Result<Drawn, PictureError> {
    let Viewed { graph, view, numbers } = viewed;
    let size = |at: Option<usize>| at.map_or((12.0, 12.0), |at| sides(viewed, most, at));
    let order = |at: usize| numbers[at][ORDER];
    let outset = if view.border.is_some() { OUTSET } else { 0.0 };
    let form = TreeForm {
        least: (0.0, 0.0),
        chains: Chains::Drawn,
        outset,
        size: Some(&size),
        order: view.order.as_ref().map(|_| &order as &dyn Fn(usize) -> u64),
        sign: &|_| None,
    };
    let CallTree { items, rects, labels, names, edges, size, notes, .. } =
        call_tree(graph, options, &form)?;
    let boxes = items.iter().zip(rects).zip(labels).map(|((item, rect), label)| {
        match item.methods.first() {
            Some(&at) => node(viewed, most, at, rect, label),
            None => Node { rect, fill: Fill::Unknown, share: 1.0, label, ..Node::default() },
        }
    });
    let mut nodes: Vec<Node> = boxes.collect();
    let size = use_free_room(&mut nodes, &edges, &names, size);
    Ok(Drawn { nodes, frames: Vec::new(), edges, size, notes })
}
