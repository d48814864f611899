//! The parts of a grammar: its productions, and the alternatives of its choices.

/// A production of a grammar, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// Its name.
    pub name: String,
    /// The file that it stands in, by number.
    pub file: usize,
    /// Its first and its last line there, from 1 on.
    pub lines: (u32, u32),
    /// Whether a run can reach it at all.
    pub role: Role,
    /// The productions that it refers to, by number, in the order that it does.
    pub refers_to: Vec<usize>,
}

/// Whether a run can reach a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It can.
    InUse,
    /// Nothing that the start rule leads to refers to it.
    Unused,
    /// It is referred to, but the parser's optimiser has put what it matches in its place: it is never entered.
    OptimisedAway,
}

impl Role {
    const UNUSED: &str = "nothing that the start rule leads to refers to it";
    const OPTIMISED_AWAY: &str = "the parser's optimiser has put what it matches in its place";

    /// Why it cannot be observed, as its site says it.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Role::InUse => None,
            Role::Unused => Some(Self::UNUSED),
            Role::OptimisedAway => Some(Self::OPTIMISED_AWAY),
        }
    }

    /// The role of a production of which a recording gives this reason.
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
    /// The production whose choice it belongs to, by number.
    pub production: usize,
    /// The choice, counted within the grammar. Alternatives of a choice stand together, in the order they are tried.
    pub choice: usize,
    /// What it is, in the grammar's own language.
    pub text: String,
    /// The production that it begins with, if it begins with one.
    pub first: Option<usize>,
}

/// Receives what a parser does while it runs.
pub(crate) trait ParseObserver {
    /// A production is tried at this byte of the input.
    fn enter(&mut self, production: usize, at: usize);
    /// It has matched up to `end`, or failed after reading up to there.
    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool);
    /// An alternative has been tried.
    fn alternative(&mut self, alternative: usize, matched: bool);
}
