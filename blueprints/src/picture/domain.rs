//! Program's own objects as boxes in boxes. The [view](crate::view) assigns numbers to height,
//! width and fill.

use std::cmp::Reverse;

use metaspy_report::text::{clean, counted, grouped};

use super::stated::Marks;
use super::{LABELLED, Options, PictureError, grey, steps};
use crate::emit::name_of;
use crate::layout::containment::{Group, contained};
use crate::layout::skyline::{pack, rows};
use crate::layout::spanning_tree::breadth_first;
use crate::scene::{
    Border, Fill, Frame, FrameKind, Kind, Label, List, ListRow, Name, Node, Rect, SIZE, Scene,
    Sign, fit_middle, readable, use_free_room,
};
use crate::view::{CHANNELS, Channel, Viewed};

/// Minimum side of a box, and the length that the largest number adds to it.
const SIDE: (f64, f64) = (3.0, 30.0);
/// Room for a frame around a box.
const FRAME: f64 = 3.0;
/// Length of the axes, where two numbers are the place.
const PLANE: (f64, f64) = (960.0, 540.0);
/// Places of numbers that only some views have.
pub(super) const BORDER: usize = 3;
pub(super) const ORDER: usize = 4;
pub(super) const X: usize = 5;
pub(super) const Y: usize = 6;
/// Maximum number of letters of the name of a large part.
const LETTERS: usize = 28;
/// Maximum number of rows of the list.
const LISTED: usize = 100;

/// Draws the subjects of a view.
///
/// # Errors
///
/// If the view has no subjects.
pub fn draw(viewed: &Viewed, options: &Options) -> Result<Scene, PictureError> {
    let graph = &viewed.graph;
    let numbers = &viewed.numbers;
    let view = &viewed.view;
    if graph.methods.is_empty() {
        return Err(PictureError::NothingRan);
    }
    let mut tree = breadth_first(graph, graph.root);
    if view.order.is_some() {
        let largest_first = |&at: &usize| (Reverse(numbers[at][ORDER]), at);
        tree.tops.sort_by_key(largest_first);
        tree.callees.iter_mut().for_each(|below| below.sort_by_key(largest_first));
    }
    let most = most(numbers);
    let mut by_fill: Vec<usize> = (0..numbers.len()).filter(|&at| numbers[at][2] > 0).collect();
    by_fill.sort_by_key(|&at| (Reverse(numbers[at][2]), at));
    let sides = |at: usize| (side(numbers[at][1], most[1]), side(numbers[at][0], most[0]));
    let marks = Marks::new(graph, options.findings.as_ref());
    // A method that a finding is about has a mark, for which a small box has room beside it. A
    // large part of the whole has a name.
    let whole: u64 = numbers.iter().map(|of| of[0]).fold(0, u64::saturating_add);
    // Boxes at places cover each other, so only marks have room beside them.
    let is_large = |at: usize| {
        view.x.is_none() && whole > 0 && numbers[at][0] as f64 >= LABELLED * whole as f64
    };
    let label = |at: usize, size: f64| {
        let mark = marks.of(&[at]);
        let is_large = is_large(at);
        let name = if is_large {
            fit_middle(&clean(&graph.methods[at].name), LETTERS)
        } else {
            String::new()
        };
        let text = format!("{mark}{name}");
        (!text.is_empty()).then(|| {
            Label::whole(text.trim_end().into(), sides(at), if is_large { size } else { SIZE })
        })
    };
    let mut order = tree.tops.clone();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        order.extend(&tree.callees[at]);
    }
    let outset = |at: usize| if view.x.is_none() && numbers[at][BORDER] > 0 { FRAME } else { 0.0 };
    let lay_out = |letters: f64| {
        let group = match view.x {
            Some(_) => scattered((0..numbers.len()).collect(), numbers, most, &sides),
            None => contained(
                &order,
                &tree.tops,
                &tree.callees,
                if view.order.is_some() { rows } else { pack },
                |at: usize| {
                    let (w, h) =
                        label(at, letters).map_or(sides(at), |label| label.room(sides(at)));
                    (w + 2.0 * outset(at), h + 2.0 * outset(at))
                },
            ),
        };
        let size = group.size;
        ((group, letters), size)
    };
    let has_large = (0..numbers.len()).any(is_large);
    let (Group { size, frames, boxes }, letters) =
        if has_large { readable(lay_out).picture } else { lay_out(SIZE).0 };
    let frame = |(at, rect): (usize, Rect)| {
        let name = clean(&graph.methods[at].name).into_owned();
        Frame { rect, label: String::new(), size: SIZE, name, kind: FrameKind::Module, mark: None }
    };
    let node = |(at, cell): (usize, Rect)| Node {
        rect: Rect {
            w: sides(at).0,
            h: sides(at).1,
            ..cell.moved(outset(at), (cell.h - sides(at).1) / 2.0)
        },
        methods: vec![at],
        fill: Fill::Grey(grey(numbers[at][2], most[2])),
        border: if numbers[at][BORDER] > 0 { Border::Changed } else { Border::Thin },
        share: 1.0,
        label: match view.x {
            Some(_) => label(at, letters),
            None => label(at, letters)
                .or_else(|| Label::within(&clean(&graph.methods[at].name), sides(at))),
        },
        tip: tip(viewed, at),
        ..Node::default()
    };
    let mut nodes: Vec<Node> = boxes.into_iter().map(node).collect();
    let size = match view.x {
        Some(_) => name_at_places(viewed, &marks, &mut nodes, size),
        None => size,
    };
    let mut place = vec![None; numbers.len()];
    nodes
        .iter()
        .enumerate()
        .for_each(|(at, node)| node.methods.iter().for_each(|&it| place[it] = Some(at)));
    let row = |&at: &usize| ListRow { node: place[at], text: view.fill.text(numbers[at][2]) };
    let list =
        List { title: view.fill.words(), rows: by_fill.iter().take(LISTED).map(row).collect() };
    let none = numbers.len() - by_fill.len();
    let mut notes = vec![
        format!(
            "{}; {} with none of {}",
            counted(numbers.len() as u64, "subject"),
            grouped(none as u64),
            view.fill.words()
        ),
        format!(
            "width and height grow with the square root: {} px more at the largest number",
            SIDE.1
        ),
    ];
    notes.extend(view.below.as_ref().map(|relation| {
        format!("a frame has a subject, and below it those whose `{relation}` it is")
    }));
    let lost = tree.caller.iter().filter(|caller| caller.is_none()).count();
    if lost > 0 {
        notes.push(format!("{} not reached from here", counted(lost as u64, "subject")));
    }
    notes.extend(graph.notes.iter().cloned());
    if !graph.exact {
        notes.push("some numbers are lower bounds: `metaspy verify` lists what was lost".into());
    }
    Ok(Scene {
        kind: Kind::Domain,
        title: format!(
            "{} in {}",
            if view.title.is_empty() { &view.subjects } else { &view.title },
            options.title
        ),
        size,
        frames: frames.into_iter().map(frame).collect(),
        edges: Vec::new(),
        legend: legend(viewed, most),
        findings: marks.stated(options.findings.as_ref(), &nodes),
        lists: Some(list).filter(|list| !list.rows.is_empty()).into_iter().collect(),
        nodes,
        notes,
    })
}

/// Names boxes at places where there is room beside them, and returns the size of the page.
pub(super) fn name_at_places(
    viewed: &Viewed,
    marks: &Marks,
    nodes: &mut [Node],
    page: (f64, f64),
) -> (f64, f64) {
    let graph = &viewed.graph;
    let name = |node: &Node| Name {
        marks: marks.of(&node.methods),
        text: node.methods.first().map_or_else(String::new, |&at| name_of(graph, at)),
        path: node
            .methods
            .first()
            .map_or_else(String::new, |&at| clean(&graph.methods[at].path).into_owned()),
        signs: String::new(),
    };
    let names: Vec<Name> = nodes.iter().map(name).collect();
    use_free_room(nodes, &[], &names, page)
}

/// Returns the largest number of each channel, and 1 where all are 0.
pub(super) fn most(numbers: &[[u64; CHANNELS]]) -> [u64; CHANNELS] {
    std::array::from_fn(|channel| numbers.iter().map(|of| of[channel]).max().unwrap_or(0).max(1))
}

/// Computes a side of a box. The square root makes the area of a square proportional to its number.
pub(super) fn side(number: u64, most: u64) -> f64 {
    SIDE.0 + SIDE.1 * (number as f64 / most as f64).sqrt()
}

pub(super) fn tip(viewed: &Viewed, at: usize) -> Vec<String> {
    let channels = viewed.view.channels().into_iter().zip(viewed.numbers[at]);
    let line = |(channel, number): (Option<&Channel>, u64)| {
        channel.map(|channel| format!("{}: {}", channel.words(), channel.text(number)))
    };
    let mut lines: Vec<String> = Vec::new();
    for line in channels.filter_map(line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Places boxes by two numbers, upwards and to the right. Boxes with equal numbers cover each
/// other, the smallest on top.
pub(super) fn scattered(
    mut order: Vec<usize>,
    numbers: &[[u64; CHANNELS]],
    most: [u64; CHANNELS],
    sides: &impl Fn(usize) -> (f64, f64),
) -> Group {
    let place = |at: usize, channel: usize, length: f64| {
        length * numbers[at][channel] as f64 / most[channel] as f64
    };
    let area = |at: usize| sides(at).0 * sides(at).1;
    order.sort_by(|&a, &b| area(b).total_cmp(&area(a)).then(a.cmp(&b)));
    let boxes = order.into_iter().map(|at| {
        let ((w, h), largest) = (sides(at), SIDE.0 + SIDE.1);
        let x = place(at, X, PLANE.0) + (largest - w) / 2.0;
        let y = place(at, Y, PLANE.1) + (largest - h) / 2.0;
        (at, Rect { x, y: PLANE.1 + largest - y - h, w, h })
    });
    Group {
        size: (PLANE.0 + SIDE.0 + SIDE.1, PLANE.1 + SIDE.0 + SIDE.1),
        boxes: boxes.collect(),
        frames: Vec::new(),
    }
}

pub(super) fn legend(
    viewed: &Viewed,
    [height, width, fill, _, _, x, y]: [u64; CHANNELS],
) -> Vec<Sign> {
    let view = &viewed.view;
    let mut legend = vec![Sign::words(format!("width: {}", view.width.words()))];
    legend.extend(
        [width / 10, width].map(|n| Sign::sized((side(n, width), 10.0), view.width.text(n))),
    );
    legend.push(Sign::words(format!("height: {}", view.height.words())));
    legend.extend(
        [height / 10, height].map(|n| Sign::sized((8.0, side(n, height)), view.height.text(n))),
    );
    legend.push(Sign::words(format!("grey: {}", view.fill.words())));
    legend.extend(
        steps(0, fill)
            .into_iter()
            .map(|n| Sign::fill(Fill::Grey(grey(n, fill)), &view.fill.text(n))),
    );
    let framed =
        view.border.as_ref().map(|border| format!("frame around a box: any of {}", border.words()));
    let sorted =
        view.order.as_ref().map(|order| format!("order: {}, the largest first", order.words()));
    let axis = |side: &str, channel: &Option<Channel>, most: u64| {
        channel
            .as_ref()
            .map(|channel| format!("{side}: {}, from 0 to {}", channel.words(), channel.text(most)))
    };
    let axes = [axis("to the right", &view.x, x), axis("upwards", &view.y, y)];
    legend.extend([framed, sorted].into_iter().chain(axes).flatten().map(Sign::words));
    legend
}
