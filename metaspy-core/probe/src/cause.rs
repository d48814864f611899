//! Causes that woven code carries to other tasks and threads.
//!
//! The weaver rewrites the argument of a call such as `tokio::spawn`: a future becomes a
//! [`Because`], and a closure names the cause where its body begins. Anything else passes
//! unchanged.

use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::ptr::null;
use core::task::{Context, Poll};

use crate::{Adapter, CauseBefore, Site};

crate::register! {
    static DOOR: Site = Site::door();
}

/// A carried cause, only used behind a reference: the address is the event with its recording, as a
/// number.
///
/// A closure that calls a method of it captures the reference, without `move` as well. So it stays
/// `Fn`, `Copy`, `Send` and `'static` if it was, and one word larger.
#[derive(Debug)]
#[repr(transparent)]
pub struct Cause(());

/// The address in place of an event: no event has this number, and no reference is 0.
const NOTHING: usize = 1;

impl Cause {
    /// The current event of this thread.
    #[inline]
    pub fn carried() -> &'static Cause {
        let bits = adapter().map_or(0, |adapter| (adapter.carried)());
        // A number of 64 bits is no address on smaller machines: nothing is carried there.
        let address = usize::try_from(bits).unwrap_or(0).max(NOTHING);
        // SAFETY: a value without a size is at any aligned address but 0, and is never read.
        unsafe { &*core::ptr::without_provenance(address) }
    }

    /// Names it as the cause of this thread's next events until the guard is dropped.
    #[inline]
    pub fn because(&self) -> NamedCause {
        let mut named =
            NamedCause { ends: None, before: CauseBefore { event: 0, named: 0, log: null() } };
        let bits = core::ptr::from_ref(self).addr();
        if bits != NOTHING
            && let Some(adapter) = adapter()
            && (adapter.because)(bits as u64, &mut named.before)
        {
            named.ends = Some(adapter);
        }
        named
    }
}

fn adapter() -> Option<&'static Adapter> {
    if DOOR.is_armed() { DOOR.adapter() } else { None }
}

/// A named cause. Dropping it ends the naming.
#[must_use = "the cause is named until the guard is dropped"]
pub struct NamedCause {
    ends: Option<&'static Adapter>,
    before: CauseBefore,
}

impl Drop for NamedCause {
    #[inline]
    fn drop(&mut self) {
        if let Some(adapter) = self.ends {
            (adapter.no_longer)(&self.before);
        }
    }
}

/// A future whose work has a fixed cause, on whatever thread it is polled.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Because<F> {
    future: F,
    cause: &'static Cause,
}

impl<F: Future> Because<F> {
    /// The cause is this thread's current event.
    #[inline]
    pub fn of(future: F) -> Self {
        Because { future, cause: Cause::carried() }
    }
}

impl<F: Future> Future for Because<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _because = self.cause.because();
        // SAFETY: the future is pinned whenever this is, and nothing moves it out.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(cx)
    }
}

/// The argument of a spawning call, by its type: the compiler selects the first of the traits below
/// that the type has.
#[doc(hidden)]
pub struct Spawned<T>(PhantomData<T>);

impl<T> Spawned<T> {
    #[inline]
    pub fn of(_: &T) -> Self {
        Spawned(PhantomData)
    }
}

#[doc(hidden)]
pub trait SpawnsFuture {
    fn kind(&self) -> SpawnedFuture;
}

#[doc(hidden)]
pub trait SpawnsFunction {
    fn kind(&self) -> SpawnedFunction;
}

#[doc(hidden)]
pub trait SpawnsOther {
    fn kind(&self) -> SpawnedOther;
}

impl<T: Future> SpawnsFuture for &&Spawned<T> {
    #[inline]
    fn kind(&self) -> SpawnedFuture {
        SpawnedFuture
    }
}

impl<T: FnOnce() -> R, R> SpawnsFunction for &Spawned<T> {
    #[inline]
    fn kind(&self) -> SpawnedFunction {
        SpawnedFunction
    }
}

impl<T> SpawnsOther for Spawned<T> {
    #[inline]
    fn kind(&self) -> SpawnedOther {
        SpawnedOther
    }
}

/// A future.
#[doc(hidden)]
pub struct SpawnedFuture;

impl SpawnedFuture {
    #[inline]
    pub fn carry<F: Future>(self, future: F) -> Because<F> {
        Because::of(future)
    }
}

/// A function without arguments.
#[doc(hidden)]
pub struct SpawnedFunction;

impl SpawnedFunction {
    #[inline]
    pub fn carry<F: FnOnce() -> R, R>(self, work: F) -> impl FnOnce() -> R {
        let cause = Cause::carried();
        move || {
            let _because = cause.because();
            work()
        }
    }
}

/// Anything else.
#[doc(hidden)]
pub struct SpawnedOther;

impl SpawnedOther {
    #[inline]
    pub fn carry<T>(self, value: T) -> T {
        value
    }
}

/// Wraps the argument of a spawning call: its cause is this thread's current event.
#[macro_export]
macro_rules! spawned {
    ($value:expr) => {
        match $value {
            value => {
                #[allow(unused_imports)]
                use $crate::{SpawnsFunction as _, SpawnsFuture as _, SpawnsOther as _};
                (&&&$crate::Spawned::of(&value)).kind().carry(value)
            }
        }
    };
}
