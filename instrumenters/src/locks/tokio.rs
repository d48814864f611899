//! Observed locks of tokio, for which tasks wait.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use metaspy_core::hook::Resource;
use metaspy_core::{Identify, Subject};
use tokio::sync::{self, AcquireError, TryAcquireError, TryLockError};

use super::observed_lock::{LockSites, guard_impls, observed_guard, observed_lock};

/// Result type of tokio's locks, which return their values directly.
type Itself<T> = T;

observed_lock!(Mutex, LockSites::for_tasks, Itself);
observed_lock!(RwLock, LockSites::for_tasks, Itself);

observed_guard!(MutexGuard of Mutex, mut);
observed_guard!(RwLockReadGuard of RwLock);
observed_guard!(RwLockWriteGuard of RwLock, mut);

/// Generates a method that waits for a lock, and a method that tries to take it.
macro_rules! takes {
    ($lock:ident: $wait:ident, $try:ident -> $guard:ident) => {
        impl<T: ?Sized> $lock<T> {
            /// Waits for the lock, like tokio's method.
            pub async fn $wait(&self) -> $guard<'_, T> {
                $guard::new(self.sites.wait_async(self.lock.$wait()).await, &self.sites)
            }

            /// Tries to take the lock, like tokio's method.
            pub fn $try(&self) -> Result<$guard<'_, T>, TryLockError> {
                Ok($guard::new(self.sites.attempt(|| self.lock.$try())?, &self.sites))
            }
        }
    };
}

takes!(Mutex: lock, try_lock -> MutexGuard);
takes!(RwLock: read, try_read -> RwLockReadGuard);
takes!(RwLock: write, try_write -> RwLockWriteGuard);

impl<T: ?Sized> Mutex<T> {
    /// Blocks the thread until the lock is free, like tokio's method.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        MutexGuard::new(self.sites.wait(|| self.lock.blocking_lock()), &self.sites)
    }
}

/// Semaphore whose waits and holds are events; see [`sync::Semaphore`].
pub struct Semaphore {
    sites: LockSites,
    permits: Arc<sync::Semaphore>,
}

/// Permits of a [`Semaphore`].
#[derive(Debug)]
#[must_use = "the permits are returned when this is dropped"]
pub struct SemaphorePermit<'a> {
    permit: sync::SemaphorePermit<'a>,
    _held: Resource,
}

/// Permits of a [`Semaphore`] in an `Arc`.
#[derive(Debug)]
#[must_use = "the permits are returned when this is dropped"]
pub struct OwnedSemaphorePermit {
    permit: sync::OwnedSemaphorePermit,
    _held: Resource,
}

impl Semaphore {
    /// Creates a semaphore with a name, the path of its field, and a number of permits.
    #[track_caller]
    pub fn new(name: &'static str, permits: usize) -> Self {
        Semaphore {
            sites: LockSites::for_tasks::<sync::Semaphore>(name, Location::caller()),
            permits: Arc::new(sync::Semaphore::new(permits)),
        }
    }

    /// Makes `owner` the subject of the semaphore's events.
    #[must_use = "the owner belongs to the semaphore that is returned"]
    pub fn owned_by(mut self, owner: impl Identify) -> Self {
        self.sites.set_owner(owner.identify());
        self
    }

    /// Waits for a permit, like [`sync::Semaphore::acquire`].
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// Waits for permits, like [`sync::Semaphore::acquire_many`].
    pub async fn acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        let permit = self.sites.wait_async(self.permits.acquire_many(permits)).await?;
        Ok(SemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// Waits for an owned permit, like [`sync::Semaphore::acquire_owned`].
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// Waits for owned permits, like [`sync::Semaphore::acquire_many_owned`].
    pub async fn acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permit =
            self.sites.wait_async(self.permits.clone().acquire_many_owned(permits)).await?;
        Ok(OwnedSemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// Tries to take a permit, like [`sync::Semaphore::try_acquire`].
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Tries to take permits, like [`sync::Semaphore::try_acquire_many`].
    pub fn try_acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let permit = self.sites.attempt(|| self.permits.try_acquire_many(permits))?;
        Ok(SemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// Returns the number of free permits.
    pub fn available_permits(&self) -> usize {
        self.permits.available_permits()
    }

    /// Adds permits, like [`sync::Semaphore::add_permits`].
    pub fn add_permits(&self, permits: usize) {
        self.permits.add_permits(permits);
    }

    /// Closes the semaphore, like [`sync::Semaphore::close`].
    pub fn close(&self) {
        self.permits.close();
    }

    /// Returns true if the semaphore is closed.
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }
}

impl SemaphorePermit<'_> {
    /// Drops the permits without returning them to the semaphore.
    pub fn forget(self) {
        self.permit.forget();
    }
}

impl OwnedSemaphorePermit {
    /// Drops the permits without returning them to the semaphore.
    pub fn forget(self) {
        self.permit.forget();
    }
}

impl Identify for Semaphore {
    fn identify(&self) -> Subject {
        self.sites.subject()
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.permits.fmt(f)
    }
}
