//! `Spied<T>`, which is a `T`.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::{Identify, Subject};

/// A `T`, with its size and layout. With the feature `record` it has an identity that survives moves.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Spied<T>(T);

impl<T> Spied<T> {
    /// Wraps a value.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Spied(value)
    }

    /// The value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0
    }

    /// CallInstrumenter something on the value, under a name.
    #[inline(always)]
    pub fn call<R>(&self, _name: &'static str, f: impl FnOnce(&T) -> R) -> R {
        f(&self.0)
    }

    /// CallInstrumenter something that changes the value, under a name.
    #[inline(always)]
    pub fn call_mut<R>(&mut self, _name: &'static str, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0)
    }
}

impl<T> Identify for Spied<T> {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject::NONE
    }
}

impl<T> Deref for Spied<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Spied<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> AsRef<T> for Spied<T> {
    #[inline(always)]
    fn as_ref(&self) -> &T {
        &self.0
    }
}

impl<T> AsMut<T> for Spied<T> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Spied<T> {
    #[inline(always)]
    fn from(value: T) -> Self {
        Spied(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Spied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Spied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
