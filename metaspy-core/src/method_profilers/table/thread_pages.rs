//! The pages that a thread writes: for each segment of a table, the page that holds the thread's
//! own words.
//!
//! Threads would contend over words to which all of them add atomically. A word of 0 holds nothing
//! in every rule, so pages need no initialisation and values no row. Where the area is full, values
//! are lost and counted.

use std::alloc::Layout;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

use metaspy_probe::hash;

use crate::format::profile::Key;
use crate::platform::lock::lock;
use crate::platform::own_pages;
use crate::platform::thread_end::watch_this_thread;
use crate::recorder::{self, Log, ProfilerState};

/// Words of a segment.
pub(super) const SEGMENT: usize = 1024;
/// Segments of all tables of a process together. Threads share the pages of the tables that are
/// made later.
const SLOTS: usize = 8192;

/// True for each slot that is in use.
static RESERVED: Mutex<[bool; SLOTS]> = Mutex::new([false; SLOTS]);
/// The pages of all threads, newest first: linked without a lock, and never freed.
static ALL: AtomicPtr<ThreadPages> = AtomicPtr::new(std::ptr::null_mut());
/// Directories of threads that ended: later threads continue in the same pages.
static FREE: Mutex<Vec<&'static ThreadPages>> = Mutex::new(Vec::new());

/// The pages of a thread.
pub(crate) struct ThreadPages {
    /// The pages of the thread before.
    next: AtomicPtr<ThreadPages>,
    /// The log that the pages belong to.
    log: AtomicPtr<Log>,
    /// True while they keep the memory of that log.
    use_log: AtomicBool,
    /// The log before, whose memory they keep as well: where a log is being replaced, a table may
    /// still be in it. Null: none.
    before: AtomicPtr<Log>,
    /// The first word of a page for each slot; null = not taken.
    slots: [AtomicPtr<AtomicU64>; SLOTS],
    /// Rows of that log that the thread used last, by the hash of their key.
    rows: [KnownRow; ROWS],
    /// The words of methods and their callers in that log, by the hash of both sites.
    pairs: [KnownPair; PAIRS],
}

/// The row of a key. Only its thread reads and writes it.
struct KnownRow {
    /// The site and the second site, or the kind of the subject.
    who: AtomicU64,
    key: AtomicU64,
    table: AtomicU32,
    /// The row, + 1; 0 = free.
    row: AtomicU32,
}

/// The words of a method, and those of its calls from one caller. Only its thread reads and writes
/// it.
struct KnownPair {
    who: AtomicU64,
    table: AtomicU32,
    of_method: AtomicPtr<Pair>,
    /// Null = free.
    of_caller: AtomicPtr<Pair>,
}

/// The first two words of a row.
pub(crate) type Pair = [AtomicU64; 2];

/// Rows of all tables that a thread remembers.
const ROWS: usize = 256;
/// Pairs of methods and callers that a thread remembers.
const PAIRS: usize = 1 << 10;

/// Why a thread has no word of its own.
pub(super) enum Missing {
    /// Nothing is recorded: there is no log, or this process is a forked child.
    Log,
    /// The page is not taken yet.
    Page,
    /// Threads share the pages of this table, or this thread has pages in a later log already.
    Slot,
}

/// The slots of a table. Those of a table that finds none are beyond those that threads have.
pub(super) struct Slots(Range<usize>);

impl Slots {
    /// No slots: threads share all pages of the table.
    pub const NONE: Slots = Slots(SLOTS..SLOTS);

    /// Reserves slots for this many words.
    pub fn reserve(words: usize) -> Slots {
        let segments = words.div_ceil(SEGMENT);
        let mut reserved = lock(&RESERVED);
        let mut run = 0;
        let end = reserved.iter().position(|is_reserved| {
            run = if *is_reserved { 0 } else { run + 1 };
            run == segments
        });
        let Some(end) = end else { return Slots::NONE };
        let slots = end + 1 - segments..end + 1;
        reserved[slots.clone()].fill(true);
        Slots(slots)
    }

    /// The slot of a segment.
    #[inline]
    pub fn of_segment(&self, segment: usize) -> usize {
        self.0.start.saturating_add(segment)
    }
}

impl Slots {
    /// No thread uses the pages of the table any more.
    pub fn give_back(&self) {
        let mut pages = ALL.load(Acquire);
        // SAFETY: pages are never freed.
        while let Some(of_thread) = unsafe { pages.as_ref() } {
            of_thread.slots[self.0.clone()]
                .iter()
                .for_each(|slot| slot.store(std::ptr::null_mut(), Relaxed));
            pages = of_thread.next.load(Relaxed);
        }
        lock(&RESERVED)[self.0.clone()].fill(false);
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.give_back();
    }
}

thread_local! {
    /// True if this thread ends: it uses shared pages from now on.
    // Constant and without a destructor, so that it is there in the last destructor of the thread.
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
}

/// This thread ends. Gives its pages to a later one.
pub(in super::super) fn end_thread() {
    HAS_ENDED.set(true);
    let observed = &recorder::own_lane().profilers;
    if let Some(pages) = known_pages(observed) {
        observed.pages.store(std::ptr::null_mut(), Relaxed);
        pages.hand_on();
    }
}

/// The pages that a thread writes, if it has some.
#[inline(always)]
pub(crate) fn known_pages(observed: &ProfilerState) -> Option<&'static ThreadPages> {
    // SAFETY: it is null, or `take` has stored it, and pages are never freed.
    unsafe { observed.pages.load(Relaxed).cast::<ThreadPages>().as_ref() }
}

/// The pages that this thread writes; `None` if it is ending.
#[inline]
pub(super) fn pages() -> Option<&'static ThreadPages> {
    let observed = &recorder::own_lane().profilers;
    known_pages(observed).or_else(|| take(observed))
}

#[cold]
fn take(observed: &ProfilerState) -> Option<&'static ThreadPages> {
    if HAS_ENDED.get() || !watch_this_thread() {
        return None;
    }
    let pages = ThreadPages::take()?;
    observed.pages.store(std::ptr::from_ref(pages).cast_mut().cast(), Relaxed);
    Some(pages)
}

/// Pages that no thread has, and in which only the pairs of the current log are remembered.
pub(crate) struct ScratchPages(&'static ThreadPages);

impl ScratchPages {
    /// `None` if there is no memory, or if nothing is recorded.
    pub fn new() -> Option<Self> {
        let log = recorder::current()?;
        let pages: *mut ThreadPages = own_pages::take(Layout::new::<ThreadPages>()).cast();
        // SAFETY: as in `ThreadPages::take`; the memory is given back with this value, which alone
        // refers to it.
        let pages = unsafe { pages.as_ref() }?;
        pages.log.store(std::ptr::from_ref(log).cast_mut(), Relaxed);
        Some(ScratchPages(pages))
    }

    /// The pages, as a thread has them.
    pub fn address(&self) -> *mut () {
        std::ptr::from_ref(self.0).cast_mut().cast()
    }

    /// As that of a thread's pages.
    pub fn remember_pair(&self, table: u32, who: u64, pair: [&'static Pair; 2]) {
        self.0.remember_pair(table, who, pair);
    }
}

impl Drop for ScratchPages {
    fn drop(&mut self) {
        // SAFETY: `new` took it, and nothing refers to it any more.
        unsafe { own_pages::give_back(self.address().cast(), Layout::new::<ThreadPages>()) };
    }
}

impl ThreadPages {
    /// Takes the pages of a thread that begins: without the allocator, and without waiting, because
    /// a signal handler may be calling the first hook of the thread.
    fn take() -> Option<&'static ThreadPages> {
        if let Some(pages) = FREE.try_lock().ok().and_then(|mut free| free.pop()) {
            pages.go_on();
            return Some(pages);
        }
        let made: *mut ThreadPages = own_pages::take(Layout::new::<ThreadPages>()).cast();
        // SAFETY: it is null, or zeros, which are pages and rows that were not taken. It is aligned
        // to a page and stays.
        let pages: &'static ThreadPages = unsafe { made.as_ref() }?;
        let link = |newest| {
            pages.next.store(newest, Relaxed);
            Some(made)
        };
        // It never fails: `link` always has a result.
        let _ = ALL.fetch_update(Release, Relaxed, link);
        Some(pages)
    }

    /// Gives the pages of a thread that ends to a later one.
    fn hand_on(&'static self) {
        self.end_use();
        lock(&FREE).push(self);
    }

    /// A word of the page in a slot, in a log.
    #[inline]
    pub(super) fn word(
        &self,
        log: &'static Log,
        slot: usize,
        at: usize,
    ) -> Result<&'static AtomicU64, Missing> {
        let Some(current) = recorder::current() else { return Err(Missing::Log) };
        let Some(page) = self.slots.get(slot) else { return Err(Missing::Slot) };
        if !std::ptr::eq(self.log.load(Relaxed), log) {
            // Where a log is being replaced, one table may be in the new one already, and another
            // one not yet.
            if !std::ptr::eq(current, log) {
                return Err(Missing::Slot);
            }
            if !self.begin(log) {
                return Err(Missing::Slot);
            }
        }
        let page = page.load(Relaxed);
        if page.is_null() {
            return Err(Missing::Page);
        }
        // SAFETY: `put` stored the first word of a page that is as long as the segment of this
        // slot, `at` is a word of that segment, and logs are never unmapped.
        Ok(unsafe { &*page.add(at) })
    }

    /// Words of the page in a slot, one after the other, if it has a page and they are in one
    /// segment.
    #[inline]
    pub(super) fn words<const N: usize>(
        &self,
        log: &'static Log,
        slot: usize,
        at: usize,
    ) -> Option<&'static [AtomicU64; N]> {
        if at + N > SEGMENT {
            return None;
        }
        let first = std::ptr::from_ref(self.word(log, slot, at).ok()?);
        // SAFETY: as in `word`, and all of them are in the segment. A last segment that is short
        // has whole rows.
        Some(unsafe { &*first.cast::<[AtomicU64; N]>() })
    }

    /// The row of a key, if the thread used it last.
    #[inline]
    pub(super) fn known_row(&self, log: &Log, table: u32, key: Key) -> Option<u32> {
        let known = self.known(table, key);
        let is_known = known.table.load(Relaxed) == table
            && known.who.load(Relaxed) == key.who()
            && known.key.load(Relaxed) == key.key
            && std::ptr::eq(self.log.load(Relaxed), log);
        known.row.load(Relaxed).checked_sub(1).filter(|_| is_known)
    }

    /// Remembers the row of a key in a log.
    pub(super) fn remember_row(&self, log: &Log, table: u32, key: Key, row: u32) {
        // It may be another log than the pages are of; then nothing is remembered.
        if std::ptr::eq(self.log.load(Relaxed), log) {
            let known = self.known(table, key);
            known.who.store(key.who(), Relaxed);
            known.key.store(key.key, Relaxed);
            known.table.store(table, Relaxed);
            known.row.store(row + 1, Relaxed);
        }
    }

    /// The words of a method and of its calls from one caller, by the table of these, if the thread
    /// remembers both in this log.
    #[inline(always)]
    pub(super) fn known_pair(&self, table: u32, who: u64) -> Option<[&'static Pair; 2]> {
        let known = &self.pairs[hash::bucket(who, PAIRS.ilog2())];
        let is_known = known.who.load(Relaxed) == who
            && known.table.load(Relaxed) == table
            && std::ptr::eq(self.log.load(Relaxed), recorder::current()?);
        // SAFETY: they are null, or words of pages, and logs are never unmapped.
        let [of_method, of_caller] =
            [&known.of_method, &known.of_caller].map(|at| unsafe { at.load(Relaxed).as_ref() });
        Some([of_method?, of_caller?]).filter(|_| is_known)
    }

    /// Remembers these words in the log of these pages. The caller keeps signal handlers of this
    /// thread out.
    pub(super) fn remember_pair(
        &self,
        table: u32,
        who: u64,
        [of_method, of_caller]: [&'static Pair; 2],
    ) {
        let known = &self.pairs[hash::bucket(who, PAIRS.ilog2())];
        known.who.store(who, Relaxed);
        known.table.store(table, Relaxed);
        known.of_method.store(std::ptr::from_ref(of_method).cast_mut(), Relaxed);
        known.of_caller.store(std::ptr::from_ref(of_caller).cast_mut(), Relaxed);
    }

    #[inline]
    fn known(&self, table: u32, key: Key) -> &KnownRow {
        &self.rows[hash::bucket(
            key.who() ^ key.key.rotate_left(32) ^ u64::from(table).rotate_left(20),
            ROWS.ilog2(),
        )]
    }

    /// Remembers the page of a slot: all words of its segment. Only the thread itself does so.
    pub(super) fn put(&self, slot: usize, page: &'static [AtomicU64]) {
        self.slots[slot].store(page.as_ptr().cast_mut(), Relaxed);
    }

    /// Goes on in the same log, if that is still written. Otherwise the first word finds another
    /// one.
    fn go_on(&self) {
        // SAFETY: it is null, or a log, and logs are leaked boxes.
        let log = unsafe { self.log.load(Relaxed).as_ref() };
        if log.is_some_and(Log::begin_use) {
            self.use_log.store(true, Relaxed)
        } else {
            self.log.store(std::ptr::null_mut(), Relaxed)
        }
    }

    /// Keeps the memory of logs no longer.
    fn end_use(&self) {
        self.keep_used();
        self.end_use_before();
    }

    /// The log is the one before from now on.
    fn keep_used(&self) {
        self.end_use_before();
        if self.use_log.load(Relaxed) {
            self.use_log.store(false, Relaxed);
            self.before.store(self.log.load(Relaxed), Relaxed);
        }
    }

    fn end_use_before(&self) {
        // SAFETY: it is null, or a log, and logs are leaked boxes.
        if let Some(before) = unsafe { self.before.load(Relaxed).as_ref() } {
            self.before.store(std::ptr::null_mut(), Relaxed);
            before.end_use();
        }
    }

    /// Continues in another log, where no page is taken yet. False if that was replaced meanwhile.
    #[cold]
    fn begin(&self, log: &'static Log) -> bool {
        if !log.begin_use() {
            return false;
        }
        self.keep_used();
        self.slots.iter().for_each(|slot| slot.store(std::ptr::null_mut(), Relaxed));
        self.rows.iter().for_each(|known| known.row.store(0, Relaxed));
        self.pairs.iter().for_each(|known| known.of_caller.store(std::ptr::null_mut(), Relaxed));
        self.log.store(std::ptr::from_ref(log).cast_mut(), Relaxed);
        self.use_log.store(true, Relaxed);
        true
    }
}
