//! A mutex of the standard library.

use std::fmt;
use std::sync::{self, LockResult, TryLockResult};

use metaspy_core::hook::Held;

use super::poison::{had, held, tried};
use super::watch::{Watch, guards, watched};

/// A [`std::sync::Mutex`] whose waiting and holding are events.
pub struct Mutex<T: ?Sized> {
    watch: Watch,
    lock: sync::Mutex<T>,
}

watched!(Mutex<T>, lock: sync::Mutex<T>, named);

/// What is behind a mutex, while it is held.
#[must_use = "the mutex is released when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    // First: the lock is free before metaspy writes down that it is.
    guard: sync::MutexGuard<'a, T>,
    _held: Held,
    lock: &'a Mutex<T>,
}

guards!(MutexGuard, mut);

impl<T: ?Sized> Mutex<T> {
    /// As the original's.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let locked = self.watch.wait(|| self.lock.lock());
        held(locked, |guard| self.guard(guard))
    }

    /// As the original's.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let asked = self.watch.ask(|| had(self.lock.try_lock()));
        tried(asked, |guard| self.guard(guard))
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

    fn guard<'a>(&'a self, guard: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard { guard, _held: self.watch.hold(), lock: self }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The original guard and its mutex; the holding ends.
    pub(super) fn release(self) -> (sync::MutexGuard<'a, T>, &'a Mutex<T>) {
        (self.guard, self.lock)
    }

    /// It is held again.
    pub(super) fn again(
        lock: &'a Mutex<T>,
        locked: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        held(locked, |guard| lock.guard(guard))
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}
