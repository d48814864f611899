//! The bytes that are alive, and the most that there were.
//!
//! Each thread adds up its own bytes and merges them when they may be a new peak, so threads do not
//! meet at each object. The peak of one thread is within a thousandth while it runs, and exact at
//! its end. Each further thread may add [`BATCH`] bytes.

use std::cell::Cell;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use crate::method_profilers::contexts::Tree;
use crate::method_profilers::uncounted::uncounted;

/// The most bytes that a thread keeps for itself.
const BATCH: i64 = 16 << 10;
/// A thread keeps this part of the peak for itself while it raises the peak.
const SLACK: i64 = 1024;

/// Bytes that threads merged, and the most that there were.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The counts that a thread has not merged yet. Each word is accessed by itself, because the
/// processor stalls a wide load of narrow stores.
struct Own {
    /// The recording of these bytes.
    recording: Cell<u32>,
    live: Cell<i64>,
    /// The most that they were.
    most: Cell<i64>,
    /// More bytes than this may be a new peak.
    room: Cell<i64>,
}

thread_local! {
    // Constant and without a destructor, so that it is there in the last destructor of the thread.
    static OWN: Own =
        const { Own { recording: Cell::new(0), live: Cell::new(0), most: Cell::new(0), room: Cell::new(0) } };
}

/// Adds bytes of an object that begins, or removes those of one that ends.
#[inline]
pub(super) fn change(tree: &'static Tree, recording: u32, by: i64) {
    OWN.with(|own| {
        if own.recording.get() != recording {
            own.begin(recording);
        }
        let live = own.live.get() + by;
        own.live.set(live);
        if live > own.most.get() {
            own.most.set(live);
        }
        if live > own.room.get() || live < -BATCH {
            own.merge(tree);
        }
    });
}

/// Merges the counts of this thread.
pub(super) fn publish(tree: &'static Tree) {
    OWN.with(|own| {
        if tree.recording() == Some(own.recording.get()) {
            own.merge(tree);
        }
    });
}

impl Own {
    #[cold]
    fn begin(&self, recording: u32) {
        self.recording.set(recording);
        [&self.live, &self.most, &self.room].iter().for_each(|word| word.set(0));
    }

    #[inline(never)]
    fn merge(&self, tree: &'static Tree) {
        let live = self.live.replace(0);
        let before = LIVE.fetch_add(live, Relaxed);
        let most = before + self.most.replace(0);
        let mut peak = PEAK.load(Relaxed);
        if most > peak {
            peak = PEAK.fetch_max(most, Relaxed).max(most);
            uncounted(|| tree.raise_peak(most as u64));
        }
        self.room.set((peak - before - live).max(peak / SLACK).min(BATCH));
    }
}

/// Begins again, for another tree.
pub(super) fn forget() {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
}
