//! Productions: a grammar is a graph of productions, and what a test suite exercises of it is a question of its own
//! (Ressia, Bergel, Nierstrasz, Renggli: *Modeling Domain-Specific Profilers*, section 4.3).
//!
//! A [`Coverage`] counts which productions, and which alternatives of their choices, were entered and matched, apart for
//! inputs that the grammar accepts and inputs that it rejects. It knows no parser library; `pest` does.

mod activation;
mod activation_stack;
#[cfg(feature = "chumsky")]
pub mod chumsky;
mod coverage;
#[cfg(feature = "nom")]
pub mod nom;
#[cfg(feature = "pest")]
pub mod pest;
#[cfg(feature = "pest")]
mod suite_events;
#[cfg(feature = "winnow")]
pub mod winnow;

use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

pub use activation::{Activation, ActivationEnd, ActivationFrame, IntoProduction, Position, with_input};
pub use activation_stack::ActivationStack;
pub use coverage::{Counts, Coverage, Input, Row, Shadow, State, Tally, Verdict};

/// Observes productions: those of a grammar, `productions(&grammar)`, or by name those of a parser that is written with
/// combinators, `productions("json::*")`.
///
/// Each activation is an event about its input. Its argument `at` is the place where the production was tried, and its
/// return value is what it matched.
pub fn productions(productions: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(productions.into(), Subjects::All).details()
}

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

/// What a parser tells while it runs. A parser library is taught by calling this around its productions.
pub trait ParseObserver {
    /// A production is tried at this byte of the input.
    fn enter(&mut self, production: usize, at: usize);
    /// It has matched up to `end`, or failed after reading up to there.
    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool);
    /// An alternative has been tried.
    fn alternative(&mut self, alternative: usize, matched: bool);
}
