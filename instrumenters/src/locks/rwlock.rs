//! A lock of the standard library for many who read or one who writes.

use std::fmt;
use std::sync::{self, LockResult, TryLockResult};

use metaspy_core::hook::Held;

use super::poison::{had, held, tried};
use super::watch::{Watch, guards, watched};

/// A [`std::sync::RwLock`] whose waiting and holding are events.
pub struct RwLock<T: ?Sized> {
    watch: Watch,
    lock: sync::RwLock<T>,
}

watched!(RwLock<T>, lock: sync::RwLock<T>, named);

/// What is behind a lock, while it is read.
#[must_use = "the lock is released when this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    // First: the lock is free before metaspy writes down that it is.
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
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let locked = self.watch.wait(|| self.lock.read());
        held(locked, |guard| RwLockReadGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let locked = self.watch.wait(|| self.lock.write());
        held(locked, |guard| RwLockWriteGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let asked = self.watch.ask(|| had(self.lock.try_read()));
        tried(asked, |guard| RwLockReadGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    #[inline]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let asked = self.watch.ask(|| had(self.lock.try_write()));
        tried(asked, |guard| RwLockWriteGuard { guard, _held: self.watch.hold() })
    }

    /// As the original's.
    pub fn is_poisoned(&self) -> bool {
        self.lock.is_poisoned()
    }

    /// As the original's.
    pub fn clear_poison(&self) {
        self.lock.clear_poison();
    }

    /// As the original's.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.lock.get_mut()
    }

    /// As the original's.
    pub fn into_inner(self) -> LockResult<T>
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
