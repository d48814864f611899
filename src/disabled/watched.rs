//! `Watched<T>`, which is a `T`.

use core::fmt;

use crate::{Identify, Subject};

/// A `T`, with its size and layout. With the feature `record` its reads and writes are events.
#[derive(Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct Watched<T>(T);

impl<T> Watched<T> {
    /// Watches a value under a name.
    #[inline(always)]
    pub fn new(_name: &'static str, value: T) -> Self {
        Watched(value)
    }

    /// Says whose state it is.
    #[inline(always)]
    #[must_use = "it is the value returned that knows its owner"]
    pub fn owned_by(self, _owner: impl Identify) -> Self {
        self
    }

    /// Reads the value.
    #[inline(always)]
    pub fn get(&self) -> &T {
        &self.0
    }

    /// Writes the value, and hands back the old one.
    #[inline(always)]
    pub fn set(&mut self, value: T) -> T {
        core::mem::replace(&mut self.0, value)
    }

    /// Changes the value in place.
    #[inline(always)]
    pub fn update<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.0)
    }

    /// The value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Identify for Watched<T> {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject::NONE
    }
}

impl<T: fmt::Debug> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
