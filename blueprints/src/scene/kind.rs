//! Kinds of pictures.

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Methods of each type, by time.
    Structural,
    /// Call tree: callers above callees.
    Behavioural,
    /// Methods that ran and methods that never ran.
    Coverage,
    /// Methods that became faster or slower between two versions.
    Evolution,
    /// Methods that a method leads to, and how well each is tested.
    Calls,
    /// Productions of a grammar that matched, and the reasons why others did not.
    Grammar,
    /// Program's own objects, with numbers that its author chose.
    Domain,
}

impl Kind {
    /// All kinds, in the order of menus and help.
    pub const ALL: [Kind; 7] = [
        Kind::Structural,
        Kind::Behavioural,
        Kind::Coverage,
        Kind::Calls,
        Kind::Grammar,
        Kind::Domain,
        Kind::Evolution,
    ];
    /// Kinds that need a single run of a program.
    pub const OF_A_RUN: [Kind; 4] =
        [Kind::Structural, Kind::Behavioural, Kind::Coverage, Kind::Calls];

    /// Returns the word for this kind, which is also its name on the command line.
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

    /// Returns true if the boxes are methods. Otherwise, [`Node::tip`](super::Node::tip) has
    /// everything known about a box.
    pub(crate) fn is_of_methods(self) -> bool {
        !matches!(self, Kind::Grammar | Kind::Domain)
    }

    /// Describes the picture in a line.
    pub fn description(self) -> &'static str {
        match self {
            Kind::Structural => {
                "where time goes: height is total time, width calls, grey receivers"
            }
            Kind::Behavioural => {
                "who calls whom: height is total time, width calls, colour returned values"
            }
            Kind::Coverage => "what ran: height is lines, width receivers, grey calls",
            Kind::Calls => {
                "what a method leads to, and how well it is tested: the encodings of coverage, as a graph of calls"
            }
            Kind::Domain => {
                "the program's own objects: --view FILE.toml maps them to width, height and grey"
            }
            Kind::Grammar => {
                "which productions matched: height is matches, width activations, colour the state"
            }
            Kind::Evolution => {
                "what changed between versions: colour is the change, a frame is changed source"
            }
        }
    }
}
