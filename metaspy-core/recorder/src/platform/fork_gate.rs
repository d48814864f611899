//! A gate between locks and forks: no other thread is inside when a thread forks.
//!
//! A forked child has only the thread that forked. A lock that another thread held at that moment
//! would stay locked, and its value half changed. So a thread that holds a lock of ours is inside,
//! and a fork waits until the others are out.
//!
//! Handlers of the fork do not take each lock, because locks have no order, and the thread that
//! forks may hold one. The gate is not on the way of a hook. A fork waits for a second at most.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, MutexGuard};
use std::thread::yield_now;

use crate::platform::clock::monotonic_ns;

/// How long a fork waits. Nothing is held for so long, unless the system is overloaded; the
/// application goes on all the same.
const PATIENCE_NS: u64 = 1_000_000_000;

/// How often threads are inside.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// True while a thread forks.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How often this thread is inside: it may hold several locks.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// No other thread forks this process while this lives.
#[derive(Debug)]
pub struct Unforked(PhantomData<*const ()>);

impl Unforked {
    /// Waits for a fork that is under way.
    #[inline]
    pub fn begin() -> Self {
        watch_forks();
        let depth = DEPTH.get();
        // In this order: a signal handler that forks in between waits for no thread.
        DEPTH.set(depth + 1);
        INSIDE.fetch_add(1, SeqCst);
        while depth == 0 && IS_CLOSED.load(SeqCst) {
            INSIDE.fetch_sub(1, SeqCst);
            while IS_CLOSED.load(SeqCst) {
                yield_now();
            }
            INSIDE.fetch_add(1, SeqCst);
        }
        Unforked(PhantomData)
    }
}

impl Drop for Unforked {
    #[inline]
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, SeqCst);
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// A value that is locked, in no fork.
pub struct Locked<'m, T: ?Sized> {
    // First: it is unlocked before the gate is left.
    value: MutexGuard<'m, T>,
    _unforked: Unforked,
}

impl<T: ?Sized> Deref for Locked<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> DerefMut for Locked<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Locks a value that a forked child may use.
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> Locked<'_, T> {
    let _unforked = Unforked::begin();
    Locked { value: metaspy_reader::platform::lock::lock(mutex), _unforked }
}

/// Closes the gate, and waits until the other threads are out.
#[cfg(unix)]
extern "C" fn before_fork() {
    while IS_CLOSED.swap(true, SeqCst) {
        yield_now();
    }
    let since = monotonic_ns();
    while INSIDE.load(SeqCst) > DEPTH.get() && monotonic_ns() - since < PATIENCE_NS {
        yield_now();
    }
}

#[cfg(unix)]
extern "C" fn in_parent() {
    IS_CLOSED.store(false, SeqCst);
}

#[cfg(unix)]
extern "C" fn in_child() {
    // The other threads are gone.
    INSIDE.store(DEPTH.get(), SeqCst);
    IS_CLOSED.store(false, SeqCst);
}

#[cfg(unix)]
fn watch_forks() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.load(SeqCst) && !IS_WATCHED.swap(true, SeqCst) {
        // SAFETY: the handlers are plain functions that live as long as the process and never
        // panic.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    }
}

#[cfg(not(unix))]
fn watch_forks() {}
