//! The parts of a grammar: its productions, and the alternatives of its choices.

/// A production of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// Its name.
    pub name: String,
    /// The number of its file.
    pub file: usize,
    /// Its first and last line in the file, from 1 on.
    pub lines: (u32, u32),
    /// Its role in a run.
    pub role: Role,
    /// The numbers of the productions that it refers to, in order.
    pub refers_to: Vec<usize>,
}

/// The role of a production in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A run can reach it.
    InUse,
    /// It cannot be reached from the start rule.
    Unused,
    /// The parser's optimiser has replaced its references by its body, so it is never entered.
    OptimisedAway,
}

impl Role {
    const UNUSED: &str = "nothing that the start rule leads to refers to it";
    const OPTIMISED_AWAY: &str = "the parser's optimiser has put what it matches in its place";

    /// The reason why it cannot be observed, as in its site.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Role::InUse => None,
            Role::Unused => Some(Self::UNUSED),
            Role::OptimisedAway => Some(Self::OPTIMISED_AWAY),
        }
    }

    /// The role of a production with this reason in a recording.
    pub fn from_reason(reason: Option<&str>) -> Role {
        match reason {
            None => Role::InUse,
            Some(Self::OPTIMISED_AWAY) => Role::OptimisedAway,
            Some(_) => Role::Unused,
        }
    }
}

/// An alternative of a choice: `b` of `a = { b | c }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The number of the production with its choice.
    pub production: usize,
    /// The number of the choice in the grammar. The alternatives of a choice follow each other, in the order of trial.
    pub choice: usize,
    /// Its text, in the grammar's notation.
    pub text: String,
    /// The production that it begins with, if it begins with one.
    pub first: Option<usize>,
}

/// Receives what a parser does while it runs.
pub(crate) trait ParseObserver {
    /// A production is tried at the byte `at` of the input.
    fn enter(&mut self, production: usize, at: usize);
    /// It has matched up to `end`, or has failed after it read up to there.
    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool);
    /// An alternative has been tried.
    fn alternative(&mut self, alternative: usize, matched: bool);
}
