//! Asking the domain whom a call is about.

use std::cell::Cell;

use metaspy_core::{Subject, hook};

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs an expression that says whom a call is about. A panic in it is caught, and the call is about nobody.
///
/// A hook asks before it enters, and the expression may call observed methods: their hooks do not ask in turn, or it
/// would never end. What they record is marked as meta, and about nobody.
pub fn subject(expression: impl FnOnce() -> Subject) -> Subject {
    // A thread that is ending has no flag to set, and asks nobody.
    if ASKING.try_with(|asking| asking.replace(true)).unwrap_or(true) {
        return Subject::NONE;
    }
    let subject = hook::subject(expression);
    let _ = ASKING.try_with(|asking| asking.set(false));
    subject
}
