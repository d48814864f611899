//! One log per process: hooks write an event once, whoever is interested.
//!
//! [`lane`] is the hot path, one lane per thread; [`collector`] keeps blocks ready and folds old ones; [`page`] counts
//! what has no event. A log is never unmapped: a guard on some stack may still want to end its event in it.

mod arena;
mod begin;
mod blocks;
mod collector;
mod count;
mod end;
mod feed;
mod fold;
mod journal;
mod lane;
pub(crate) mod layout;
mod names;
mod page;
mod populate;
pub mod protocol;
mod seal;
mod start;
mod summarise;

pub(crate) use arena::Draft;
pub(crate) use begin::{
    About, Begun, Busy, COUNTED, LOST, begin, begin_at_once, begin_detailed, enter_level, is_timed, mark, mark_at,
    point,
};
pub(crate) use count::{count_at_once, count_further, count_near, count_outcome_in, tally, tally_more};
pub(crate) use end::{end, end_apart, end_marked, end_point};
pub(crate) use feed::Fed;
pub(crate) use lane::{Current, Lane, current_event, current_event_in, here, lane_level, swap_current};
pub(crate) use names::{describe_site, sync_names};
pub(crate) use page::Row;
pub use start::StartError;
pub(crate) use start::{Backing, Spec, ensure, start, watch_forks};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;

use crate::format::Region;
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recording::Policy;
use layout::Layout;
use protocol::ReadyRing;

/// The epoch: it changes whenever a profiler is installed or uninstalled, and a lane that meets a new one goes on in
/// a new block.
pub(crate) static EPOCH: AtomicU32 = AtomicU32::new(1);

/// Logs of this process by number; the number stands in every guard.
static LOGS: [AtomicPtr<Log>; 256] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];
static CURRENT: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// A recording being written.
pub(crate) struct Log {
    pub region: Region,
    pub layout: Layout,
    pub number: u8,
    pub policy: Policy,
    /// The file, if it has one.
    pub file: Option<(PathBuf, std::fs::File)>,
    ready: ReadyRing<AtomicU64>,
    /// One of [`blocks::State`] for each place.
    states: Box<[AtomicU8]>,
    arena: arena::Arena,
    names: Mutex<names::Written>,
    collecting: Mutex<collector::Round>,
    collector: OnceLock<Thread>,
    /// Fewer blocks than this ready, and the collector is woken.
    scarce: AtomicU64,
    /// Places whose pages are present.
    present: AtomicU64,
    /// There was no room to grow.
    short: AtomicBool,
    /// A lane asked for a block and there was none.
    dry: AtomicBool,
    /// The collector sleeps, and a lane that finds blocks scarce wakes it.
    asleep: AtomicBool,
    /// No more blocks are handed out: the log was closed, or this process is a forked child.
    stopped: AtomicBool,
    /// It is being closed.
    closing: AtomicBool,
    /// It was closed: the collector leaves it alone.
    closed: AtomicBool,
    /// The page of threads that have no lane (too many, or already ending).
    late: Mutex<page::Page>,
    lanes: Mutex<lane::Rows>,
}

// SAFETY: all that is shared are atomic words and locks; `Region` is Send and Sync for the same reason.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    /// The word of the superblock.
    #[inline(always)]
    pub fn word(&self, at: usize) -> &AtomicU64 {
        &self.cells()[at]
    }

    /// All words.
    #[inline(always)]
    pub fn cells(&self) -> &[AtomicU64] {
        self.region.cells().expect("a log lies in writable memory")
    }

    /// Adds to one of the superblock's counters.
    pub fn count(&self, counter: usize, by: u64) {
        self.word(counter).fetch_add(by, Ordering::Relaxed);
    }

    /// Writes down a sentence for people.
    pub fn note(&self, text: &str) {
        self.append(Draft::new(crate::format::arena::Entry::Note, 0).text(text));
    }

    /// Hands out no more blocks; hooks go on counting.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Writes everything down that a reader needs, and says that the log ended in good order. Done once: what was
    /// closed is its owner's, who may have put something else in the file's place.
    pub fn close(&self) {
        self.close_with(None);
    }

    /// As [`Log::close`], at the exit of the process with this status.
    pub fn close_with(&self, exit: Option<u8>) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.word(sb::EXIT).store(exit.map_or(0, |status| 1 + u64::from(status)), Ordering::Relaxed);
        self.stop();
        self.round();
        self.calibrate();
        sync_names(self);
        self.word(sb::LAST_TICK).store(crate::clock::now(), Ordering::Release);
        self.seal();
        self.feed_on();
        crate::watch::tell(self);
        let _collecting = lock(&self.collecting);
        self.trim();
        self.word(sb::STATE).store(sb::STATE_CLOSED, Ordering::Release);
        self.closed.store(true, Ordering::Release);
        if let Some(thread) = self.collector.get() {
            thread.unpark();
        }
    }

    /// Whether the log hands out no more blocks.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

/// The log that hooks write now, if one was started.
#[inline(always)]
pub(crate) fn current() -> Option<&'static Log> {
    // SAFETY: logs are leaked boxes; the pointer is null or valid for the rest of the process.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
}

/// The log with this number.
#[inline]
fn numbered(number: u8) -> Option<&'static Log> {
    // SAFETY: as above.
    unsafe { LOGS[number as usize].load(Ordering::Acquire).as_ref() }
}

/// The epoch.
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// Begins a new epoch, and says in the recording why.
pub(crate) fn next_epoch(why: &str) -> u32 {
    let epoch = EPOCH.fetch_add(1, Ordering::AcqRel) + 1;
    if let Some(log) = current() {
        log.word(sb::EPOCH).store(u64::from(epoch), Ordering::Release);
        let entry = crate::format::arena::Entry::Epoch;
        log.append(Draft::new(entry, epoch).word(crate::clock::now()).text(why));
    }
    epoch
}
