//! What is known of a lock: its sites, and whose it is.

use std::panic::Location;

use metaspy_core::hook::Held;
use metaspy_core::{Identify, ObjectId, Outcome, Site, SiteKind, Subject};

use crate::__private::{Frame, Guard, enter};
use crate::dynamic_sites;

/// The two sites of a lock, and what its events are about.
#[derive(Debug)]
pub(super) struct Watch {
    wait: &'static Site,
    hold: &'static Site,
    about: About,
}

#[derive(Debug)]
enum About {
    Itself(ObjectId),
    Owner(Subject),
}

impl Watch {
    /// Of a lock that threads wait for. The name says the type and the field: `Scene::cache`.
    pub fn named(name: &'static str, at: &'static Location<'static>) -> Self {
        Self::waiting(SiteKind::State, name, at)
    }

    /// Of a lock that tasks wait for.
    #[cfg(feature = "tokio")]
    pub fn of_tasks(name: &'static str, at: &'static Location<'static>) -> Self {
        Self::waiting(SiteKind::Async, name, at)
    }

    fn waiting(kind: SiteKind, name: &'static str, at: &'static Location<'static>) -> Self {
        let site = |kind, what| dynamic_sites::site(kind, "", format!("{name}::{what}"), at);
        let about = About::Itself(ObjectId::new());
        Watch { wait: site(kind, "wait"), hold: site(SiteKind::Hold, "hold"), about }
    }

    pub fn own(&mut self, owner: Subject) {
        self.about = About::Owner(owner);
    }

    pub fn subject(&self) -> Subject {
        match &self.about {
            About::Itself(id) => id.identify(),
            About::Owner(owner) => *owner,
        }
    }

    /// Waits for something that is had in the end.
    #[inline(always)]
    pub fn wait<R>(&self, wait: impl FnOnce() -> R) -> R {
        if !self.wait.is_armed() { wait() } else { self.wait_observed(wait) }
    }

    #[cold]
    #[inline(never)]
    fn wait_observed<R>(&self, wait: impl FnOnce() -> R) -> R {
        let mut frame = Frame::vacant();
        let call = Guard::of(enter::<Self>(&mut frame, self.wait, self.subject()));
        let value = wait();
        call.done(Outcome::Returned);
        value
    }

    /// Asks for something that may not be had.
    #[inline]
    pub fn ask<R, E>(&self, ask: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        if !self.wait.is_armed() {
            return ask();
        }
        let mut frame = Frame::vacant();
        let call = Guard::of(enter::<Self>(&mut frame, self.wait, self.subject()));
        let value = ask();
        call.done(if value.is_ok() { Outcome::Succeeded } else { Outcome::Failed });
        value
    }

    /// Waits for something without a thread.
    #[cfg(feature = "tokio")]
    pub async fn waited<F: Future>(&self, future: F) -> F::Output {
        let mut call = metaspy_core::hook::AsyncCall::new(self.wait);
        let mut future = std::pin::pin!(future);
        let poll = std::future::poll_fn(|context| {
            call.poll(|| self.subject(), || future.as_mut().poll(context), |_, _| Outcome::Returned)
        });
        poll.await
    }

    /// It is held from now on.
    #[inline(always)]
    pub fn hold(&self) -> Held {
        if self.hold.is_armed() { Held::begin(self.hold, self.subject(), |_| ()) } else { Held::inert() }
    }
}

/// Gives a wrapper of a lock its name, its owner and its identity.
macro_rules! watched {
    ($lock:ident<$value:ident>, $inner:ident: $original:path, $named:ident) => {
        impl<$value> $lock<$value> {
            /// A lock with a name: that of the type and the field that it is, `Scene::cache`.
            #[track_caller]
            pub fn new(name: &'static str, value: $value) -> Self {
                $lock {
                    watch: $crate::locks::watch::Watch::$named(name, std::panic::Location::caller()),
                    $inner: <$original>::new(value),
                }
            }

            /// Says whose lock it is.
            #[must_use = "it is the lock returned that knows its owner"]
            pub fn owned_by(mut self, owner: impl metaspy_core::Identify) -> Self {
                self.watch.own(owner.identify());
                self
            }
        }

        impl<$value: ?Sized> metaspy_core::Identify for $lock<$value> {
            fn identify(&self) -> metaspy_core::Subject {
                self.watch.subject()
            }
        }
    };
}
pub(super) use watched;

/// A guard that is what it guards.
macro_rules! guards {
    ($guard:ident, mut) => {
        guards!($guard);

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
pub(super) use guards;
