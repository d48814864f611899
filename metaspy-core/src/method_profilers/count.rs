//! Counts that threads do not share: each thread counts in memory of its own, and a reader adds up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::method_profilers::call_stack;
use crate::platform::lock::lock;

/// A number that many threads count up, none of which waits for another or shares a cache line with it. It costs about
/// what a plain increment costs. Of more than four million in a process, threads share the later ones.
#[derive(Debug)]
pub struct Count {
    /// Its place in the table of each thread.
    at: usize,
    /// What was counted where there was no such place.
    shared: AtomicU64,
}

/// Numbers in a segment.
const SEGMENT: usize = 4096;
/// Segments: room for 4 million counts.
const SEGMENTS: usize = 1024;

static NEXT: AtomicUsize = AtomicUsize::new(0);
/// The tables of all threads, of those that ended, too: a later thread goes on with them.
static TABLES: Mutex<Vec<&'static Table>> = Mutex::new(Vec::new());
static FREE: Mutex<Vec<&'static Table>> = Mutex::new(Vec::new());

/// The counts of a thread.
pub(super) struct Table {
    segments: Box<[AtomicPtr<[AtomicU64; SEGMENT]>]>,
}

impl Default for Count {
    fn default() -> Self {
        Count { at: NEXT.fetch_add(1, Ordering::Relaxed), shared: AtomicU64::new(0) }
    }
}

impl Count {
    /// Counts up, on this thread.
    #[inline]
    pub fn add(&self, by: u64) {
        // A thread that is ending has no table any more.
        if !call_stack::table().is_some_and(|table| table.add(self.at, by)) {
            self.shared.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// The word that this thread counts up; `None` if it shares one.
    pub(super) fn word(&self) -> Option<&'static AtomicU64> {
        let table = call_stack::table()?;
        table.add(self.at, 0);
        table.word(self.at)
    }

    /// What all threads counted.
    pub fn get(&self) -> u64 {
        let own: u64 = lock(&TABLES).iter().map(|table| table.get(self.at)).sum();
        own + self.shared.load(Ordering::Relaxed)
    }
}

impl Table {
    fn new() -> Self {
        Table { segments: (0..SEGMENTS).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect() }
    }

    /// A table for a thread that begins.
    pub fn take() -> &'static Table {
        if let Some(table) = lock(&FREE).pop() {
            return table;
        }
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        lock(&TABLES).push(table);
        table
    }

    /// Of a thread that ends.
    pub fn hand_on(&'static self) {
        lock(&FREE).push(self);
    }

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        let segment = self.segments.get(at / SEGMENT)?.load(Ordering::Acquire);
        // SAFETY: segments are leaked boxes.
        unsafe { segment.as_ref() }.map(|segment| &segment[at % SEGMENT])
    }

    /// Of the thread that has the table: nobody else writes. False if there is no room for this count.
    #[inline]
    pub fn add(&self, at: usize, by: u64) -> bool {
        let Some(word) = self.word(at).or_else(|| self.make(at)) else { return false };
        word.store(word.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
        true
    }

    #[cold]
    fn make(&self, at: usize) -> Option<&AtomicU64> {
        let place = self.segments.get(at / SEGMENT)?;
        let made = Box::into_raw(Box::new([const { AtomicU64::new(0) }; SEGMENT]));
        // The allocator may have been here meanwhile.
        if place.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(made) });
        }
        self.word(at)
    }

    fn get(&self, at: usize) -> u64 {
        self.word(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_apart_and_are_added_up_when_they_have_ended_too() {
        let (count, other) = (Count::default(), Count::default());
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..1000).for_each(|_| count.add(2)));
                }
            });
        }
        count.add(1);
        assert_eq!((count.get(), other.get()), (24_001, 0));
    }
}
