//! `Watched<T>`: a field whose reads and writes are events.

use std::fmt;
use std::panic::Location;

use metaspy_core::hook::{self, Call};
use metaspy_core::site::{Site, SiteKind};
use metaspy_core::{Identify, ObjectId, Outcome, Subject};

use crate::dynamic_sites;

/// Value whose reads and writes are events, at the sites `name::read` and `name::write`.
///
/// The name is the path of the field. The subject of the events is the value itself, or an owner
/// that is set. A clone is another value of the same owner. Without the feature `record`,
/// `Watched<T>` is a `T`.
///
/// ```
/// use metaspy::prelude::*;
///
/// let mut width = Watched::new("Scene::width", 80);
/// let ((), profile) = Profiler::new("fields").observe(methods("Scene::width::*")).profile(|| {
///     let old = *width.get();
///     width.set(old + 1);
/// })?;
/// assert_eq!(profile.counts().total(), 2); // a read, and a write
/// # Ok::<(), InstallError>(())
/// ```
pub struct Watched<T> {
    value: T,
    read: &'static Site,
    write: &'static Site,
    about: About,
}

enum About {
    Itself(ObjectId),
    Owner(Subject),
}

impl<T> Watched<T> {
    /// Wraps a value under a name.
    #[track_caller]
    pub fn new(name: &'static str, value: T) -> Self {
        let at = Location::caller();
        let site =
            |access| dynamic_sites::site(SiteKind::State, "", format!("{name}::{access}"), at);
        Watched {
            value,
            read: site("read"),
            write: site("write"),
            about: About::Itself(ObjectId::of::<T>()),
        }
    }

    /// Makes `owner` the subject of the events.
    #[must_use = "the owner belongs to the value that is returned"]
    pub fn owned_by(mut self, owner: impl Identify) -> Self {
        self.about = About::Owner(owner.identify());
        self
    }

    /// Reads the value.
    #[inline]
    pub fn get(&self) -> &T {
        self.record(self.read);
        &self.value
    }

    /// Writes the value, and returns the old value.
    #[inline]
    pub fn set(&mut self, value: T) -> T {
        self.record(self.write);
        std::mem::replace(&mut self.value, value)
    }

    /// Changes the value in place, as a write with a duration and effects.
    #[inline]
    pub fn update<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        let call = if self.write.is_armed() {
            hook::enter(self.write, self.identify())
        } else {
            Call::inert()
        };
        let value = change(&mut self.value);
        call.done(Outcome::Returned);
        value
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value
    }

    #[inline]
    fn record(&self, site: &'static Site) {
        if site.is_armed() {
            hook::instant(site, self.identify());
        }
    }
}

impl<T> Identify for Watched<T> {
    fn identify(&self) -> Subject {
        match &self.about {
            About::Itself(id) => id.identify(),
            About::Owner(owner) => *owner,
        }
    }
}

/// A clone is another value of the same owner.
impl<T: Clone> Clone for Watched<T> {
    fn clone(&self) -> Self {
        let about = match &self.about {
            About::Itself(id) => About::Itself(id.clone()),
            About::Owner(owner) => About::Owner(*owner),
        };
        Watched { value: self.value.clone(), about, ..*self }
    }
}

impl<T: fmt::Debug> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Watched<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Watched<T> {}
