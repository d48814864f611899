//! The profilers that hooks call at present.
//!
//! A call holds the method profilers that it began with. Each thread counts the hold of its
//! outermost call, and the calls inside refer to it, so no count is changed by all calls of all
//! threads. Mirrors cannot stay for ever, because a test process installs a profiler for each test.

use std::ops::Deref;
use std::ptr::{NonNull, null};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use crate::method_profilers::contexts::Tree;
use crate::method_profilers::observer::Observer;
use crate::platform::readers::{self, Replaced};
use crate::recorder::CachedObservers;

/// Null before there was a profiler, and in a forked child.
static PRESENT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// The profilers that hooks call. It is replaced and never changed, because running calls refer to
/// it. It is freed when no call refers to it any more.
pub(crate) struct Present {
    /// Distinguishes them from all others of the process; from 1 on.
    pub number: u64,
    pub observers: Vec<Arc<dyn Observer>>,
    /// For each site number, a bit for each interested observer; the highest bit marks a test.
    pub interests: Vec<u32>,
    /// A bit for each observer that is called before a call, and that may lose its interest in
    /// calls; and that of tests.
    pub before: u32,
    /// A bit for each observer that is installed around a block.
    pub blocks: u32,
    pub timed: bool,
    /// The number of counted [`Hold`]s.
    pub holds: AtomicUsize,
    /// The tree of calling contexts, and the bit of its observer.
    pub tree: Option<(&'static Tree, u32)>,
}

impl Present {
    /// True if a profiler needs the time of calls.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// True if there are profilers with this interest in a site, and each is called at the end of a
    /// call only.
    #[inline]
    pub fn see_only_ends(&self, interest: u32) -> bool {
        interest != 0 && interest & self.before == 0
    }

    /// The observers of calls that only profilers with this interest observe, at their ends.
    pub fn cached_for(&self, interest: u32) -> CachedObservers {
        let tree = self.tree_for(interest).map_or(null(), std::ptr::from_ref).cast();
        if !self.timed && self.tree.is_some_and(|(_, bit)| interest == bit) {
            return CachedObservers { tree, ..CachedObservers::NONE };
        }
        let callers = self.callers_for(interest).map_or(CachedObservers::OTHERS, u64::from);
        CachedObservers {
            profilers: std::ptr::from_ref(self).cast(),
            tree,
            callers,
            ..CachedObservers::NONE
        }
    }

    /// The number of the table of callers that the times of calls are added to, if the profilers
    /// with this interest do nothing else at the end of a call but to add its time to a tree.
    fn callers_for(&self, interest: u32) -> Option<u32> {
        let beside_tree = interest & !self.tree.map_or(0, |(_, bit)| bit);
        let only = beside_tree.is_power_of_two().then_some(beside_tree.trailing_zeros() as usize)?;
        self.observers.get(only)?.callers()
    }

    /// The tree of calling contexts, if its profiler is among those with this interest.
    #[inline(always)]
    pub fn tree_for(&self, interest: u32) -> Option<&'static Tree> {
        self.tree.filter(|(_, bit)| interest & bit != 0).map(|(tree, _)| tree)
    }

    /// Makes hooks call these profilers. Returns those before.
    pub fn publish(self) -> Option<Replaced<Present>> {
        // SAFETY: this function alone stores there.
        unsafe { readers::replace(&PRESENT, Some(self)) }
    }

    /// True if no call refers to it. A replaced one gets no further calls.
    pub fn is_unused(&self) -> bool {
        self.holds.load(Acquire) == 0
    }
}

/// In a forked child: hooks call no profilers, and those before are never freed.
pub(super) fn forget() {
    PRESENT.store(std::ptr::null_mut(), Release);
}

/// False before there was a profiler, and in a forked child.
#[inline]
pub(super) fn is_there() -> bool {
    !PRESENT.load(Relaxed).is_null()
}

/// Keeps the profilers of a call from being freed. Only a counted one does so itself: another one
/// stands above a counted one on its thread.
pub(crate) struct Hold {
    present: NonNull<Present>,
    count: Count,
}

/// As wide as a word: an entry without padding is written by plain stores.
#[repr(usize)]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Uncounted,
    Counted,
}

// SAFETY: it refers to profilers that all threads share.
unsafe impl Send for Hold {}
// SAFETY: as above.
unsafe impl Sync for Hold {}

impl Hold {
    /// A counted hold on the profilers that hooks call now; `None` if there are none.
    pub fn of_present() -> Option<Hold> {
        let hold = |present: &Present| {
            present.holds.fetch_add(1, Relaxed);
            Hold { present: NonNull::from(present), count: Count::Counted }
        };
        // SAFETY: `Present::publish` stores there, and nothing else.
        unsafe { readers::read(&PRESENT, hold) }
    }

    /// True if hooks still call these profilers. A held one is not freed, so no other one has its
    /// address.
    #[inline]
    pub fn is_present(&self) -> bool {
        std::ptr::eq(PRESENT.load(Acquire).cast(), self.present.as_ptr())
    }

    /// The same hold without a count, for a call that ends while this hold exists.
    #[inline]
    pub fn above(&self) -> Hold {
        Hold { present: self.present, count: Count::Uncounted }
    }

    /// The address of the profilers, which no others have while this exists.
    #[inline(always)]
    pub fn address(&self) -> *const () {
        self.present.as_ptr().cast_const().cast()
    }

    #[inline]
    pub fn is_counted(&self) -> bool {
        self.count == Count::Counted
    }

    /// Makes this a counted hold, so that the hold below it may end first.
    pub fn count(&mut self) {
        if !self.is_counted() {
            self.holds.fetch_add(1, Relaxed);
            self.count = Count::Counted;
        }
    }
}

impl Deref for Hold {
    type Target = Present;

    #[inline]
    fn deref(&self) -> &Present {
        // SAFETY: it is counted, or above a hold that is. A counted one keeps `Present::is_unused`
        // false.
        unsafe { self.present.as_ref() }
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        if self.is_counted() {
            self.holds.fetch_sub(1, Release);
        }
    }
}
