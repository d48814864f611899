//! A picture as data: boxes with their places, lines, a legend and notes. Emitters draw it and place nothing.
//!
//! All lengths are pixels at zoom 1, from the upper left corner. The channels are those of polymetric views (*Execution
//! profiling blueprints*, section 3): height, width and fill of a box are numbers of its method.

use metaspy_report::coverage::Pattern;

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

/// The kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where time goes: the methods of each type.
    Structural,
    /// Who calls whom: callers above callees.
    Behavioural,
    /// What ran, and how well: all methods, also those that never ran.
    Coverage,
    /// What became faster and slower between two versions.
    Evolution,
    /// What a method leads to, and how well each method is tested.
    Calls,
    /// Which productions of a grammar matched, and why the others did not.
    Grammar,
    /// A program's own objects, with numbers that its author chose.
    Domain,
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

/// The label of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text, which fits.
    pub text: String,
    /// Where it is.
    pub place: Place,
}

/// Where the label of a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the right side.
    Beside,
    /// In the box.
    Inside,
    /// In the box, from the lower side up.
    Upright,
    /// At the right side, from the lower side up.
    Along,
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

/// The fill of a box: a token, to which each theme gives a colour, a hatch or a letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    #[default]
    Unknown,
    /// Faster, or fewer calls, and its source has changed.
    Faster,
    /// Faster, or fewer calls, with the same source: the cause is elsewhere.
    FasterHere,
    /// Slower, or more calls, and its source has changed.
    Slower,
    /// Slower, or more calls, with the same source: the cause is elsewhere.
    SlowerHere,
    /// A method that the older version does not have.
    New,
    /// The same within noise.
    Same,
    /// A production that was tried, and failed each time.
    Failed,
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

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Structural,
        Kind::Behavioural,
        Kind::Coverage,
        Kind::Calls,
        Kind::Grammar,
        Kind::Domain,
        Kind::Evolution,
    ];
    /// The pictures of one run.
    pub const OF_A_RUN: [Kind; 4] = [Kind::Structural, Kind::Behavioural, Kind::Coverage, Kind::Calls];

    /// Its word, on the command line as well.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Structural => "structural",
            Kind::Behavioural => "behavioural",
            Kind::Coverage => "coverage",
            Kind::Evolution => "evolution",
            Kind::Calls => "calls",
            Kind::Grammar => "grammar",
            Kind::Domain => "domain",
        }
    }

    /// True if the boxes are methods. Otherwise [`Node::tip`] has all that is known of a box.
    pub fn is_of_methods(self) -> bool {
        !matches!(self, Kind::Grammar | Kind::Domain)
    }

    /// What it shows, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Kind::Structural => "where time goes: height is total time, width executions, grey receivers",
            Kind::Behavioural => "who calls whom: height is total time, width executions, colour returned values",
            Kind::Coverage => "what ran: height is lines, width receivers, grey executions",
            Kind::Calls => {
                "what a method leads to, and how well it is tested: the encodings of coverage, as a graph of calls"
            }
            Kind::Domain => "the program's own objects: --view FILE.toml maps them to width, height and grey",
            Kind::Grammar => "which productions matched: height is matches, width activations, colour the state",
            Kind::Evolution => "what changed between versions: colour is the change, a frame is changed source",
        }
    }
}

/// The height of a line of text.
pub const LINE: f64 = 11.0;
/// The width of a letter, at most.
pub const LETTER: f64 = 5.5;
/// The letters that a label in a box has at least.
const LEAST_LETTERS: usize = 3;

impl Label {
    /// The name in a box, in the direction that has room for more of it.
    pub fn within(name: &str, size: (f64, f64)) -> Option<Label> {
        let fits = |long: f64, across: f64| match across >= LINE {
            true => ((long - 5.0) / LETTER) as usize,
            false => 0,
        };
        let letters = name.chars().count();
        let (inside, upright) = (fits(size.0, size.1).min(letters), fits(size.1, size.0).min(letters));
        let (place, fit) = if inside >= upright { (Place::Inside, inside) } else { (Place::Upright, upright) };
        (fit >= LEAST_LETTERS.min(letters)).then(|| Label { text: fit_start(name, fit), place })
    }

    /// The name along a tall box.
    pub fn along(name: &str, height: f64) -> Label {
        Label { text: fit_start(name, ((height - 4.0) / LETTER) as usize), place: Place::Along }
    }
}

/// The start of a name: `NodeWeig…`.
pub fn fit_start(name: &str, letters: usize) -> String {
    match name.chars().count() > letters {
        true => name.chars().take(letters.max(1) - 1).chain(std::iter::once('…')).collect(),
        false => name.to_owned(),
    }
}

/// The end of a name: `…types::grid_item`.
pub fn fit_end(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    match count > letters {
        true => std::iter::once('…').chain(name.chars().skip(count + 1 - letters.max(1))).collect(),
        false => name.to_owned(),
    }
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

impl Place {
    /// The class of the label in SVG and HTML.
    pub fn class(self) -> &'static str {
        match self {
            Place::Beside => "beside",
            Place::Inside => "inside",
            Place::Upright => "upright",
            Place::Along => "along",
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
            Fill::Faster => "faster".into(),
            Fill::FasterHere => "faster-here".into(),
            Fill::Slower => "slower".into(),
            Fill::SlowerHere => "slower-here".into(),
            Fill::New => "new".into(),
            Fill::Same => "same".into(),
            Fill::Failed => "failed".into(),
        }
    }

    /// True if text on it needs the colour of the page.
    pub fn is_dark(self) -> bool {
        matches!(self, Fill::Grey(5..))
    }

    /// Its letter in text.
    pub fn letter(self) -> char {
        match self {
            Fill::Grey(0..=2) | Fill::Unit => '░',
            Fill::Grey(3..=5) | Fill::Unknown | Fill::NotComparable => '▒',
            Fill::Grey(6..=8) | Fill::Constant => '▓',
            Fill::Grey(_) | Fill::Varies => '█',
            Fill::NoReceiver => '▢',
            Fill::NeverRan | Fill::Same => '·',
            Fill::Faster => '▼',
            Fill::FasterHere => '▽',
            Fill::Slower => '▲',
            Fill::SlowerHere => '△',
            Fill::New => '+',
            Fill::Failed => '✗',
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
