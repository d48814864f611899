//! Runs the user's expression for the subject of a call.

use std::cell::Cell;

use metaspy_core::{Subject, hook};

thread_local! {
    static EVALUATING: Cell<bool> = const { Cell::new(false) };
}

/// Evaluates the subject of a call. A panic in the expression is caught, and the call has no subject.
///
/// The expression may call observed functions. Their hooks do not evaluate subjects in turn, because that might never end:
/// these calls have no subject, and are marked as meta.
pub fn subject(expression: impl FnOnce() -> Subject) -> Subject {
    // A thread that is ending has no flag to set.
    if EVALUATING.try_with(|evaluating| evaluating.replace(true)).unwrap_or(true) {
        return Subject::NONE;
    }
    let subject = hook::subject(expression);
    let _ = EVALUATING.try_with(|evaluating| evaluating.set(false));
    subject
}
