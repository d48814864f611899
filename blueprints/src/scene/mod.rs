//! A picture as data: boxes with their places, lines, a legend and notes. Emitters draw it and
//! place nothing.
//!
//! All lengths are pixels at zoom 1, from the upper left corner. The channels follow polymetric
//! views (*Execution profiling blueprints*, section 3): height, width and fill of a box are numbers
//! of its method.
//!
//! A scene is laid out once, in Rust, and not by each emitter. Tests then read the same picture
//! back from SVG that a browser and a terminal show.

mod fill;
mod free_room;
mod kind;
mod label;

use metaspy_report::coverage::Pattern;
use metaspy_report::findings::text::Part;

pub use fill::Fill;
pub(crate) use free_room::use_free_room;
pub use kind::Kind;
pub(crate) use label::fit_end;
pub use label::{Distinct, LETTER, Label, LabelPlace, Name, SIZE, fit_middle};
pub(crate) use label::{Readable, line, readable, text_width, zoom};

/// Picture as data.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Kind of picture.
    pub kind: Kind,
    /// Name of the recording.
    pub title: String,
    /// Width and height of the picture.
    pub size: (f64, f64),
    /// Frames of the picture; an outer frame comes before its inner frames.
    pub frames: Vec<Frame>,
    /// Boxes of the picture.
    pub nodes: Vec<Node>,
    /// Lines between boxes.
    pub edges: Vec<Edge>,
    /// Meaning of each sign.
    pub legend: Vec<Sign>,
    /// Findings of the recording, the first ones with their boxes.
    pub findings: Stated,
    /// Ranked lists for the reader: patterns of coverage, candidates for a cache.
    pub lists: Vec<List>,
    /// Notes on the parts that the picture leaves out, and on the scales. Every emitter prints
    /// them.
    pub notes: Vec<String>,
}

/// Position and size of a frame or box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left side.
    pub x: f64,
    /// Upper side.
    pub y: f64,
    /// Width in pixels.
    pub w: f64,
    /// Height in pixels.
    pub h: f64,
}

/// Frame around boxes or frames.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Position and size.
    pub rect: Rect,
    /// Label, which fits into the width of the frame.
    pub label: String,
    /// Size of the letters of the label, in pixels.
    pub size: f64,
    /// Whole name of the package, module or type.
    pub name: String,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Pattern of coverage that the type shows.
    pub mark: Option<Pattern>,
}

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A crate around its modules.
    Package,
    /// A module.
    Module,
    /// A type.
    Type,
    /// A trait with its default methods.
    Trait,
    /// The free functions of a module.
    Functions,
    /// A type of another crate.
    Foreign,
    /// A type without a method that ran.
    Absent,
}

/// Box of a method, or of a chain of methods.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Position and size.
    pub rect: Rect,
    /// Methods that the box stands for, the outermost first; empty for the box of the whole
    /// program.
    pub methods: Vec<usize>,
    /// Index in `methods` of the method that names the box.
    pub named: usize,
    /// Fill of the box.
    pub fill: Fill,
    /// Share of the first method in the whole: in the longest time, or in the root's time.
    pub share: f64,
    /// Height of the bar of own time at the lower left; 0 for no bar.
    pub own: f64,
    /// Label of the box, if it has room.
    pub label: Option<Label>,
    /// Border of the box.
    pub border: Border,
    /// Pattern of coverage that the method shows.
    pub mark: Option<Pattern>,
    /// Height in the older version, if that was larger: a dashed outline.
    pub ghost: Option<f64>,
    /// Strips at the right side, one for each sampled line of the method.
    pub strips: Vec<Rect>,
    /// Further facts besides the numbers of the method, in lines.
    pub tip: Vec<String>,
}

/// Border of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Border {
    /// Thin line.
    #[default]
    Thin,
    /// A frame around the box: its source has changed, or its view frames such methods.
    Changed,
}

/// Marks of the findings that a picture states, in the order of their costs.
pub const STATED: [char; 3] = ['①', '②', '③'];

/// Findings of a recording that a picture states.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    /// The first findings, in the order of `metaspy findings`.
    pub first: Vec<Statement>,
    /// Number of findings after these.
    pub further: usize,
}

/// Finding of a recording, with the boxes that it is about.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Word of the kind: `repeated`.
    pub kind: String,
    /// Share that it costs, and the total of the share: `38 % of the time`.
    pub cost: String,
    /// One sentence, without a full stop.
    pub title: String,
    /// The texts below the title: the evidence, and then places, certainty and advice, each after
    /// its word.
    pub parts: Vec<Part>,
    /// Indices of its boxes, the most important first; empty if the picture has none of them.
    pub nodes: Vec<usize>,
}

/// List of boxes that show the same finding.
#[derive(Clone, Debug)]
pub struct List {
    /// Title that describes the finding.
    pub title: String,
    /// Rows of the list, the most important first.
    pub rows: Vec<ListRow>,
}

/// Row of a list.
#[derive(Clone, Debug)]
pub struct ListRow {
    /// Index of the box; `None` for a method without a box.
    pub node: Option<usize>,
    /// Numbers or explanation of the row.
    pub text: String,
}

/// Line between two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the caller's box.
    pub from: usize,
    /// Index of the callee's box.
    pub to: usize,
    /// Number of calls.
    pub count: u64,
    /// Kind of the line.
    pub kind: EdgeKind,
}

/// Kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// To the box that hangs below: drawn at rest.
    Tree,
    /// To a box that hangs elsewhere: drawn while either box is in focus.
    Cross,
    /// Back to a caller: drawn as a curve while either box is in focus.
    Back,
}

/// Space between a box and its label for the frame around changed source.
pub(crate) const OUTSET: f64 = 4.0;

/// Space between a box and the bend of the lines to the boxes below.
const BEND: f64 = 6.0;

/// Space between the bend and the boxes below.
const BELOW_BEND: f64 = 10.0;
/// Distance of a line to a box in a column from the left side of the column.
const ASIDE: f64 = 2.5;

/// Sign of the legend.
#[derive(Clone, Debug, Default)]
pub struct Sign {
    /// Size of the box; `None` for text alone.
    pub size: Option<(f64, f64)>,
    /// Fill of the box.
    pub fill: Fill,
    /// Mark in place of a box.
    pub mark: Option<Pattern>,
    /// Meaning of the sign.
    pub text: String,
}

impl Sign {
    /// Makes a sign with a box of this fill.
    pub fn fill(fill: Fill, text: &str) -> Sign {
        Sign { size: Some((12.0, 10.0)), fill, text: text.into(), ..Sign::default() }
    }

    /// Makes a sign with text alone.
    pub fn words(text: impl Into<String>) -> Sign {
        Sign { text: text.into(), ..Sign::default() }
    }

    /// Makes a sign with a grey box of this size.
    pub fn sized(size: (f64, f64), text: String) -> Sign {
        Sign { size: Some(size), fill: Fill::Grey(3), text, mark: None }
    }
}

impl Node {
    /// Returns the method that names the box; `None` for the box of the whole program.
    pub fn name_giver(&self) -> Option<usize> {
        self.methods.get(self.named).copied()
    }

    /// Returns the height at which the lines to the boxes below bend.
    pub(crate) fn bend(&self) -> f64 {
        let beside = self.label.as_ref().filter(|label| label.place == LabelPlace::Beside);
        let height = self.height();
        self.rect.y + beside.map_or(0.0, |label| label.foot(height)).max(height) + BEND
    }

    /// Returns the height for which the picture has room: that of the box, or of its outline
    /// before.
    pub(crate) fn height(&self) -> f64 {
        self.ghost.unwrap_or(0.0).max(self.rect.h)
    }

    /// Returns the place at which a line from a bend above reaches the box: its middle, or near its
    /// left side if other boxes of a column are above it, whose labels are at their right sides.
    pub(crate) fn entry(&self, bend: f64) -> f64 {
        let line = self.label.as_ref().map_or(0.0, |label| line(label.size));
        let is_below_others = self.rect.y - bend > BELOW_BEND + line / 2.0 + 1.0;
        self.rect.x + if is_below_others { ASIDE } else { self.rect.w / 2.0 }
    }
}

impl Rect {
    /// Returns the right side.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// Returns the lower side.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// Moves the rectangle and keeps its size.
    pub fn moved(self, x: f64, y: f64) -> Rect {
        Rect { x: self.x + x, y: self.y + y, ..self }
    }
}

impl FrameKind {
    /// Returns the CSS class of the frame in SVG and HTML.
    pub fn class(self) -> &'static str {
        match self {
            FrameKind::Package => "package",
            FrameKind::Module => "module",
            FrameKind::Type => "type",
            FrameKind::Trait => "trait",
            FrameKind::Functions => "functions",
            FrameKind::Foreign => "foreign",
            FrameKind::Absent => "absent",
        }
    }
}
