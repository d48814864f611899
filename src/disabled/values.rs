//! `Spied<T>` and `Watched<T>`, which are a `T` in size and layout, and `Lookups`, which is
//! nothing.

use core::fmt;
use core::ops::{Deref, DerefMut};

use super::identity::identify;
use crate::Identify;

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Spied<T>(T);

impl<T> Spied<T> {
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Spied(value)
    }

    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0
    }

    #[inline(always)]
    pub fn call<R>(&self, _name: &'static str, f: impl FnOnce(&T) -> R) -> R {
        f(&self.0)
    }

    #[inline(always)]
    pub fn call_mut<R>(&mut self, _name: &'static str, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0)
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

#[derive(Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct Watched<T>(T);

impl<T> Watched<T> {
    #[inline(always)]
    pub fn new(_name: &'static str, value: T) -> Self {
        Watched(value)
    }

    #[inline(always)]
    #[must_use = "the owner belongs to the value that is returned"]
    pub fn owned_by(self, _owner: impl Identify) -> Self {
        self
    }

    #[inline(always)]
    pub fn get(&self) -> &T {
        &self.0
    }

    #[inline(always)]
    pub fn set(&mut self, value: T) -> T {
        core::mem::replace(&mut self.0, value)
    }

    #[inline(always)]
    pub fn update<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.0)
    }

    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0
    }
}

#[derive(Debug)]
pub struct Lookups;

impl Lookups {
    #[inline(always)]
    pub fn new(_name: &'static str) -> Self {
        Lookups
    }

    #[inline(always)]
    pub fn look_up<V>(
        &self,
        _key: impl Identify,
        look_up: impl FnOnce() -> Option<V>,
    ) -> Option<V> {
        look_up()
    }

    #[inline(always)]
    pub fn fill<V>(&self, _key: impl Identify, make: impl FnOnce() -> V) -> V {
        make()
    }
}

identify!({T} Spied<T>, {T} Watched<T>, Lookups);

/// The values are shown, not their wrappers.
macro_rules! shown {
    ($($wrapper:ident: $format:ident),*) => {$(
        impl<T: fmt::$format> fmt::$format for $wrapper<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

shown!(Spied: Debug, Spied: Display, Watched: Debug);
