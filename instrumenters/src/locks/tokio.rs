//! Locks of tokio, which tasks wait for.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use metaspy_core::hook::Held;
use metaspy_core::{Identify, Subject};
use tokio::sync::{self, AcquireError, TryAcquireError, TryLockError};

use super::watch::{Watch, guards, watched};

/// A [`sync::Mutex`] of tokio whose waiting and holding are events.
pub struct Mutex<T: ?Sized> {
    watch: Watch,
    lock: sync::Mutex<T>,
}

watched!(Mutex<T>, lock: sync::Mutex<T>, of_tasks);

/// What is behind a mutex, while it is held.
#[must_use = "the mutex is released when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    // First: the lock is free before metaspy writes down that it is.
    guard: sync::MutexGuard<'a, T>,
    _held: Held,
}

guards!(MutexGuard, mut);

impl<T: ?Sized> Mutex<T> {
    /// As the original's.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        let guard = self.watch.waited(self.lock.lock()).await;
        MutexGuard { guard, _held: self.watch.hold() }
    }

    /// As the original's.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        let guard = self.watch.wait(|| self.lock.blocking_lock());
        MutexGuard { guard, _held: self.watch.hold() }
    }

    /// As the original's.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let guard = self.watch.ask(|| self.lock.try_lock())?;
        Ok(MutexGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    pub fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }

    /// As the original's.
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.lock.into_inner()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

/// A [`sync::RwLock`] of tokio whose waiting and holding are events.
pub struct RwLock<T: ?Sized> {
    watch: Watch,
    lock: sync::RwLock<T>,
}

watched!(RwLock<T>, lock: sync::RwLock<T>, of_tasks);

/// What is behind a lock, while it is read.
#[must_use = "the lock is released when this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    guard: sync::RwLockReadGuard<'a, T>,
    _held: Held,
}

/// What is behind a lock, while it is written.
#[must_use = "the lock is released when this is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guard: sync::RwLockWriteGuard<'a, T>,
    _held: Held,
}

guards!(RwLockReadGuard);
guards!(RwLockWriteGuard, mut);

impl<T: ?Sized> RwLock<T> {
    /// As the original's.
    pub async fn read(&self) -> RwLockReadGuard<'_, T> {
        let guard = self.watch.waited(self.lock.read()).await;
        RwLockReadGuard { guard, _held: self.watch.hold() }
    }

    /// As the original's.
    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {
        let guard = self.watch.waited(self.lock.write()).await;
        RwLockWriteGuard { guard, _held: self.watch.hold() }
    }

    /// As the original's.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let guard = self.watch.ask(|| self.lock.try_read())?;
        Ok(RwLockReadGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let guard = self.watch.ask(|| self.lock.try_write())?;
        Ok(RwLockWriteGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    pub fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }

    /// As the original's.
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.lock.into_inner()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

/// A [`sync::Semaphore`] of tokio whose waiting and holding are events.
pub struct Semaphore {
    watch: Watch,
    permits: Arc<sync::Semaphore>,
}

/// Permits of a semaphore, while they are held.
#[derive(Debug)]
#[must_use = "the permits are given back when this is dropped"]
pub struct SemaphorePermit<'a> {
    permit: sync::SemaphorePermit<'a>,
    _held: Held,
}

/// Permits of a semaphore that is shared, while they are held.
#[derive(Debug)]
#[must_use = "the permits are given back when this is dropped"]
pub struct OwnedSemaphorePermit {
    permit: sync::OwnedSemaphorePermit,
    _held: Held,
}

impl Semaphore {
    /// A semaphore with a name, and so many permits.
    #[track_caller]
    pub fn new(name: &'static str, permits: usize) -> Self {
        Semaphore { watch: Watch::of_tasks(name, Location::caller()), permits: Arc::new(sync::Semaphore::new(permits)) }
    }

    /// Says whose semaphore it is.
    #[must_use = "it is the semaphore returned that knows its owner"]
    pub fn owned_by(mut self, owner: impl Identify) -> Self {
        self.watch.own(owner.identify());
        self
    }

    /// As the original's.
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// As the original's.
    pub async fn acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        let permit = self.watch.waited(self.permits.acquire_many(permits)).await?;
        Ok(SemaphorePermit { permit, _held: self.watch.hold() })
    }

    /// As the original's.
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// As the original's.
    pub async fn acquire_many_owned(self: Arc<Self>, permits: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permit = self.watch.waited(self.permits.clone().acquire_many_owned(permits)).await?;
        Ok(OwnedSemaphorePermit { permit, _held: self.watch.hold() })
    }

    /// As the original's.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// As the original's.
    pub fn try_acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let permit = self.watch.ask(|| self.permits.try_acquire_many(permits))?;
        Ok(SemaphorePermit { permit, _held: self.watch.hold() })
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
        self.watch.subject()
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.permits.fmt(f)
    }
}
