//! How much of a call a hook sees.

use crate::source::functions::Function;
use crate::source::signature::Limit;

/// How much of a call a hook sees, and so what stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    /// That an async function was polled for the first time.
    Began,
    /// The polls of an async function and its end.
    Polled,
    /// That, and what it returns.
    PolledWhole,
    /// A call's beginning and end.
    Hook,
    /// That, and what it returns, of which no copy is kept as it may refer to something.
    WholeLent,
    /// That, and what it returns.
    Whole,
}

impl HookKind {
    /// What a function can take, at most, and why that is less than what is asked for.
    pub fn of(function: &Function, is_deep: bool) -> (HookKind, Option<&'static str>) {
        let is_deep = is_deep && !function.facts.is_closure;
        match (function.facts.is_async, function.signature.limit) {
            // The type of the future's value must be written down.
            (true, Some(limit @ (Limit::Opaque | Limit::Never))) => (HookKind::Began, Some(limit.reason())),
            (true, None) if is_deep => (HookKind::PolledWhole, None),
            (true, limit) => (HookKind::Polled, limit.filter(|_| is_deep).map(Limit::reason)),
            (false, None) if is_deep && function.signature.is_lent() => (HookKind::WholeLent, None),
            (false, None) if is_deep => (HookKind::Whole, None),
            (false, limit) => (HookKind::Hook, limit.filter(|_| is_deep).map(Limit::reason)),
        }
    }

    /// What is tried where the compiler refuses this; whether it finds that something does not live long enough.
    pub fn below(self, is_about_lifetimes: bool) -> Option<HookKind> {
        match self {
            HookKind::Whole if is_about_lifetimes => Some(HookKind::WholeLent),
            HookKind::Whole | HookKind::WholeLent => Some(HookKind::Hook),
            HookKind::PolledWhole => Some(HookKind::Polled),
            HookKind::Polled => Some(HookKind::Began),
            HookKind::Hook | HookKind::Began => None,
        }
    }

    /// Whether it sees what is returned.
    pub fn is_deep(self) -> bool {
        matches!(self, HookKind::Whole | HookKind::WholeLent | HookKind::PolledWhole)
    }

    /// Whether it stands around the body.
    pub(super) fn is_around(self) -> bool {
        matches!(self, HookKind::Whole | HookKind::WholeLent | HookKind::PolledWhole | HookKind::Polled)
    }

    /// The macro's name.
    pub(super) fn word(self) -> &'static str {
        match self {
            HookKind::Began => "began",
            HookKind::Polled => "polled",
            HookKind::PolledWhole => "polled_whole",
            HookKind::Hook => "hook",
            HookKind::Whole | HookKind::WholeLent => "whole",
        }
    }
}
