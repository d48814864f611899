//! Productions in a profiler.

use metaspy_core::arm::Subjects;

use crate::calls::Calls;
use crate::sites::Sites;

/// Observes productions: those of a grammar, `productions(&grammar)`, or by name those of a parser that is written with
/// combinators, `productions("json::*")`.
///
/// Each activation is an event about its input. Where it was tried is its argument `at`, and what it matched is what it
/// returned.
pub fn productions(productions: impl Into<Sites>) -> Calls {
    Calls::new(productions.into(), Subjects::All).details()
}
