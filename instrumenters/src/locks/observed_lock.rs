//! Sites and subject that every observed lock has, and the macros that define locks and guards.

use std::panic::Location;

use metaspy_core::hook::Resource;
use metaspy_core::{Identify, ObjectId, Outcome, Site, SiteKind, Subject};

use crate::__private::{Frame, Guard, Unwinding, enter};
use crate::dynamic_sites;

/// Two sites of a lock, and the subject of its events.
#[derive(Debug)]
pub(super) struct LockSites {
    wait: &'static Site,
    hold: &'static Site,
    about: About,
}

#[derive(Debug)]
enum About {
    Itself(ObjectId),
    Owner(Subject),
}

impl LockSites {
    /// Returns the sites of a lock of type `L` that blocks threads. The name is the path of its
    /// field: `Scene::cache`.
    pub fn for_threads<L>(name: &'static str, at: &'static Location<'static>) -> Self {
        Self::new::<L>(SiteKind::State, name, at)
    }

    /// Returns the sites of a lock of type `L` that suspends tasks.
    #[cfg(feature = "tokio")]
    pub fn for_tasks<L>(name: &'static str, at: &'static Location<'static>) -> Self {
        Self::new::<L>(SiteKind::Async, name, at)
    }

    fn new<L>(kind: SiteKind, name: &'static str, at: &'static Location<'static>) -> Self {
        let site = |kind, what| dynamic_sites::site(kind, "", format!("{name}::{what}"), at);
        let about = About::Itself(ObjectId::of::<L>());
        LockSites { wait: site(kind, "wait"), hold: site(SiteKind::Hold, "hold"), about }
    }

    pub fn set_owner(&mut self, owner: Subject) {
        self.about = About::Owner(owner);
    }

    pub fn subject(&self) -> Subject {
        match &self.about {
            About::Itself(id) => id.identify(),
            About::Owner(owner) => *owner,
        }
    }

    /// Records a wait that always ends with the lock.
    #[inline(always)]
    pub fn wait<R>(&self, wait: impl FnOnce() -> R) -> R {
        if self.wait.is_armed() { self.wait_recorded(wait) } else { wait() }
    }

    #[cold]
    #[inline(never)]
    fn wait_recorded<R>(&self, wait: impl FnOnce() -> R) -> R {
        let mut frame = Frame::vacant();
        let call =
            Guard::of(self.wait, enter(Unwinding::now(), &mut frame, self.wait, self.subject()));
        let value = wait();
        call.done(Outcome::Returned);
        value
    }

    /// Records an attempt, which fails if the lock is not free.
    #[inline]
    pub fn attempt<R, E>(&self, attempt: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        if !self.wait.is_armed() {
            return attempt();
        }
        let mut frame = Frame::vacant();
        let call =
            Guard::of(self.wait, enter(Unwinding::now(), &mut frame, self.wait, self.subject()));
        let value = attempt();
        call.done(if value.is_ok() { Outcome::Succeeded } else { Outcome::Failed });
        value
    }

    /// Records a wait of a task.
    #[cfg(feature = "tokio")]
    pub async fn wait_async<F: Future>(&self, future: F) -> F::Output {
        let mut call = metaspy_core::hook::AsyncCall::new(self.wait);
        let mut future = std::pin::pin!(future);
        let poll = std::future::poll_fn(|context| {
            call.poll(|| self.subject(), || future.as_mut().poll(context), |_, _| Outcome::Returned)
        });
        poll.await
    }

    /// Begins to record that the lock is held.
    #[inline(always)]
    pub fn hold(&self) -> Resource {
        if self.hold.is_armed() {
            Resource::begin(self.hold, self.subject(), |_| ())
        } else {
            Resource::inert()
        }
    }
}

/// Generates a lock around the lock of the same name in `sync`, with the methods that all locks
/// have. `$result` is the type in which the original returns its value.
macro_rules! observed_lock {
    ($lock:ident, LockSites::$sites:ident, $result:ident) => {
        #[doc = concat!("A [`sync::", stringify!($lock), "`]. Waits and holds are events.")]
        pub struct $lock<T: ?Sized> {
            sites: LockSites,
            lock: sync::$lock<T>,
        }

        impl<T> $lock<T> {
            /// Creates a lock with a name, the path of its field: `Scene::cache`.
            #[track_caller]
            pub fn new(name: &'static str, value: T) -> Self {
                let sites =
                    LockSites::$sites::<sync::$lock<T>>(name, std::panic::Location::caller());
                $lock { sites, lock: sync::$lock::new(value) }
            }

            /// Makes `owner` the subject of the lock's events.
            #[must_use = "the owner belongs to the lock that is returned"]
            pub fn owned_by(mut self, owner: impl metaspy_core::Identify) -> Self {
                self.sites.set_owner(owner.identify());
                self
            }

            /// Returns the value, like the original lock.
            pub fn into_inner(self) -> $result<T> {
                self.lock.into_inner()
            }
        }

        impl<T: ?Sized> $lock<T> {
            /// Returns a mutable reference to the value without locking, like the original lock.
            pub fn get_mut(&mut self) -> $result<&mut T> {
                self.lock.get_mut()
            }
        }

        impl<T: ?Sized> metaspy_core::Identify for $lock<T> {
            fn identify(&self) -> metaspy_core::Subject {
                self.sites.subject()
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.lock.fmt(f)
            }
        }
    };
}
pub(super) use observed_lock;

/// Generates the guard of a lock.
macro_rules! observed_guard {
    ($guard:ident of $lock:ident $(, $mut:ident)?) => {
        #[doc = concat!("The guard of a [`", stringify!($lock), "`].")]
        #[must_use = "the lock is released when this is dropped"]
        pub struct $guard<'a, T: ?Sized> {
            // This field is dropped first, so the lock is free before metaspy records the release.
            guard: sync::$guard<'a, T>,
            _held: Resource,
        }

        impl<'a, T: ?Sized> $guard<'a, T> {
            fn new(guard: sync::$guard<'a, T>, sites: &'a LockSites) -> Self {
                $guard { guard, _held: sites.hold() }
            }
        }

        guard_impls!($guard $(, $mut)?);
    };
}
pub(super) use observed_guard;

/// Implements access to the value through a guard, and its `Debug`.
macro_rules! guard_impls {
    ($guard:ident, mut) => {
        guard_impls!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.guard
            }
        }
    };
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.guard
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
pub(super) use guard_impls;
