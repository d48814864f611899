//! Activations for parsers that report the begin and the end of a production separately to a
//! receiver of events.

use metaspy_core::hook::{Call, enter_with};
use metaspy_core::{Outcome, Site, Subject};

use super::activation::{ActivationEnd, input};

/// Open activations, the innermost last. Dropping the stack ends them as not matched.
///
/// ```
/// use metaspy::prelude::*;
/// use metaspy::productions::{ActivationEnd, ActivationStack};
///
/// const PAIR: fn() -> &'static metaspy::Site = || production!("pair");
/// let mut stack = ActivationStack::new();
/// for (at, letter) in "(())".char_indices() {
///     match letter {
///         '(' => stack.begin(PAIR(), at),
///         _ => stack.end(PAIR(), ActivationEnd::Matched, at + 1),
///     }
/// }
/// assert_eq!(stack.depth(), 0);
/// ```
#[derive(Debug)]
pub struct ActivationStack {
    subject: Subject,
    open: Vec<Open>,
}

struct Open {
    production: &'static Site,
    call: Call,
    at: usize,
}

impl Default for ActivationStack {
    fn default() -> Self {
        ActivationStack::new()
    }
}

impl ActivationStack {
    /// Creates an empty stack for the current input ([`with_input`](super::with_input)).
    pub fn new() -> Self {
        ActivationStack::about(input())
    }

    pub(crate) fn about(subject: Subject) -> Self {
        ActivationStack { subject, open: Vec::new() }
    }

    /// Begins an activation within the open activations.
    #[inline]
    pub fn begin(&mut self, production: &'static Site, at: usize) {
        let call = if production.is_armed() {
            enter_with(production, self.subject, |reify| reify.arg("at", &at))
        } else {
            Call::inert()
        };
        self.open.push(Open { production, call, at });
    }

    /// Ends the innermost activation of a production. `end` is the end of the consumed input.
    ///
    /// Open activations within it did not match. If the production has no open activation, nothing
    /// happens.
    #[inline]
    pub fn end(&mut self, production: &'static Site, ended: ActivationEnd, end: usize) {
        let is_it = |open: &Open| std::ptr::eq(open.production, production);
        let Some(place) = self.open.iter().rposition(is_it) else { return };
        self.break_off(place + 1);
        let Some(Open { mut call, at, .. }) = self.open.pop() else { return };
        match ended {
            ActivationEnd::Matched => call.returns(&(at..end)),
            ActivationEnd::Cut => call.returns(&format_args!("cut")),
            ActivationEnd::Backtracked | ActivationEnd::Incomplete => {}
        }
        call.done(ended.outcome());
    }

    /// Begins and ends an activation without nested activations.
    #[inline]
    pub fn leaf(&mut self, production: &'static Site, at: usize, ended: ActivationEnd, end: usize) {
        self.begin(production, at);
        self.end(production, ended, end);
    }

    /// Returns the number of open activations.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Ends all but the outermost `left` activations, from the innermost on.
    fn break_off(&mut self, left: usize) {
        while self.open.len() > left
            && let Some(Open { mut call, .. }) = self.open.pop()
        {
            call.exit(Outcome::Failed);
        }
    }
}

impl Drop for ActivationStack {
    fn drop(&mut self) {
        self.break_off(0);
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.production.path(), self.at)
    }
}
