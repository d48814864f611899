//! The kinds of hooks, by the parts of a call that they see.

use crate::source::functions::Function;
use crate::source::signature::Limit;

/// A kind of hook: the parts of a call that it sees, and so the macro in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    /// That a call begins, and nothing else of it.
    Entry,
    /// That a call begins, and on which object.
    Covered,
    /// That a call begins, and in which calling context.
    Context,
    /// The first poll of an async function.
    Began,
    /// The polls of an async function and its end.
    Polled,
    /// Also the return value.
    PolledWhole,
    /// A call's beginning and end.
    Hook,
    /// Also the return value. No copy is kept, because it may contain a reference.
    WholeLent,
    /// Also the return value.
    Whole,
}

impl HookKind {
    /// The largest hook that a function can have, and the reason if that is less than requested.
    pub fn of(function: &Function, is_deep: bool) -> (HookKind, Option<&'static str>) {
        let is_deep = is_deep && !function.facts.is_closure;
        match (function.facts.is_async, function.signature.limit) {
            // The hook contains the type of the future's value.
            (true, Some(limit @ (Limit::Opaque | Limit::Never))) => {
                (HookKind::Began, Some(limit.reason()))
            }
            (true, None) if is_deep => (HookKind::PolledWhole, None),
            (true, limit) => (HookKind::Polled, limit.filter(|_| is_deep).map(Limit::reason)),
            (false, None) if is_deep && function.signature.is_lent() => (HookKind::WholeLent, None),
            (false, None) if is_deep => (HookKind::Whole, None),
            (false, limit) => (HookKind::Hook, limit.filter(|_| is_deep).map(Limit::reason)),
        }
    }

    /// The next smaller hook, for one that the compiler refuses; `is_about_lifetimes` is true if a
    /// value does not live long enough.
    pub fn below(self, is_about_lifetimes: bool) -> Option<HookKind> {
        match self {
            HookKind::Whole if is_about_lifetimes => Some(HookKind::WholeLent),
            HookKind::Whole | HookKind::WholeLent => Some(HookKind::Hook),
            HookKind::PolledWhole => Some(HookKind::Polled),
            HookKind::Polled => Some(HookKind::Began),
            HookKind::Hook
            | HookKind::Began
            | HookKind::Context
            | HookKind::Covered
            | HookKind::Entry => None,
        }
    }

    /// True if it sees nothing of a call but its beginning.
    pub(super) fn is_entry(self) -> bool {
        matches!(self, HookKind::Entry | HookKind::Covered | HookKind::Context)
    }

    /// Returns true if it sees return values.
    pub fn is_deep(self) -> bool {
        matches!(self, HookKind::Whole | HookKind::WholeLent | HookKind::PolledWhole)
    }

    /// True if it is around the body.
    pub(super) fn is_around(self) -> bool {
        matches!(
            self,
            HookKind::Whole | HookKind::WholeLent | HookKind::PolledWhole | HookKind::Polled
        )
    }

    /// The macro's name.
    pub(super) fn word(self) -> &'static str {
        match self {
            HookKind::Entry => "entry",
            HookKind::Covered => "covered",
            HookKind::Context => "context",
            HookKind::Began => "began",
            HookKind::Polled => "polled",
            HookKind::PolledWhole => "polled_whole",
            HookKind::Hook => "hook",
            HookKind::Whole | HookKind::WholeLent => "whole",
        }
    }
}
