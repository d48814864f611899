//! The log: one per process, so that a hook writes an event once, however many profilers are
//! interested.

use std::collections::VecDeque;
use std::fs::Metadata;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;

use crate::format::Policy;
use crate::format::Region;
use crate::format::layout::Layout;
use crate::recorder::arrays::Array;
use crate::recorder::collector_state::CollectorState;
use crate::recorder::cut_spans::CutSpans;
use crate::recorder::folder::Folder;
use crate::recorder::growing_area::GrowingArea;
use crate::recorder::keep::places::KeptPlaces;
use crate::recorder::own_file::OwnFile;
use crate::recorder::own_words::OwnWords;
use crate::recorder::protocol::{ReadyRing, begin_use, end_use};
use crate::recorder::stale_summaries::StaleSummaries;
use crate::recorder::statement_halves::StatementHalves;
use crate::recorder::tables::Tables;
use crate::recorder::tally_page::Page;

/// Logs of this process by number. Every guard holds the number, and the epoch of its call: later
/// logs have the same numbers.
pub(super) static LOGS: [AtomicPtr<Log>; 256] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];
/// Numbers of logs: from 1 on.
pub(super) const NUMBERS: u64 = 255;
pub(super) static CURRENT: AtomicPtr<Log> = AtomicPtr::new(std::ptr::null_mut());

/// The state of a place in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Never used.
    Empty = 0,
    /// A lane fills it; nothing else writes there.
    Held = 1,
    /// Full, or left by its lane. Only ends are still written, by exchange.
    Full = 2,
    /// Empty again, and ready for a lane.
    Ready = 3,
    /// A folder has claimed it: it is being folded, or it was folded and is not ready yet.
    Folding = 4,
    /// Only events that are kept are left in it. It stays until these give way to others.
    Kept = 5,
}

/// How many names the recording has.
#[derive(Default)]
pub struct Named {
    pub sites: usize,
    pub kinds: usize,
    /// True if the sites that the linker collected are not named.
    pub leaves_out_linked: bool,
}

/// Rows of lanes that can be reused.
#[derive(Default)]
pub(super) struct LaneRows {
    /// Rows of ended threads, oldest first.
    pub ended: VecDeque<u32>,
    /// Pages of those threads.
    pub pages: Vec<(usize, usize)>,
    /// Arrays of those threads.
    pub arrays: Vec<Array>,
}

/// A recording being written.
///
/// Its addresses stay: a guard on some stack may still end its call in it. When a rotation has
/// closed it and no thread uses it, its memory is let go.
pub struct Log {
    pub region: Region,
    pub layout: Layout,
    pub number: u8,
    /// Distinguishes it from all others of the process.
    pub serial: u64,
    /// No call of it began in an earlier epoch.
    pub(super) began_in: u32,
    /// Lanes and directories of pages that may write it.
    pub(super) users: AtomicU64,
    /// True if its values of tables are where its tables keep those of earlier recordings.
    pub(super) is_handed_over: AtomicBool,
    /// 1 if its memory was let go.
    pub(super) is_gone: AtomicU8,
    /// True if its pages were given back, but not its memory.
    pub(super) is_paged_out: AtomicBool,
    pub policy: Policy,
    /// The file, if it has one.
    pub file: Option<Arc<OwnFile>>,
    pub(super) ready: ReadyRing<AtomicU64>,
    /// Where `ready` is, and one of [`State`] for each place.
    pub(super) own_words: OwnWords,
    /// The number of places tried by folders so far. Modulo the number of places it is the next
    /// one.
    pub(super) hand: AtomicU64,
    pub(super) folders: &'static [Mutex<Folder>],
    pub(super) cut_spans: CutSpans,
    /// The places with events to keep, once there are rules.
    pub(super) kept_places: Box<KeptPlaces>,
    /// Readers that keep events from being folded.
    pub(super) leases: AtomicU64,
    /// True if the collector delivers events to subscriptions, so that only the collector may fold.
    pub(super) is_watched: AtomicBool,
    /// 1 + the chunk whose summary is being written; 0 = none.
    pub(super) summarising: AtomicU64,
    pub(super) stale_summaries: StaleSummaries,
    /// Bytes of the pages area that may be used, and rows of lanes: all of the area, until its file
    /// is packed.
    pub(super) pages_room: AtomicUsize,
    pub(super) lanes_room: AtomicU64,
    pub(super) arena: GrowingArea,
    pub(super) statements: StatementHalves,
    /// Serialises the writers of the arena.
    pub(super) appending: Mutex<()>,
    pub profiles: GrowingArea,
    pub(super) names: Mutex<Named>,
    pub(super) collecting: Mutex<CollectorState>,
    pub(super) collector: OnceLock<Thread>,
    /// The collector is woken when fewer blocks than this are ready.
    pub(super) scarce: AtomicU64,
    /// Number of places whose pages are present.
    pub(super) present: AtomicU64,
    /// True if there was no room to grow.
    pub(super) short: AtomicBool,
    /// True if a lane found no block ready.
    pub(super) dry: AtomicBool,
    /// True while the collector sleeps. A lane that finds blocks scarce wakes it.
    pub(super) asleep: AtomicBool,
    /// True if no more blocks are handed out: the log was closed, or this process is a forked
    /// child.
    pub(super) stopped: AtomicBool,
    /// True if it is being closed.
    pub(super) closing: AtomicBool,
    /// True if it was closed. The collector no longer touches it.
    pub(super) closed: AtomicBool,
    /// The epoch in which another log became the current one; `u32::MAX` before.
    pub(super) replaced_in: AtomicU32,
    /// The page of threads that have no lane (too many, or already ending).
    pub(super) late: Mutex<Page>,
    pub(super) lanes: Mutex<LaneRows>,
    /// Held while subscriptions receive events: one thread at a time delivers them, in the order in
    /// which they were read.
    pub delivering: Mutex<()>,
}

// SAFETY: all that is shared are atomic words and locks; `Region` is Send and Sync for the same
// reason.
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

    /// The words and tables, for folds.
    pub(super) fn tables(&self) -> Tables<'_> {
        Tables {
            cells: self.cells(),
            layout: &self.layout,
            cut_spans: &self.cut_spans,
            pages_room: &self.pages_room,
        }
    }

    /// Adds to one of the superblock's counters.
    pub fn count(&self, counter: usize, by: u64) {
        self.word(counter).fetch_add(by, Ordering::Relaxed);
    }

    /// Hands out no more blocks; hooks continue to count.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// True if it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Begins to use it, which keeps its memory. False if it is not the current log any more.
    #[must_use]
    pub fn begin_use(&self) -> bool {
        begin_use(&self.users, || current().is_some_and(|log| std::ptr::eq(log, self)))
    }

    /// As [`Log::begin_use`], of a log that may have been replaced. False if its memory was let go.
    #[must_use]
    pub fn begin_late_use(&self) -> bool {
        begin_use(&self.users, || !self.is_gone())
    }

    /// Ends a use that [`Log::begin_use`] or [`Log::begin_late_use`] began.
    pub fn end_use(&self) {
        end_use(&self.users);
    }

    /// True if a call with this number of its log, which began in this epoch, is one of this log.
    #[inline]
    pub fn has(&self, number: u8, epoch: u32) -> bool {
        self.number == number && self.began_in <= epoch
    }

    /// True if its memory was let go.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::SeqCst) != 0
    }

    /// Its values of tables were handed over.
    pub fn note_handed_over(&self) {
        self.is_handed_over.store(true, Ordering::Release);
    }

    /// True if its values of tables were handed over.
    pub fn is_handed_over(&self) -> bool {
        self.is_handed_over.load(Ordering::Acquire)
    }

    /// True if it was the current log until this epoch.
    pub fn is_whole_until(&self, epoch: u32) -> bool {
        epoch <= self.replaced_in.load(Ordering::Acquire)
    }

    /// True if it was closed, or is being closed.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// True if the log hands out no more blocks.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

/// The log that hooks write, if one was started.
#[inline(always)]
pub fn current() -> Option<&'static Log> {
    // SAFETY: logs are leaked boxes; the pointer is null or valid for the rest of the process.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
}

/// The logs of this process that have a number, closed ones included.
pub fn all() -> impl Iterator<Item = &'static Log> {
    // SAFETY: as above.
    LOGS.iter().filter_map(|log| unsafe { log.load(Ordering::Acquire).as_ref() })
}

/// True if a log of this process is in the file that this metadata describes.
pub(crate) fn has_file(metadata: &Metadata) -> bool {
    all().filter_map(|log| log.file.as_ref()).any(|file| file.is_described_by(metadata))
}

/// The log of a call with this number of its log, which began in this epoch. `None` if that was let
/// go.
#[inline]
pub(super) fn log_of(number: u8, epoch: u32) -> Option<&'static Log> {
    // SAFETY: as above.
    let log = unsafe { LOGS[number as usize].load(Ordering::Acquire).as_ref() };
    log.filter(|log| log.has(number, epoch) && !log.is_gone())
}
