//! A picture as data: boxes with their places, lines, a legend and notes. Emitters draw it and place nothing.
//!
//! All lengths are pixels at zoom 1, from the upper left corner. The channels are those of polymetric views (*Execution
//! profiling blueprints*, section 3): height, width and fill of a box are numbers of its method.

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
    /// What the picture leaves out, and the scales in words. Every emitter prints them.
    pub notes: Vec<String>,
}

/// The kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where time goes: the methods of each type.
    Structural,
    /// Who calls whom: callers above callees.
    Behavioural,
    /// What ran, and how well: all methods, also those that never ran.
    Coverage,
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
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A crate or a module.
    Module,
    /// A type.
    Type,
    /// A trait with its default methods.
    Trait,
    /// The free functions of a module.
    Functions,
    /// A type of another crate.
    Foreign,
    /// A type of which no method ran.
    Absent,
}

/// The box of one or more methods.
#[derive(Clone, Debug)]
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
    /// The label at its right side.
    pub label: Option<String>,
}

/// The fill of a box: a token, to which each theme gives a colour, a hatch or a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// A grey from 0, the lightest, to 9.
    Grey(u8),
    /// A method without receiver: not a light grey, which would mean few receivers.
    NoReceiver,
    /// A method that never ran.
    NeverRan,
    /// A method that returns nothing, or its receiver.
    Unit,
    /// A method that always returned the same value for each receiver.
    Constant,
    /// A method that returned different values.
    Varies,
    /// A method whose values cannot be compared.
    NotComparable,
    /// A method of whose values nothing was recorded.
    Unknown,
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
#[derive(Clone, Debug)]
pub struct Sign {
    /// The size of the box; `None` for the words alone.
    pub size: Option<(f64, f64)>,
    /// The fill of the box.
    pub fill: Fill,
    /// What it means.
    pub text: String,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Structural, Kind::Behavioural, Kind::Coverage];

    /// Its word, on the command line as well.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Structural => "structural",
            Kind::Behavioural => "behavioural",
            Kind::Coverage => "coverage",
        }
    }

    /// What it shows, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Kind::Structural => "where time goes: height is total time, width executions, grey receivers",
            Kind::Behavioural => "who calls whom: height is total time, width executions, colour returned values",
            Kind::Coverage => "what ran: height is lines, width receivers, grey executions",
        }
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

impl Fill {
    /// The class of the fill in SVG and HTML.
    pub fn class(self) -> String {
        match self {
            Fill::Grey(grey) => format!("g{grey}"),
            Fill::NoReceiver => "none".into(),
            Fill::NeverRan => "never".into(),
            Fill::Unit => "unit".into(),
            Fill::Constant => "constant".into(),
            Fill::Varies => "varies".into(),
            Fill::NotComparable => "hatch".into(),
            Fill::Unknown => "unknown".into(),
        }
    }

    /// Its letter in text.
    pub fn letter(self) -> char {
        match self {
            Fill::Grey(0..=2) | Fill::Unit => '░',
            Fill::Grey(3..=5) | Fill::Unknown | Fill::NotComparable => '▒',
            Fill::Grey(6..=8) | Fill::Constant => '▓',
            Fill::Grey(_) | Fill::Varies => '█',
            Fill::NoReceiver => '▢',
            Fill::NeverRan => '·',
        }
    }
}

impl FrameKind {
    /// The class of the frame in SVG and HTML.
    pub fn class(self) -> &'static str {
        match self {
            FrameKind::Module => "module",
            FrameKind::Type => "type",
            FrameKind::Trait => "trait",
            FrameKind::Functions => "functions",
            FrameKind::Foreign => "foreign",
            FrameKind::Absent => "absent",
        }
    }
}
