//! Productions of grammars, and parsers that are written with combinators or by hand.
//!
//! [`productions`] observes them: each activation of a production is an event. With the feature
//! `pest`, a [`Suite`](pest::Suite) also runs the inputs of a test suite and counts in a
//! [`Coverage`] which productions, and which alternatives of their choices, were entered and
//! matched. (Ressia, Bergel, Nierstrasz, Renggli: *Modeling Domain-Specific Profilers*, section
//! 4.3.)

mod activation;
mod activation_stack;
#[cfg(feature = "chumsky")]
pub mod chumsky;
#[cfg(feature = "combine")]
pub mod combine;
#[cfg(feature = "pest")]
mod coverage;
#[cfg(feature = "nom")]
pub mod nom;
#[cfg(feature = "pest")]
pub mod pest;
#[cfg(feature = "pest")]
mod production;
#[cfg(feature = "pest")]
mod suite_events;
mod tokens;
#[cfg(feature = "winnow")]
pub mod winnow;

use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

pub use activation::{
    Activation, ActivationEnd, ActivationFrame, IntoProduction, Position, Purpose, with_input,
};
pub use activation_stack::ActivationStack;
#[cfg(feature = "pest")]
pub use coverage::{Counts, Coverage, CoverageRow, Cut, Input, Rejection, Shadow, State, Verdict};
#[cfg(feature = "pest")]
pub use production::{Alternative, Production, Role};
pub use tokens::spied_tokens;

/// Observes the productions of a grammar, `productions(&grammar)`, or of a parser in Rust,
/// `productions("json::*")`.
///
/// Each activation is an event about its input. Its argument `at` is the place where the production
/// was tried, and its return value is the range that it matched.
pub fn productions(productions: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(productions.into(), Subjects::All).details()
}
