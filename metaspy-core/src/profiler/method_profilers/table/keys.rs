//! The rows of a table that is keyed by more than a site: an index in memory over keys in the recording.

use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::format::profile::Key;
use crate::format::profile::page::{Content, Kind};
use crate::method_profilers::table::pages;
use crate::platform::lock::lock;
use crate::recorder::Log;

/// Rows of a table at most.
pub(super) const ROWS_MAX: usize = 1 << 16;
/// The fewest rows that are worth a table.
const ROWS_MIN: usize = 64;
/// The part of the area that the keys of one table may take.
const AREA_SHARE: usize = 16;

/// Slots of tables that ended, for later ones.
static UNUSED: Mutex<Vec<&[AtomicU32]>> = Mutex::new(Vec::new());

/// Finds the row of a key. Threads only meet where a key is new.
pub(super) struct KeyIndex {
    /// Row + 1 by the hash of its key; 0 = free. Twice as many as rows. A hook may read them after the table has ended.
    slots: &'static [AtomicU32],
    /// The keys, in the recording.
    keys: &'static [AtomicU64],
    /// Rows in use.
    used: AtomicU32,
}

impl KeyIndex {
    /// An index with room for as many rows as the recording allows; `None` if it has no room at all.
    pub fn new(log: &'static Log, table: u32) -> Option<Self> {
        let fitting = (log.layout.profiles.bytes() / AREA_SHARE / (Key::WORDS * 8)).clamp(ROWS_MIN, ROWS_MAX);
        let mut rows = 1 << fitting.ilog2();
        let keys = loop {
            match pages::take(log, Content { table, kind: Kind::Keys }, 0, rows * Key::WORDS) {
                Some(keys) => break keys,
                None if rows > ROWS_MIN => rows /= 2,
                None => return None,
            }
        };
        Some(KeyIndex { slots: free_slots(rows * 2), keys, used: AtomicU32::new(0) })
    }

    /// The table has ended: later ones use its slots.
    pub fn give_back(&self) {
        lock(&UNUSED).push(self.slots);
    }

    /// The row of a key, made if it is new; `None` if there is no room for another row.
    #[inline]
    pub fn row(&self, key: Key) -> Option<u32> {
        let who = key.who();
        let mut made = None;
        for at in self.places(key) {
            let slot = &self.slots[at];
            let mut found = slot.load(Acquire);
            if found == 0 {
                let row = match made {
                    Some(row) => row,
                    None => self.make(key)?,
                };
                match slot.compare_exchange(0, row + 1, AcqRel, Acquire) {
                    Ok(_) => return Some(row),
                    // Another thread was first here. If the key is the same, the row that was made stays without values.
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
        found.is_some_and(|found| found[Key::WHO].load(Relaxed) == who && found[Key::KEY].load(Relaxed) == key)
    }

    #[cold]
    fn make(&self, key: Key) -> Option<u32> {
        let row = self.used.fetch_update(AcqRel, Relaxed, |used| ((used as usize) < self.rows()).then_some(used + 1));
        let row = row.ok()?;
        let at = row as usize * Key::WORDS;
        self.keys[at + Key::KEY].store(key.key, Relaxed);
        self.keys[at + Key::WHO].store(key.who(), Release);
        Some(row)
    }
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
        self.give_back();
    }
}
