//! Parts of a grammar: its productions, and the alternatives of its choices.

/// Production of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// Name of the production.
    pub name: String,
    /// Number of the production's file.
    pub file: usize,
    /// First and last line in the file, from 1 on.
    pub lines: (u32, u32),
    /// Role of the production in a run.
    pub role: Role,
    /// Numbers of the productions that it refers to, in order.
    pub refers_to: Vec<usize>,
}

/// Role of a production in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A run can reach the production.
    InUse,
    /// The start rule does not lead to the production.
    Unused,
    /// The parser's optimiser has replaced all references by the body, so the production is never
    /// entered.
    OptimisedAway,
}

impl Role {
    const UNUSED: &str = "nothing that the start rule leads to refers to it";
    const OPTIMISED_AWAY: &str = "the parser's optimiser has put what it matches in its place";

    /// Returns the reason why the production cannot be observed, as in its site, or `None` if it
    /// can.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Role::InUse => None,
            Role::Unused => Some(Self::UNUSED),
            Role::OptimisedAway => Some(Self::OPTIMISED_AWAY),
        }
    }

    /// Returns the role of a production with this reason in a recording.
    pub fn from_reason(reason: Option<&str>) -> Role {
        match reason {
            None => Role::InUse,
            Some(Self::OPTIMISED_AWAY) => Role::OptimisedAway,
            Some(_) => Role::Unused,
        }
    }
}

/// Alternative of a choice: `b` of `a = { b | c }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Number of the production that contains the choice.
    pub production: usize,
    /// Number of the choice in the grammar. The alternatives of a choice follow each other, in the
    /// order of trial.
    pub choice: usize,
    /// Text of the alternative, in the grammar's notation.
    pub text: String,
    /// Number of the production at the beginning of the alternative, if it begins with any.
    pub first: Option<usize>,
}

/// Observer of a running parser.
pub(crate) trait ParseObserver {
    /// Reports that a production is tried at the byte `at` of the input.
    fn enter(&mut self, production: usize, at: usize);
    /// Reports that a production has matched up to `end`, or has failed after it read up to there.
    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool);
    /// Reports that an alternative has been tried.
    fn alternative(&mut self, alternative: usize, matched: bool);
}
