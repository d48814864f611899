//! There are no events, so there are no causes, labels and relations.

use crate::Identify;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventId {}

#[inline(always)]
pub fn current() -> Option<EventId> {
    None
}

#[inline(always)]
#[must_use = "the cause is named until the guard is dropped"]
pub fn because(cause: EventId) -> Because {
    match cause {}
}

#[derive(Debug)]
pub struct Because(());

#[inline(always)]
pub fn link(effect: EventId, _cause: EventId) -> bool {
    match effect {}
}

#[inline(always)]
pub fn label<T>(_subject: impl Identify, _text: T) {}

#[inline(always)]
pub fn relate<T>(_name: T, _from: impl Identify, _to: impl Identify) {}

#[inline(always)]
pub fn unrelate<T>(_name: T, _from: impl Identify, _to: impl Identify) {}

#[inline(always)]
pub fn forget(_subject: impl Identify) {}
