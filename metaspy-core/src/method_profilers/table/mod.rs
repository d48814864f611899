//! Tables of method profilers: declared columns whose values are written into the recording.
//!
//! Each thread writes words of its own, with plain stores, so threads do not wait for each other,
//! and a reader in another process sees every value up to the last store, also when the program is
//! killed. Readers merge the words of all threads by the rule of their column. Where the recording
//! has no room, a value is counted as lost.
//!
//! Tables are keyed by site, by site and subject, or by caller and callee. They are in the
//! recording, instead of a report that is written at exit and joined by path and line. So they
//! survive a kill, merge by their declared rule, and every front end shows them without code for
//! that profiler.

mod call_times;
mod columns;
mod context_rows;
mod keyed;
mod keys;
mod pages;
mod shared_pages;
mod thread_pages;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::format::arena::Entry;
use crate::format::profile::page::{
    Content, HEAD_WORDS, HEADER_WORDS, Kind, LOST, OVERLAPS, WITHIN,
};
use crate::format::profile::{Key, KeyKind, Merge, ROWS_MAX, TableDef};
use crate::format::superblock as sb;
use crate::method_profilers::spans::Within;
use crate::platform::lock::lock;
use crate::recorder::{self, Draft, Log};
use crate::site;

pub(super) use call_times::{CallTimes, known_pair};
pub use columns::{Choice, Columns, Count, Data, Flags, Max, Min};
pub(super) use context_rows::{ContextRow, Written};
pub(super) use keyed::TypeTable;
pub use keyed::{CallerTable, KeyedRow, SubjectTable, Tables};
use keys::KeyIndex;
use shared_pages::SharedPages;
pub(super) use thread_pages::end_thread;
use thread_pages::{Missing, SEGMENT, Slots};
pub(super) use thread_pages::{Pair, ScratchPages};

/// A table of a method profiler. It stays as long as its profiler, and as a value that was copied
/// from its mirror.
pub(crate) struct Table {
    number: u32,
    def: TableDef,
    /// Rows at most.
    rows: usize,
    /// Words of all rows together.
    words: usize,
    /// The installation that sees the calls of this table, too, + 1; 0 = none.
    within: AtomicU64,
    /// A bit for each installation around that does not see all of them.
    overlaps: AtomicU64,
    /// Its slots among those of a thread's pages.
    slots: Slots,
    /// The table in the recording that is written now; null before the first one.
    current: AtomicPtr<Instance>,
    /// The instance in recordings at the time when the table retired.
    retired: AtomicPtr<Instance>,
    /// Its words, merged over recordings that are reached no more.
    earlier: OnceLock<Box<[AtomicU64]>>,
}

/// A table in one recording. A hook works in one instance until its end, also while the next
/// recording begins, unless the file of the first one is closed meanwhile and has no room for the
/// hook's row.
pub(super) struct Instance {
    log: &'static Log,
    /// Distinguishes it from all others of the process; from 1 on.
    number: u32,
    /// Counts of loss; `None` if there was no room even for these.
    head: Option<&'static [AtomicU64]>,
    /// A bit for each site with a value that found no room.
    incomplete: Option<&'static [AtomicU64]>,
    keys: Option<KeyIndex>,
    /// The first words of pages that threads share: for threads that end, and for tables beyond the
    /// slots.
    shared: SharedPages,
    /// The table in the recording before: a hook may still be using it.
    before: *mut Instance,
}

/// The tables of installed profilers: a recording that begins later has them, too.
static INSTALLED: Mutex<Vec<Arc<Table>>> = Mutex::new(Vec::new());
/// All tables that are still asked for values.
static ALL: Mutex<Vec<Weak<Table>>> = Mutex::new(Vec::new());
static NEXT: AtomicU32 = AtomicU32::new(0);
/// Odd while values of a recording are handed over.
static HANDED_OVER: AtomicUsize = AtomicUsize::new(0);
/// Attempts to read a value while others are handed over.
const TRIES: usize = 1_000;

/// The rows of a table.
#[derive(Clone, Copy)]
pub(crate) enum TableRows {
    /// One for each of these sites.
    Sites(usize),
    /// As many as the recording has room for. Each thread has words of its own.
    Keys,
    /// As many as the recording has room for. Most of them are written once, so threads share their
    /// words.
    ManyKeys,
}

impl TableRows {
    const fn most(self) -> usize {
        match self {
            TableRows::Sites(sites) => sites + 1,
            TableRows::Keys => 65_536,
            TableRows::ManyKeys => ROWS_MAX as usize,
        }
    }
}

/// Continues the tables of installed profilers in a recording, which has become the current one.
/// Until then hooks write into the one before.
pub(crate) fn continue_all(log: &'static Log) {
    let installed = lock(&INSTALLED);
    installed
        .iter()
        .filter(|table| table.current().is_none_or(|here| !std::ptr::eq(here.log, log)))
        .for_each(|table| table.declare(log));
}

/// Merges the values of a recording that is no longer written into those that tables keep of
/// earlier recordings, and gives back the indices that found its rows.
pub(crate) fn hand_over(log: &'static Log) {
    let mut all = lock(&ALL);
    all.retain(|table| table.strong_count() > 0);
    let tables: BTreeMap<u32, Arc<Table>> =
        all.iter().filter_map(Weak::upgrade).map(|table| (table.number, table)).collect();
    HANDED_OVER.fetch_add(1, AcqRel);
    pages::each(log, |content, first, words| {
        if let (Some(table), Kind::Values) = (tables.get(&content.table), content.kind) {
            table.keep(first as usize, words);
        }
    });
    log.note_handed_over();
    HANDED_OVER.fetch_add(1, AcqRel);
    let instances = tables.values().flat_map(|table| table.instances());
    for instance in instances.filter(|it| std::ptr::eq(it.log, log)) {
        instance.keys.iter().for_each(KeyIndex::give_back);
        instance.shared.give_back();
    }
}

impl Table {
    /// Makes a table, and declares it in a recording, or in the one that has followed meanwhile.
    pub fn install(log: &'static Log, def: TableDef, rows: TableRows) -> Arc<Table> {
        let words = rows.most() * def.columns.len();
        let slots = match rows {
            TableRows::Sites(_) | TableRows::Keys => Slots::reserve(words),
            TableRows::ManyKeys => Slots::NONE,
        };
        let table = Arc::new(Table {
            number: NEXT.fetch_add(1, Relaxed),
            def,
            rows: rows.most(),
            words,
            within: AtomicU64::new(0),
            overlaps: AtomicU64::new(0),
            slots,
            current: AtomicPtr::new(std::ptr::null_mut()),
            retired: AtomicPtr::new(std::ptr::null_mut()),
            earlier: OnceLock::new(),
        });
        let mut all = lock(&ALL);
        all.retain(|table| table.strong_count() > 0);
        all.push(Arc::downgrade(&table));
        drop(all);
        let mut installed = lock(&INSTALLED);
        table.declare(recorder::current().unwrap_or(log));
        installed.push(Arc::clone(&table));
        table
    }

    /// The profiler is uninstalled: recordings that begin later do not have the table.
    pub fn uninstall(&self) {
        lock(&INSTALLED).retain(|table| !std::ptr::eq(Arc::as_ptr(table), self));
    }

    /// Gives back its slots, its index and its pages, for a table that stays because a hook may
    /// refer to it. It counts nothing from now on.
    pub fn retire(&self) {
        let ended = self.current.swap(std::ptr::null_mut(), AcqRel);
        self.retired.store(ended, Relaxed);
        self.instances()
            .filter_map(|instance| instance.keys.as_ref())
            .for_each(KeyIndex::give_back);
        self.slots.give_back();
        pages::give_up(self.number);
    }

    /// Iterates over the instances of the table, the latest one first.
    fn instances(&self) -> impl Iterator<Item = &Instance> {
        let current = self.current.load(Acquire);
        let first = if current.is_null() { self.retired.load(Acquire) } else { current };
        // SAFETY: `declare` made each from a box, which stays as long as the table.
        let first = unsafe { first.as_ref() };
        // SAFETY: as above.
        std::iter::successors(first, |instance| unsafe { instance.before.as_ref() })
    }

    fn declare(&self, log: &'static Log) {
        let Ok(json) = serde_json::to_string(&self.def) else { return };
        let content = Content { table: self.number, kind: Kind::Head };
        pages::make_room(log);
        // A table without it is one whose pages were used again.
        let head = pages::take(log, content, 0, HEAD_WORDS);
        log.append(Draft::new(Entry::Table, self.number).text(&json));
        let content = Content { table: self.number, kind: Kind::Incomplete };
        let incomplete = pages::take(log, content, 0, site::entries().len() / 64 + 1);
        let keys = if self.def.key == KeyKind::Site {
            None
        } else {
            KeyIndex::new(log, self.number, self.rows)
        };
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let instance = Box::new(Instance {
            log,
            number: NEXT.fetch_add(1, Relaxed),
            head,
            incomplete,
            keys,
            shared: SharedPages::of_segments(self.words.div_ceil(SEGMENT)),
            before: self.current.load(Acquire),
        });
        self.write_within(&instance);
        self.current.store(Box::into_raw(instance), std::sync::atomic::Ordering::Release);
    }

    /// States which installation sees the calls of this table, too.
    pub fn put_within(&self, within: Within) {
        self.within.store(
            within.installation.map_or(0, |installation| u64::from(installation) + 1),
            Relaxed,
        );
        self.overlaps.store(within.overlaps, Relaxed);
        self.current().into_iter().for_each(|instance| self.write_within(instance));
    }

    fn write_within(&self, instance: &Instance) {
        if let Some(head) = instance.head {
            head[OVERLAPS - HEADER_WORDS].store(self.overlaps.load(Relaxed), Relaxed);
            head[WITHIN - HEADER_WORDS].store(self.within.load(Relaxed), Relaxed);
        }
    }

    /// The table in the recording that it is written into now.
    #[inline]
    fn current(&self) -> Option<&Instance> {
        // SAFETY: it is null, or a box that is freed with the table.
        unsafe { self.current.load(Acquire).as_ref() }
    }

    /// The row of a key, made if it is new, and the recording that it is in. Without room for it a
    /// loss is counted.
    #[inline]
    fn row(&self, key: Key) -> Option<(&Instance, u32)> {
        let here = self.current()?;
        let pages = thread_pages::pages();
        if let Some(row) = pages.and_then(|pages| pages.known_row(here.log, self.number, key)) {
            return Some((here, row));
        }
        let (instance, row) = self.find_row(here, key)?;
        pages.into_iter().for_each(|pages| pages.remember_row(instance.log, self.number, key, row));
        Some((instance, row))
    }

    /// The row of a key that this thread did not use last, in the recording that is written now if
    /// this one has no room.
    #[inline(never)]
    fn find_row<'t>(&'t self, mut instance: &'t Instance, key: Key) -> Option<(&'t Instance, u32)> {
        // A forked child records nothing.
        recorder::current()?;
        loop {
            if let Some(row) = instance.row(key, self.rows) {
                return Some((instance, row));
            }
            match self.after(instance) {
                Some(next) => instance = next,
                None => {
                    instance.lose_at(key.site);
                    return None;
                }
            }
        }
    }

    /// Returns the recording that is written now, if it is another one. The previous one may have
    /// been closed while a hook was at work in it, and then has no room for new rows.
    fn after(&self, before: &Instance) -> Option<&Instance> {
        self.current().filter(|here| !std::ptr::eq(*here, before))
    }

    /// Counts a value of a site that is lost.
    #[cold]
    pub fn lose_at(&self, site: u32) {
        if let Some(here) = self.current().filter(|_| recorder::current().is_some()) {
            here.lose_at(site);
        }
    }

    /// Merges a word into a column of a row of the recording that is written now.
    #[inline]
    fn put(&self, at: usize, word: u64, merge: Merge) {
        let Some(here) = self.current() else { return };
        if !self.put_in(here, at, word, merge) {
            let columns = self.def.columns.len();
            let key = Key { site: (at / columns) as u32, second: 0, key: 0 };
            self.put_later(here, key, at % columns, word, merge);
        }
    }

    /// Merges a word into word `at`, in memory that only this thread writes if it has such memory.
    /// False: it found no room.
    #[inline]
    #[must_use]
    fn put_in(&self, instance: &Instance, at: usize, word: u64, merge: Merge) -> bool {
        match self.own_word(instance, at) {
            Ok(own) => {
                own.store(merge.words(own.load(Relaxed), word), Relaxed);
                true
            }
            Err(missing) => self.put_shared(instance, at, word, merge, &missing),
        }
    }

    /// Merges a word that found no room in a recording, into the one that has followed meanwhile.
    /// Without one it is lost.
    #[cold]
    #[inline(never)]
    fn put_later<'t>(
        &'t self,
        mut before: &'t Instance,
        key: Key,
        column: usize,
        word: u64,
        merge: Merge,
    ) {
        while let Some(now) = self.after(before) {
            let row = match self.def.key {
                KeyKind::Site => Some(key.site),
                _ => now.row(key, self.rows),
            };
            let at = row.map(|row| row as usize * self.def.columns.len() + column);
            if at.is_some_and(|at| self.put_in(now, at, word, merge)) {
                return;
            }
            before = now;
        }
        before.lose_at(key.site);
    }

    /// The word that this thread, and no other one, writes.
    #[inline]
    fn own_word(&self, instance: &Instance, at: usize) -> Result<&'static AtomicU64, Missing> {
        let Some(pages) = thread_pages::pages() else {
            return Err(if recorder::current().is_some() { Missing::Slot } else { Missing::Log });
        };
        let slot = self.slots.of_segment(at / SEGMENT);
        match pages.word(instance.log, slot, at % SEGMENT) {
            Err(Missing::Page) => {
                let page = self.take_segment(instance.log, at / SEGMENT).ok_or(Missing::Slot)?;
                pages.put(slot, page);
                page.get(at % SEGMENT).ok_or(Missing::Slot)
            }
            found => found,
        }
    }

    /// Words of this thread, one after the other; `None` if the first one has no page yet, or if
    /// they are in two segments.
    #[inline]
    fn own_words<const N: usize>(
        &self,
        instance: &Instance,
        at: usize,
    ) -> Option<&'static [AtomicU64; N]> {
        let slot = self.slots.of_segment(at / SEGMENT);
        thread_pages::pages()?.words(instance.log, slot, at % SEGMENT)
    }

    /// A page for the words of a segment; the last one may be short.
    fn take_segment(&self, log: &'static Log, segment: usize) -> Option<&'static [AtomicU64]> {
        let first = segment * SEGMENT;
        let words = self.words.checked_sub(first).filter(|words| *words > 0)?.min(SEGMENT);
        pages::take(log, Content { table: self.number, kind: Kind::Values }, first as u64, words)
    }

    /// Merges a word where several threads may write. False: it found no room.
    #[cold]
    fn put_shared(
        &self,
        instance: &Instance,
        at: usize,
        word: u64,
        merge: Merge,
        missing: &Missing,
    ) -> bool {
        if let Missing::Log = missing {
            return true;
        }
        // It may have been replaced long before.
        if !instance.log.begin_late_use() {
            return false;
        }
        let shared = self.shared_word(instance, at);
        if let Some(shared) = shared {
            // It never fails: the rule always has a result.
            let _ = shared.fetch_update(Relaxed, Relaxed, |found| Some(merge.words(found, word)));
        }
        instance.log.end_use();
        shared.is_some()
    }

    fn shared_word(&self, instance: &Instance, at: usize) -> Option<&'static AtomicU64> {
        let place = instance.shared.place(at / SEGMENT)?;
        let mut page = place.load(Acquire);
        if page.is_null() {
            let made = self.take_segment(instance.log, at / SEGMENT)?.as_ptr().cast_mut();
            // If another thread was first, its page is shared, and this one stays empty.
            page = match place.compare_exchange(page, made, AcqRel, Acquire) {
                Ok(_) => made,
                Err(other) => other,
            };
        }
        // SAFETY: it is the first word of a page as long as the segment, `at` is a word of the
        // table, and logs are never unmapped.
        Some(unsafe { &*page.add(at % SEGMENT) })
    }

    /// The value of a word, merged over all threads and recordings of this process.
    fn value(&self, at: usize, merge: Merge) -> u64 {
        let mut value = 0;
        for _ in 0..TRIES {
            let handed_over = HANDED_OVER.load(Acquire);
            value = self.value_now(at, merge);
            fence(Acquire);
            if handed_over.is_multiple_of(2) && HANDED_OVER.load(Relaxed) == handed_over {
                break;
            }
            std::thread::yield_now();
        }
        if value == 0 { 0 } else { merge.value(value) }
    }

    fn value_now(&self, at: usize, merge: Merge) -> u64 {
        let earlier = self.earlier.get().and_then(|words| words.get(at));
        let mut value = earlier.map_or(0, |word| word.load(Relaxed));
        for log in recorder::all().filter(|log| !log.is_handed_over()) {
            pages::each(log, |content, first, words| {
                let is_here = content == Content { table: self.number, kind: Kind::Values };
                if let Some(word) = (at as u64)
                    .checked_sub(first)
                    .and_then(|at| words.get(at as usize))
                    .filter(|_| is_here)
                {
                    value = merge.words(value, word.load(Relaxed));
                }
            });
        }
        value
    }

    /// Keeps the words of a page whose recording is reached no more. Only the values of rows of
    /// sites are asked for.
    fn keep(&self, first: usize, words: &[AtomicU64]) {
        if self.def.key != KeyKind::Site {
            return;
        }
        let earlier =
            self.earlier.get_or_init(|| (0..self.words).map(|_| AtomicU64::new(0)).collect());
        let Some(earlier) = earlier.get(first..) else { return };
        let merges = self
            .def
            .columns
            .iter()
            .map(|column| column.merge)
            .cycle()
            .skip(first % self.def.columns.len().max(1));
        for ((earlier, word), merge) in earlier.iter().zip(words).zip(merges) {
            earlier.store(merge.words(earlier.load(Relaxed), word.load(Relaxed)), Relaxed);
        }
    }
}

/// Adds to a word that only this thread writes.
#[inline(always)]
pub(super) fn count(word: &AtomicU64, by: u64) {
    word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
}

impl Drop for Table {
    fn drop(&mut self) {
        let mut instance = *self.current.get_mut();
        while !instance.is_null() {
            // SAFETY: `declare` made each from a box, and nothing else refers to them: hooks hold
            // the table.
            instance = unsafe { Box::from_raw(instance) }.before;
        }
        pages::give_up(self.number);
    }
}

impl Instance {
    /// The row of a key, made if it is new; `None` if there is no room for another row. The table
    /// has this many at most.
    #[inline]
    fn row(&self, key: Key, most: usize) -> Option<u32> {
        self.keys.as_ref()?.row(key, most)
    }

    /// Counts a value of a site that found no room; 0 = the site is not known.
    #[cold]
    fn lose_at(&self, site: u32) {
        if let Some(sites) = self.incomplete {
            // Of a site that came later, and is beyond the bits, nothing is known here.
            let (word, bit) =
                sites.get(site as usize / 64).map_or((&sites[0], 0), |word| (word, site % 64));
            word.fetch_or(1 << bit, Relaxed);
        }
        self.lose();
    }

    /// Counts a value that found no room.
    #[cold]
    fn lose(&self) {
        match self.head {
            Some(head) => _ = head[LOST - HEADER_WORDS].fetch_add(1, Relaxed),
            None => self.log.count(sb::PROFILES_LOST, 1),
        }
    }
}
