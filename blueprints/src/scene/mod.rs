//! A picture as data: boxes with their places, lines, a legend and notes. Emitters draw it and place nothing.
//!
//! All lengths are pixels at zoom 1, from the upper left corner. The channels follow polymetric views (*Execution
//! profiling blueprints*, section 3): height, width and fill of a box are numbers of its method.
//!
//! A scene is laid out once, in Rust, and not by each emitter. Tests then read the same picture
//! back from SVG that a browser and a terminal show.

mod fill;
mod kind;
mod label;

use metaspy_report::coverage::Pattern;

pub use fill::Fill;
pub use kind::Kind;
pub use label::{LETTER, LINE, Label, Place, fit_end, fit_start};

/// A picture.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The kind of picture.
    pub kind: Kind,
    /// The name of the recording.
    pub title: String,
    /// Width and height.
    pub size: (f64, f64),
    /// The frames, each before those in it.
    pub frames: Vec<Frame>,
    /// The boxes.
    pub nodes: Vec<Node>,
    /// The lines.
    pub edges: Vec<Edge>,
    /// What each sign means.
    pub legend: Vec<Sign>,
    /// What a reader looks for, found and ranked: patterns of coverage, candidates for a cache.
    pub lists: Vec<List>,
    /// What the picture leaves out, and the scales in words. Every emitter prints them.
    pub notes: Vec<String>,
}

/// A place and a size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub w: f64,
    /// The height.
    pub h: f64,
}

/// A frame around boxes or frames.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its place.
    pub rect: Rect,
    /// Its label, which fits into its width.
    pub label: String,
    /// Its whole name.
    pub name: String,
    /// Its kind.
    pub kind: FrameKind,
    /// The pattern of coverage that it shows.
    pub mark: Option<Pattern>,
}

/// The kinds of frames.
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

/// The box of one or more methods.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its place.
    pub rect: Rect,
    /// The methods that it stands for, the outermost first; none for the box of the whole program.
    pub methods: Vec<usize>,
    /// Its fill.
    pub fill: Fill,
    /// The part that the first method has of the whole: of the longest time, or of the root's time.
    pub share: f64,
    /// The height of the bar of own time at its lower left; 0 for none.
    pub own: f64,
    /// The label.
    pub label: Option<Label>,
    /// The border.
    pub border: Border,
    /// The pattern of coverage that it shows.
    pub mark: Option<Pattern>,
    /// The height that it had before, if that was larger: a dashed outline.
    pub ghost: Option<f64>,
    /// What is known of it besides the numbers of its method, in lines.
    pub tip: Vec<String>,
}

/// The border of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Border {
    /// Thin.
    #[default]
    Thin,
    /// A frame around the box: its source has changed.
    Changed,
}

/// Boxes that a reader looks for.
#[derive(Clone, Debug)]
pub struct List {
    /// What they have in common.
    pub title: String,
    /// The rows, the one that matters most first.
    pub rows: Vec<Row>,
}

/// A row of a list.
#[derive(Clone, Debug)]
pub struct Row {
    /// The place of the box; `None` for what has none.
    pub node: Option<usize>,
    /// What is known of it.
    pub text: String,
}

/// A line between two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The place of the caller's box.
    pub from: usize,
    /// The place of the callee's box.
    pub to: usize,
    /// The number of calls.
    pub count: u64,
    /// Its kind.
    pub kind: EdgeKind,
}

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// To the box that hangs below: drawn at rest.
    Tree,
    /// To a box that hangs elsewhere: drawn while one of the two is in focus.
    Cross,
    /// Back to a caller: drawn as a curve while one of the two is in focus.
    Back,
}

/// A sign of the legend.
#[derive(Clone, Debug, Default)]
pub struct Sign {
    /// The size of the box; `None` for the words alone.
    pub size: Option<(f64, f64)>,
    /// The fill of the box.
    pub fill: Fill,
    /// The mark in the place of a box.
    pub mark: Option<Pattern>,
    /// What it means.
    pub text: String,
}

impl Sign {
    /// A box with this fill.
    pub fn fill(fill: Fill, text: &str) -> Sign {
        Sign { size: Some((12.0, 10.0)), fill, text: text.into(), ..Sign::default() }
    }

    /// Words alone.
    pub fn words(text: &str) -> Sign {
        Sign { text: text.into(), ..Sign::default() }
    }

    /// A grey box of this size.
    pub fn sized(size: (f64, f64), text: String) -> Sign {
        Sign { size: Some(size), fill: Fill::Grey(3), text, mark: None }
    }
}

impl Rect {
    /// The right side.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// The lower side.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// The same size elsewhere.
    pub fn moved(self, x: f64, y: f64) -> Rect {
        Rect { x: self.x + x, y: self.y + y, ..self }
    }
}

impl FrameKind {
    /// The class of the frame in SVG and HTML.
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
