//! Evaluation of the user's expression for the subject of a call.

use std::cell::Cell;

use metaspy_core::{Subject, hook};

thread_local! {
    /// Number of nested identities under evaluation on this thread.
    static EVALUATING: Cell<u8> = const { Cell::new(0) };
}

/// Maximum number of nested identities. A composite value takes the identity of a part; deeper
/// nesting means recursion through a hook.
const DEEPEST: u8 = 8;

/// Evaluates the subject of a call. A panic in the expression is caught, and the call has no
/// subject.
///
/// The expression may call observed functions. Their hooks do not evaluate subjects in turn,
/// because that might never end. These calls have no subject, and are marked as meta.
pub fn subject(expression: impl FnOnce() -> Subject) -> Subject {
    if EVALUATING.get() > 0 {
        return Subject::NONE;
    }
    let _evaluating = Evaluating::begin();
    hook::subject(expression)
}

/// Evaluates an identity that may be a part of another identity under evaluation.
pub fn identity(expression: impl FnOnce() -> Subject) -> Subject {
    match EVALUATING.get() {
        0 => subject(expression),
        DEEPEST.. => Subject::NONE,
        _ => {
            let _evaluating = Evaluating::begin();
            expression()
        }
    }
}

struct Evaluating;

impl Evaluating {
    fn begin() -> Self {
        EVALUATING.set(EVALUATING.get() + 1);
        Evaluating
    }
}

impl Drop for Evaluating {
    fn drop(&mut self) {
        EVALUATING.set(EVALUATING.get() - 1);
    }
}
