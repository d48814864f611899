//! The kinds of pictures.

/// The kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where time goes: the methods of each type.
    Structural,
    /// Calls: callers above callees.
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

    /// True if the boxes are methods. Otherwise [`Node::tip`](super::Node::tip) has all that is known of a box.
    pub fn is_of_methods(self) -> bool {
        !matches!(self, Kind::Grammar | Kind::Domain)
    }

    /// What it shows, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Kind::Structural => "where time goes: height is total time, width calls, grey receivers",
            Kind::Behavioural => "who calls whom: height is total time, width calls, colour returned values",
            Kind::Coverage => "what ran: height is lines, width receivers, grey calls",
            Kind::Calls => {
                "what a method leads to, and how well it is tested: the encodings of coverage, as a graph of calls"
            }
            Kind::Domain => "the program's own objects: --view FILE.toml maps them to width, height and grey",
            Kind::Grammar => "which productions matched: height is matches, width activations, colour the state",
            Kind::Evolution => "what changed between versions: colour is the change, a frame is changed source",
        }
    }
}
