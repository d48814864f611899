//! The rows of a table that is keyed by more than a site: an index in memory over keys in the
//! recording.

use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

use crate::format::profile::Key;
use crate::format::profile::page::{Content, Kind};
use crate::method_profilers::table::pages;
use crate::method_profilers::uncounted::uncounted;
use crate::platform::lock::lock;
use crate::platform::signal_mask::may_be_in_handler;
use crate::recorder::Log;

/// The fewest rows that are worth a table.
const ROWS_MIN: usize = 64;
/// The part of the area that the first keys of a table take at most.
const AREA_SHARE: usize = 16;

/// Rows of an index at most, unless it has twice as many as the one before.
const FITTING_MAX: usize = 1 << 16;
/// Rows of the first index at most: a recording of few calls is a short file.
const FIRST_MAX: usize = 1 << 10;
/// Slots of the first index for a row, and of the others. Rows of the others are looked for in the
/// first one, too, and a search ends at a free slot.
const FIRST_SLOTS: usize = 8;
const SLOTS: usize = 2;
/// The next index is made when a quarter of the rows is left, because a signal handler cannot make
/// it.
const LEFT: usize = 4;

/// Slots of tables that ended, for later ones.
static UNUSED: Mutex<Vec<&[AtomicU32]>> = Mutex::new(Vec::new());

/// Finds the row of a key. Threads only meet where a key is new.
///
/// When its rows are nearly all in use, it continues in a larger index, as long as the recording
/// has room.
pub(super) struct KeyIndex {
    log: &'static Log,
    table: u32,
    /// The number of its first row.
    first: u32,
    /// Row + 1 by the hash of its key; 0 = free. More than rows. A hook may read them after the
    /// table has ended.
    slots: &'static [AtomicU32],
    /// The keys, in the recording.
    keys: &'static [AtomicU64],
    /// Rows in use.
    used: AtomicU32,
    /// The index in which it continues; null if there is none yet.
    next: AtomicPtr<KeyIndex>,
    /// True if the recording had no room for another index.
    is_last: AtomicBool,
    /// True if later tables have its slots.
    is_given_back: AtomicBool,
}

impl KeyIndex {
    /// An index for a table with this many rows at most; `None` if the recording has no room at
    /// all.
    pub fn new(log: &'static Log, table: u32, most: usize) -> Option<Self> {
        KeyIndex::with_rows(log, table, 0, 1 << fitting(log, most).min(FIRST_MAX).ilog2())
    }

    /// An index with as many of these rows as the recording has room for.
    fn with_rows(log: &'static Log, table: u32, first: u32, mut rows: usize) -> Option<Self> {
        let keys = loop {
            match pages::take(
                log,
                Content { table, kind: Kind::Keys },
                first.into(),
                rows * Key::WORDS,
            ) {
                Some(keys) => break keys,
                None if rows > ROWS_MIN => rows /= 2,
                None => return None,
            }
        };
        let slots = if first == 0 { FIRST_SLOTS } else { SLOTS };
        let used = AtomicU32::new(0);
        let next = AtomicPtr::new(std::ptr::null_mut());
        let (slots, is_last, is_given_back) =
            (free_slots(rows * slots), AtomicBool::new(false), AtomicBool::new(false));
        Some(KeyIndex { log, table, first, slots, keys, used, next, is_last, is_given_back })
    }

    /// The table has ended, or its recording is reached no more: later ones use its slots.
    pub fn give_back(&self) {
        if !self.is_given_back.swap(true, Relaxed) {
            lock(&UNUSED).push(self.slots);
        }
        self.next().into_iter().for_each(KeyIndex::give_back);
    }

    /// The row of a key, made if it is new; `None` if there is no room for another row. A table has
    /// this many at most.
    #[inline]
    pub fn row(&self, key: Key, most: usize) -> Option<u32> {
        match self.row_here(key, most) {
            Some(row) => Some(self.first + row),
            None => self.row_behind(key, most),
        }
    }

    #[cold]
    fn row_behind(&self, key: Key, most: usize) -> Option<u32> {
        let next = match self.next() {
            Some(next) => next,
            None => self.grow(most)?,
        };
        next.row(key, most)
    }

    fn next(&self) -> Option<&KeyIndex> {
        // SAFETY: it is null, or a box that is freed with this index.
        unsafe { self.next.load(Acquire).as_ref() }
    }

    /// Continues in another index. It takes memory, which a signal handler must not: then there is
    /// no room.
    #[cold]
    fn grow(&self, most: usize) -> Option<&KeyIndex> {
        let first = self.first as usize + self.rows();
        let left = most.checked_sub(first).filter(|rows| *rows >= ROWS_MIN)?;
        let rows = left.min(fitting(self.log, most).max(2 * self.rows()));
        if self.is_last.load(Relaxed) || may_be_in_handler() {
            return None;
        }
        static GROWING: Mutex<()> = Mutex::new(());
        let _growing = lock(&GROWING);
        if let Some(next) = self.next() {
            return Some(next);
        }
        let next = uncounted(|| {
            let next = KeyIndex::with_rows(self.log, self.table, first as u32, 1 << rows.ilog2())?;
            Some(Box::into_raw(Box::new(next)))
        });
        match next {
            Some(next) => self.next.store(next, Release),
            None => self.is_last.store(true, Relaxed),
        }
        self.next()
    }

    #[inline]
    fn row_here(&self, key: Key, most: usize) -> Option<u32> {
        let who = key.who();
        let mut made = None;
        for at in self.places(key) {
            let slot = &self.slots[at];
            let mut found = slot.load(Acquire);
            if found == 0 {
                let row = match made {
                    Some(row) => row,
                    None => self.make(key, most)?,
                };
                match slot.compare_exchange(0, row + 1, AcqRel, Acquire) {
                    Ok(_) => return Some(row),
                    // Another thread was first here. If the key is the same, the row that was made
                    // stays without values.
                    Err(other) => (found, made) = (other, Some(row)),
                }
            }
            if self.is_at(found - 1, who, key.key) {
                return Some(found - 1);
            }
        }
        None
    }

    fn rows(&self) -> usize {
        self.keys.len() / Key::WORDS
    }

    /// The slots in which a key is looked for, in order.
    #[inline]
    fn places(&self, key: Key) -> impl Iterator<Item = usize> {
        let mask = self.slots.len() - 1;
        let first = crate::format::row::product(key.key, key.who()) >> 32;
        (0..self.slots.len()).map(move |step| (first as usize + step) & mask)
    }

    #[inline]
    fn is_at(&self, row: u32, who: u64, key: u64) -> bool {
        let at = row as usize * Key::WORDS;
        // The slots of an ended table have rows of a later one.
        let found = self.keys.get(at..at + Key::WORDS);
        found.is_some_and(|found| {
            found[Key::WHO].load(Relaxed) == who && found[Key::KEY].load(Relaxed) == key
        })
    }

    #[cold]
    fn make(&self, key: Key, most: usize) -> Option<u32> {
        let row = self.used.fetch_update(AcqRel, Relaxed, |used| {
            ((used as usize) < self.rows()).then_some(used + 1)
        });
        let row = row.ok()?;
        let at = row as usize * Key::WORDS;
        self.keys[at + Key::KEY].store(key.key, Relaxed);
        self.keys[at + Key::WHO].store(key.who(), Release);
        if row as usize == self.rows() - self.rows() / LEFT {
            let _ = self.grow(most);
        }
        Some(row)
    }
}

/// The rows of an index that takes its share of the area.
fn fitting(log: &Log, most: usize) -> usize {
    (log.layout.profiles.bytes() / AREA_SHARE / (Key::WORDS * 8))
        .clamp(ROWS_MIN, most.min(FITTING_MAX))
}

/// So many slots, all of them free.
fn free_slots(count: usize) -> &'static [AtomicU32] {
    let mut unused = lock(&UNUSED);
    let Some(at) = unused.iter().position(|slots| slots.len() == count) else {
        drop(unused);
        return Box::leak((0..count).map(|_| AtomicU32::new(0)).collect());
    };
    let slots = unused.swap_remove(at);
    slots.iter().for_each(|slot| slot.store(0, Relaxed));
    slots
}

impl Drop for KeyIndex {
    fn drop(&mut self) {
        if !*self.is_given_back.get_mut() {
            lock(&UNUSED).push(self.slots);
        }
        let next = *self.next.get_mut();
        if !next.is_null() {
            // SAFETY: `grow` made it from a box, and nothing else frees it.
            drop(unsafe { Box::from_raw(next) });
        }
    }
}
