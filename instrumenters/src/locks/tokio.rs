//! Locks of tokio: tasks wait for them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use metaspy_core::hook::Resource;
use metaspy_core::{Identify, Subject};
use tokio::sync::{self, AcquireError, TryAcquireError, TryLockError};

use super::observed_lock::{LockSites, guard_impls, observed_guard, observed_lock};

/// Tokio's locks return their values as they are.
type Itself<T> = T;

observed_lock!(Mutex, LockSites::for_tasks, Itself);
observed_lock!(RwLock, LockSites::for_tasks, Itself);

observed_guard!(MutexGuard of Mutex, mut);
observed_guard!(RwLockReadGuard of RwLock);
observed_guard!(RwLockWriteGuard of RwLock, mut);

/// A method that waits for a lock, and one that tries to take it.
macro_rules! takes {
    ($lock:ident: $wait:ident, $try:ident -> $guard:ident) => {
        impl<T: ?Sized> $lock<T> {
            /// As the original's.
            pub async fn $wait(&self) -> $guard<'_, T> {
                $guard::new(self.sites.wait_async(self.lock.$wait()).await, &self.sites)
            }

            /// As the original's.
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
    /// As the original's.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        MutexGuard::new(self.sites.wait(|| self.lock.blocking_lock()), &self.sites)
    }
}

/// A [`sync::Semaphore`]. Waits and holds are events.
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
    /// A semaphore with a name, the path of its field, and a number of permits.
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

    /// As the original's.
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// As the original's.
    pub async fn acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        let permit = self.sites.wait_async(self.permits.acquire_many(permits)).await?;
        Ok(SemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// As the original's.
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// As the original's.
    pub async fn acquire_many_owned(self: Arc<Self>, permits: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permit = self.sites.wait_async(self.permits.clone().acquire_many_owned(permits)).await?;
        Ok(OwnedSemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// As the original's.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// As the original's.
    pub fn try_acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let permit = self.sites.attempt(|| self.permits.try_acquire_many(permits))?;
        Ok(SemaphorePermit { permit, _held: self.sites.hold() })
    }

    /// As the original's.
    pub fn available_permits(&self) -> usize {
        self.permits.available_permits()
    }

    /// As the original's.
    pub fn add_permits(&self, permits: usize) {
        self.permits.add_permits(permits);
    }

    /// As the original's.
    pub fn close(&self) {
        self.permits.close();
    }

    /// As the original's.
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }
}

impl SemaphorePermit<'_> {
    /// As the original's.
    pub fn forget(self) {
        self.permit.forget();
    }
}

impl OwnedSemaphorePermit {
    /// As the original's.
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
