//! Values that hooks read through a pointer. A replaced value is freed when no hook can be reading
//! it.
//!
//! Hooks that read a plan are counted, in 64 shards. Plans cannot stay for ever, because a profiler
//! for each test installs thousands of them, each with its handlers. Counts are used instead of
//! hazard pointers, and only calls with a plan pay for them.

use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use metaspy_probe::hash::bucket;

/// A power of two.
const SHARDS: usize = 64;

/// How many hooks are reading a value now. Threads are spread over the shards, so they rarely share
/// a cache line.
#[repr(align(64))]
struct Shard(AtomicUsize);

static READERS: [Shard; SHARDS] = [const { Shard(AtomicUsize::new(0)) }; SHARDS];

/// A hook that reads a value.
struct Reading(&'static Shard);

impl Reading {
    #[inline]
    fn begin() -> Self {
        // Each thread has a stack of its own.
        let on_stack = 0_u8;
        let stack = std::ptr::from_ref(&on_stack).addr() / (64 << 10);
        let shard = &READERS[bucket(stack as u64, SHARDS.trailing_zeros())];
        shard.0.fetch_add(1, SeqCst);
        Reading(shard)
    }
}

impl Drop for Reading {
    #[inline]
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Release);
    }
}

/// Reads the value at a place, if there is one.
///
/// # Safety
/// The place is null, or [`replace`] has stored a `T` there.
#[inline]
pub unsafe fn read<T, R>(place: &AtomicPtr<()>, read: impl FnOnce(&T) -> R) -> Option<R> {
    let _reading = Reading::begin();
    // SAFETY: it is null or a `T`. `replace` takes a value from its place before it looks at the
    // readers, and this reader was counted before it looked at the place. So this is the value
    // after that, or `Replaced` waits for this reader.
    unsafe { place.load(SeqCst).cast::<T>().as_ref() }.map(read)
}

/// Stores another value at a place, or none. Returns the one before.
///
/// # Safety
/// As for [`read`], with the same `T`.
pub unsafe fn replace<T>(place: &AtomicPtr<()>, value: Option<T>) -> Option<Replaced<T>> {
    let new = value.map_or(std::ptr::null_mut(), |value| Box::into_raw(Box::new(value)));
    let before = place.swap(new.cast(), SeqCst).cast::<T>();
    (!before.is_null())
        .then(|| Replaced { value: AtomicPtr::new(before), readers: READERS.iter().collect() })
}

/// A value that was replaced.
pub struct Replaced<T> {
    value: AtomicPtr<T>,
    /// The shards with a hook that may be reading it.
    readers: Vec<&'static Shard>,
}

impl<T> Replaced<T> {
    /// The value, if no hook can be reading it and nothing else refers to it. A shard that was once
    /// without readers has none that began before.
    pub(crate) fn into_unread(mut self, is_unused: impl FnOnce(&T) -> bool) -> Result<T, Self> {
        self.readers.retain(|shard| shard.0.load(SeqCst) != 0);
        // SAFETY: `replace` made it from a box and took it from its place, and only this frees it.
        let is_unused = self.readers.is_empty() && is_unused(unsafe { &*self.value.load(Relaxed) });
        if is_unused {
            // SAFETY: as above, and no hook reads it any more.
            Ok(*unsafe { Box::from_raw(self.value.into_inner()) })
        } else {
            Err(self)
        }
    }

    /// The values that can be dropped now. Those that cannot stay in the list.
    #[must_use]
    pub fn take_unread(list: &mut Vec<Self>, is_unused: impl Fn(&T) -> bool) -> Vec<T> {
        let mut unread = Vec::new();
        for replaced in std::mem::take(list) {
            match replaced.into_unread(&is_unused) {
                Ok(value) => unread.push(value),
                Err(replaced) => list.push(replaced),
            }
        }
        unread
    }
}
