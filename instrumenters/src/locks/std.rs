//! Observed locks of the standard library.

use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use metaspy_core::hook::Resource;

use super::observed_lock::{LockSites, guard_impls, observed_guard, observed_lock};

observed_lock!(Mutex, LockSites::for_threads, LockResult);
observed_lock!(RwLock, LockSites::for_threads, LockResult);

observed_guard!(RwLockReadGuard of RwLock);
observed_guard!(RwLockWriteGuard of RwLock, mut);

/// Guard of a [`Mutex`].
#[must_use = "the lock is released when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    // This field is dropped first, so the lock is free before metaspy records the release.
    guard: sync::MutexGuard<'a, T>,
    _held: Resource,
    // A condition variable needs the sites, because it releases the mutex and takes it again.
    sites: &'a LockSites,
}

guard_impls!(MutexGuard, mut);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    fn new(guard: sync::MutexGuard<'a, T>, sites: &'a LockSites) -> Self {
        MutexGuard { guard, _held: sites.hold(), sites }
    }

    /// Ends the hold, and returns the original guard.
    pub(super) fn release(self) -> (sync::MutexGuard<'a, T>, &'a LockSites) {
        (self.guard, self.sites)
    }

    /// Begins another hold of a mutex that was released.
    pub(super) fn again(
        sites: &'a LockSites,
        locked: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        held(locked, |guard| MutexGuard::new(guard, sites))
    }
}

/// Generates a method that waits for a lock, and a method that tries to take it.
macro_rules! takes {
    ($lock:ident: $wait:ident, $try:ident -> $guard:ident) => {
        impl<T: ?Sized> $lock<T> {
            /// Waits for the lock, like the original method.
            #[inline]
            pub fn $wait(&self) -> LockResult<$guard<'_, T>> {
                let locked = self.sites.wait(|| self.lock.$wait());
                held(locked, |guard| $guard::new(guard, &self.sites))
            }

            /// Tries to take the lock, like the original method.
            #[inline]
            pub fn $try(&self) -> TryLockResult<$guard<'_, T>> {
                // A poisoned lock is taken. Only a lock that is not free is a failure.
                let attempt = self.sites.attempt(|| match self.lock.$try() {
                    Ok(guard) => Ok(Ok(guard)),
                    Err(TryLockError::Poisoned(poisoned)) => Ok(Err(poisoned)),
                    Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                });
                held(attempt?, |guard| $guard::new(guard, &self.sites))
                    .map_err(TryLockError::Poisoned)
            }
        }
    };
}

takes!(Mutex: lock, try_lock -> MutexGuard);
takes!(RwLock: read, try_read -> RwLockReadGuard);
takes!(RwLock: write, try_write -> RwLockWriteGuard);

/// Generates methods for poisoned locks, whose holder has panicked.
macro_rules! poison {
    ($($lock:ident),*) => {$(
        impl<T: ?Sized> $lock<T> {
            /// Returns true if a holder of the lock has panicked.
            pub fn is_poisoned(&self) -> bool {
                self.lock.is_poisoned()
            }

            /// Removes the poison of the lock.
            pub fn clear_poison(&self) {
                self.lock.clear_poison();
            }
        }
    )*};
}

poison!(Mutex, RwLock);

/// Begins a hold, and keeps the poison.
#[inline(always)]
fn held<G, H>(locked: LockResult<G>, hold: impl FnOnce(G) -> H) -> LockResult<H> {
    match locked {
        Ok(guard) => Ok(hold(guard)),
        Err(poisoned) => Err(PoisonError::new(hold(poisoned.into_inner()))),
    }
}
