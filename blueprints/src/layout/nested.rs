//! Layout of boxes in frames in frames: the methods of a type, the types of a module, the modules
//! of a package, the packages on a page. A single package has no frame.
//!
//! Frames show containment, in place of a tree of classes, because few Rust types implement a trait
//! that could be their parent.

use std::collections::BTreeMap;

use crate::graph::{Graph, Owner, OwnerKind};
use crate::layout::skyline::pack;
use crate::scene::{Frame, FrameKind, Rect, SIZE, fit_end, fit_middle, line, text_width};

/// Space between a frame and its contents, and between two frames.
const PADDING: f64 = 4.0;
/// Minimum numbers of letters that fit in the labels of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastLetters {
    /// Label of a type.
    pub of_type: usize,
    /// Label of a module.
    pub of_module: usize,
    /// Label of either with larger letters than others, because the frame holds methods that take
    /// time.
    pub large: usize,
}

impl LeastLetters {
    /// Numbers that let a frame be as small as its boxes.
    pub const CUT: LeastLetters = LeastLetters { of_type: 11, of_module: 14, large: 20 };
    /// Numbers with which nearly no name is cut.
    pub const WHOLE: LeastLetters = LeastLetters { of_type: 40, of_module: 40, large: 40 };
}

/// Frames and boxes of a page, and its size.
pub struct Page {
    /// Frames of the page; an outer frame comes before its inner frames.
    pub frames: Vec<Frame>,
    /// Boxes, each with the index of its method.
    pub boxes: Vec<(usize, Rect)>,
    /// Width and height of the page.
    pub size: (f64, f64),
}

/// Room that a method takes.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Index of the method.
    pub method: usize,
    /// Width and height of its box and its label.
    pub size: (f64, f64),
    /// Size of the letters of its label, and of the labels of the frames around it.
    pub letters: f64,
}

/// Frame with its content, in its own coordinates.
struct Group {
    size: (f64, f64),
    frames: Vec<Frame>,
    boxes: Vec<(usize, Rect)>,
    letters: f64,
}

/// Function that places boxes of these sizes, and returns the size of the whole.
pub type Placing = fn(&[(f64, f64)]) -> (Vec<(f64, f64)>, (f64, f64));

/// Lays out methods with the given sizes, those of a type by `placing`. `is_absent` is true for an
/// owner in which no method ran.
pub fn nested(
    graph: &Graph,
    cells: &[Cell],
    placing: Placing,
    least: LeastLetters,
    is_absent: impl Fn(usize) -> bool,
) -> Page {
    let mut owners: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
    for &cell in cells {
        owners.entry(graph.methods[cell.method].owner).or_default().push(cell);
    }
    let several = owners.keys().any(|&at| graph.owners[at].package() != graph.owners[0].package());
    let mut packages: BTreeMap<&str, BTreeMap<&str, Vec<Group>>> = BTreeMap::new();
    for (at, methods) in owners {
        let owner = &graph.owners[at];
        let modules = packages.entry(owner.package()).or_default();
        modules.entry(&owner.module).or_default().push(owner_group(
            owner,
            &methods,
            placing,
            least,
            is_absent(at),
        ));
    }
    let groups = packages.into_iter().flat_map(|(package, modules)| {
        let modules = modules.into_iter().map(|(module, types)| {
            let label = module.split_once("::").map_or(module, |(_, rest)| rest);
            framed(stacked(types), label, module, FrameKind::Module, least)
        });
        if several {
            vec![framed(stacked(modules.collect()), package, package, FrameKind::Package, least)]
        } else {
            modules.collect()
        }
    });
    let Group { size, frames, boxes, .. } = stacked(groups.collect());
    Page { frames, boxes, size }
}

fn owner_group(
    owner: &Owner,
    cells: &[Cell],
    placing: Placing,
    least: LeastLetters,
    is_absent: bool,
) -> Group {
    let sizes: Vec<(f64, f64)> = cells.iter().map(|cell| cell.size).collect();
    let (places, size) = placing(&sizes);
    let boxes = cells
        .iter()
        .zip(places)
        .map(|(cell, (x, y))| (cell.method, Rect { x, y, w: cell.size.0, h: cell.size.1 }))
        .collect();
    let letters = cells.iter().map(|cell| cell.letters).fold(SIZE, f64::max);
    let kind = match owner.kind {
        _ if is_absent => FrameKind::Absent,
        OwnerKind::Type => FrameKind::Type,
        OwnerKind::Trait => FrameKind::Trait,
        OwnerKind::Functions => FrameKind::Functions,
        OwnerKind::Foreign => FrameKind::Foreign,
    };
    framed(
        Group { size, frames: Vec::new(), boxes, letters },
        &owner.name,
        &owner.path(),
        kind,
        least,
    )
}

/// Packs groups onto a page of their own.
fn stacked(groups: Vec<Group>) -> Group {
    let sizes: Vec<(f64, f64)> = groups.iter().map(|group| group.size).collect();
    let (places, size) = pack(&sizes, PADDING);
    let letters = groups.iter().map(|group| group.letters).fold(SIZE, f64::max);
    let mut all = Group { size, frames: Vec::new(), boxes: Vec::new(), letters };
    for (group, (x, y)) in groups.into_iter().zip(places) {
        all.frames.extend(
            group.frames.into_iter().map(|frame| Frame { rect: frame.rect.moved(x, y), ..frame }),
        );
        all.boxes.extend(group.boxes.into_iter().map(|(method, rect)| (method, rect.moved(x, y))));
    }
    all
}

/// Puts a frame with a label around a group.
fn framed(group: Group, label: &str, name: &str, kind: FrameKind, least: LeastLetters) -> Group {
    let is_module = matches!(kind, FrameKind::Module | FrameKind::Package);
    let size = group.letters;
    let least = match is_module {
        _ if size > SIZE => least.large,
        true => least.of_module,
        false => least.of_type,
    };
    // Modules differ at their ends.
    let fit = if is_module { fit_end } else { fit_middle };
    let least = text_width(&fit(label, least), size);
    let w = group.size.0.max(least) + 2.0 * PADDING;
    let h = group.size.1 + 2.0 * PADDING + line(size);
    let label =
        fit(label, ((w - PADDING) / (text_width("m", size) - text_width("", size))) as usize);
    let frame = Frame {
        rect: Rect { x: 0.0, y: 0.0, w, h },
        label,
        size,
        name: name.to_owned(),
        kind,
        mark: None,
    };
    let x = PADDING;
    let y = PADDING + line(size);
    let inner =
        group.frames.into_iter().map(|frame| Frame { rect: frame.rect.moved(x, y), ..frame });
    Group {
        size: (w, h),
        frames: std::iter::once(frame).chain(inner).collect(),
        boxes: group.boxes.into_iter().map(|(method, rect)| (method, rect.moved(x, y))).collect(),
        letters: size,
    }
}
