//! `Spied<T>`: an object with an identity that survives moves.
//!
//! The value is in a box and does not move. Its address then belongs to the object while it lives,
//! and observed methods find the identity by it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use metaspy_core::hook::{self, Call, RegisteredIdentity};
use metaspy_core::{Identify, ObjectId, Outcome, Site, Subject};

use crate::dynamic_sites;

/// Value with an identity that survives moves.
///
/// The identity is the subject of all observed methods (`#[observe]`) of the value. If the type has
/// no hooks, call it through [`Spied::call`]; a call through [`Deref`] is not observed then.
///
/// A clone is another object. Dropping it, or taking the value out, ends the subject. Without the
/// feature `record`, `Spied<T>` is a `T`.
///
/// ```
/// use metaspy::prelude::*;
///
/// let mut names = Spied::new(vec!["b", "a"]);
/// let profiler = Profiler::new("sorting").observe(objects([&names], names.site("sort"))).install()?;
/// names.call_mut("sort", |names| names.sort());
/// let profile = profiler.uninstall();
/// assert_eq!(profile.count_of(&names), 1);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
pub struct Spied<T> {
    // This field is dropped first, so the identity ends before the value is dropped.
    resident: RegisteredIdentity,
    home: Box<Home<T>>,
}

/// Value in its box, whose address belongs to it for as long as it lives.
#[repr(C)]
struct Home<T> {
    value: T,
    /// Byte that gives an address to values without a size.
    _own: u8,
}

impl<T> Spied<T> {
    /// Wraps a value, and gives it an identity.
    pub fn new(value: T) -> Self {
        let home = Box::new(Home { value, _own: 0 });
        Spied { resident: RegisteredIdentity::new(&home.value, ObjectId::of::<T>()), home }
    }

    /// Returns the value, and ends the identity.
    pub fn into_inner(self) -> T {
        let Spied { resident, home } = self;
        drop(resident);
        home.value
    }

    /// Runs `f` on the value as a call with a name, the last segment of the site's path, after the
    /// type.
    #[track_caller]
    pub fn call<R>(&self, name: &'static str, f: impl FnOnce(&T) -> R) -> R {
        let call = self.enter(name, Location::caller());
        let value = f(&self.home.value);
        call.done(Outcome::Returned);
        value
    }

    /// Runs `f` on the value as a call with a name, and lets it change the value.
    #[track_caller]
    pub fn call_mut<R>(&mut self, name: &'static str, f: impl FnOnce(&mut T) -> R) -> R {
        let call = self.enter(name, Location::caller());
        let value = f(&mut self.home.value);
        call.done(Outcome::Returned);
        value
    }

    /// Registers the site of the calls with this name on values of this type, and returns it.
    #[track_caller]
    pub fn site(&self, name: &'static str) -> &'static Site {
        dynamic_sites::for_calls::<T>(name, Location::caller())
    }

    #[inline]
    fn enter(&self, name: &'static str, at: &'static Location<'static>) -> Call {
        let site = dynamic_sites::for_calls::<T>(name, at);
        if site.is_armed() { hook::enter(site, self.identify()) } else { Call::inert() }
    }
}

impl<T> Identify for Spied<T> {
    #[inline]
    fn identify(&self) -> Subject {
        self.resident.id().identify()
    }
}

impl<T> Deref for Spied<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.home.value
    }
}

impl<T> DerefMut for Spied<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.home.value
    }
}

impl<T> AsRef<T> for Spied<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T> AsMut<T> for Spied<T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T> From<T> for Spied<T> {
    fn from(value: T) -> Self {
        Spied::new(value)
    }
}

impl<T: Default> Default for Spied<T> {
    fn default() -> Self {
        Spied::new(T::default())
    }
}

/// A clone is another object, with a separate identity.
impl<T: Clone> Clone for Spied<T> {
    fn clone(&self) -> Self {
        Spied::new(T::clone(self))
    }
}

impl<T: fmt::Debug> fmt::Debug for Spied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: fmt::Display> fmt::Display for Spied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// Values are compared, but identities are not.
impl<T: PartialEq> PartialEq for Spied<T> {
    fn eq(&self, other: &Self) -> bool {
        T::eq(self, other)
    }
}

impl<T: Eq> Eq for Spied<T> {}

impl<T: PartialOrd> PartialOrd for Spied<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        T::partial_cmp(self, other)
    }
}

impl<T: Ord> Ord for Spied<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        T::cmp(self, other)
    }
}

impl<T: Hash> Hash for Spied<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        T::hash(self, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_moves_and_a_clone_has_its_own() {
        let spied = Spied::new(7);
        let identity = spied.identify();
        let moved = [spied];
        assert_eq!(moved[0].identify(), identity);
        assert_ne!(moved[0].clone().identify(), identity);
        assert_eq!(moved[0].clone(), moved[0]);
    }

    #[test]
    fn values_without_a_size_have_different_identities() {
        assert_ne!(Spied::new(()).identify(), Spied::new(()).identify());
    }
}
