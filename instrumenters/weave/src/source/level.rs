//! How much of a call a hook sees.

use crate::source::functions::Function;
use crate::source::shape::Limit;

/// How much of a call a hook sees, and so what stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
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

impl Level {
    /// What a function can take, at most, and why that is less than what is asked for.
    pub fn of(function: &Function, is_deep: bool) -> (Level, Option<&'static str>) {
        let is_deep = is_deep && !function.facts.is_closure;
        match (function.facts.is_async, function.shape.limit) {
            // The type of the future's value must be written down.
            (true, Some(limit @ (Limit::Opaque | Limit::Never))) => (Level::Began, Some(limit.reason())),
            (true, None) if is_deep => (Level::PolledWhole, None),
            (true, limit) => (Level::Polled, limit.filter(|_| is_deep).map(Limit::reason)),
            (false, None) if is_deep && function.shape.is_lent() => (Level::WholeLent, None),
            (false, None) if is_deep => (Level::Whole, None),
            (false, limit) => (Level::Hook, limit.filter(|_| is_deep).map(Limit::reason)),
        }
    }

    /// What is tried where the compiler refuses this; whether it finds that something does not live long enough.
    pub fn below(self, is_about_lifetimes: bool) -> Option<Level> {
        match self {
            Level::Whole if is_about_lifetimes => Some(Level::WholeLent),
            Level::Whole | Level::WholeLent => Some(Level::Hook),
            Level::PolledWhole => Some(Level::Polled),
            Level::Polled => Some(Level::Began),
            Level::Hook | Level::Began => None,
        }
    }

    /// Whether it sees what is returned.
    pub fn is_deep(self) -> bool {
        matches!(self, Level::Whole | Level::WholeLent | Level::PolledWhole)
    }

    /// Whether it stands around the body.
    pub(super) fn is_around(self) -> bool {
        matches!(self, Level::Whole | Level::WholeLent | Level::PolledWhole | Level::Polled)
    }

    /// The macro's name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Level::Began => "began",
            Level::Polled => "polled",
            Level::PolledWhole => "polled_whole",
            Level::Hook => "hook",
            Level::Whole | Level::WholeLent => "whole",
        }
    }
}
