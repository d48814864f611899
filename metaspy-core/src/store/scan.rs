//! Reading all events: chunk by chunk, on all cores, and the two counts that must run as fast as memory is.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;

use crate::format::slot::{self, Commit, FIRST_MARK, Mark};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, Words, header};
use crate::store::blocks::{BLOCK_WORDS, Ring};
use crate::store::table::ROWS_MAX;

/// Threads at most: more do not make memory faster.
const THREADS_MAX: usize = 16;
/// Chunks that are worth a thread of their own.
const CHUNKS_PER_THREAD: usize = 16;

/// Threads for a scan of so many chunks.
pub(crate) fn threads_for(chunks: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.min(THREADS_MAX).min(chunks / CHUNKS_PER_THREAD).max(1)
}

/// Does something with each of `items`, on `threads` threads; each thread adds to a state of its own.
pub(crate) fn each<T: Sync, A: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut own = state();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(&mut own, item);
        }
        own
    };
    if threads <= 1 {
        return vec![run()];
    }
    thread::scope(|scope| {
        // A thread that the system does not give leaves its part to the others.
        let others: Vec<_> =
            (1..threads).filter_map(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut states = vec![run()];
        for other in others {
            match other.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    })
}

/// How much a chunk holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub events: u64,
    pub marks: u64,
}

/// Meta levels that count, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels(u8);

impl Levels {
    pub fn new(levels: std::ops::RangeInclusive<u8>) -> Self {
        Levels(levels.filter(|&level| level < 4).fold(0, |bits, level| bits | 1 << level))
    }

    /// Whether an event with this end word counts.
    #[inline(always)]
    fn contains(self, end: u64) -> bool {
        self.0 >> (end >> 19 & 3) & 1 == 1
    }
}

impl<'a> Ring<'a> {
    /// Events and marks of a chunk, but for blocks that a pending fold has taken.
    pub fn count(self, chunk: u64, folded: &[u64]) -> Amount {
        let mut amount = Amount::default();
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap)) = self.enter(place, folded) else { continue };
            let mut events = 0;
            let marks = events_of(words, lap, |_, _| events += 1);
            if left(words, sequence) {
                amount.events += events;
                amount.marks += marks;
            }
        }
        amount
    }

    /// Adds the events of a chunk to the counts of their sites.
    pub fn count_sites(self, chunk: u64, folded: &[u64], levels: Levels, counts: &mut Vec<u64>) {
        let mut sites = [0_u32; BLOCK_SLOTS];
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap)) = self.enter(place, folded) else { continue };
            let mut len = 0;
            let mut largest = 0;
            events_of(words, lap, |at, site| {
                if levels.contains(words.get(at + 3)) {
                    sites[len & (BLOCK_SLOTS - 1)] = site;
                    largest = largest.max(site);
                    len += 1;
                }
            });
            if !left(words, sequence) {
                continue;
            }
            if counts.len() <= largest as usize {
                counts.resize(largest as usize + 1, 0);
            }
            for &site in &sites[..len] {
                counts[site as usize] += 1;
            }
        }
    }

    /// Adds the events of a chunk to the counts of their subjects.
    pub fn count_subjects(self, chunk: u64, folded: &[u64], levels: Levels, counts: &mut SubjectCounts) {
        let mut subjects = [(0_u64, 0_u16); BLOCK_SLOTS];
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap)) = self.enter(place, folded) else { continue };
            let mut len = 0;
            events_of(words, lap, |at, _| {
                let end = words.get(at + 3);
                if levels.contains(end) {
                    subjects[len & (BLOCK_SLOTS - 1)] = (words.get(at + 2), end as u16);
                    len += 1;
                }
            });
            if left(words, sequence) {
                subjects[..len].iter().for_each(|&(key, kind)| counts.add(key, kind, 1));
            }
        }
    }

    /// The words of a block under its seqlock, without copying them: what is read of them counts only if [`left`]
    /// says so afterwards.
    #[inline(always)]
    fn enter(self, place: u64, folded: &[u64]) -> Option<(Words<'a>, u64, u8)> {
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        let is_there =
            self.belongs(sequence, place) && (folded.is_empty() || folded.binary_search(&sequence).is_err());
        is_there.then(|| (words, sequence, header::lap_byte(sequence, self.layout.blocks)))
    }
}

/// Whether the block is still the one that was entered.
#[inline(always)]
fn left(words: Words<'_>, sequence: u64) -> bool {
    fence(Ordering::Acquire);
    words.get(header::SEQUENCE) == sequence
}

/// Hands on the word at which each event begins, and its site; tells the number of marks.
#[inline(always)]
fn events_of(words: Words<'_>, lap: u8, mut each: impl FnMut(usize, u32)) -> u64 {
    let mut marks = 0;
    let mut at = SLOT_WORDS;
    while at < BLOCK_WORDS {
        let commit = Commit::unpack(words.acquire(at));
        if commit.lap != lap {
            break;
        }
        if commit.site < FIRST_MARK {
            each(at, commit.site);
            at += SLOT_WORDS;
            continue;
        }
        marks += u64::from(Mark::from_site(commit.site).is_some());
        at += SLOT_WORDS
            * match Mark::from_site(commit.site) {
                Some(Mark::Detail) => slot::detail_slots((commit.start as usize).min(slot::DETAIL_MAX)),
                _ => 1,
            };
    }
    marks
}

/// Counts by subject, and nothing else: 16 bytes a subject, so that many stay near.
#[derive(Clone, Debug)]
pub(crate) struct SubjectCounts {
    /// Key, and kind (high 16 bits) with count; 0 = free.
    slots: Vec<(u64, u64)>,
    used: usize,
    /// Events about nobody.
    pub nobody: u64,
    /// Events of subjects that found no room.
    pub others: u64,
}

const COUNT_BITS: u32 = 48;

impl SubjectCounts {
    pub fn new() -> Self {
        SubjectCounts { slots: vec![(0, 0); 1024], used: 0, nobody: 0, others: 0 }
    }

    /// Counts `by` events of a subject.
    #[inline(always)]
    pub fn add(&mut self, key: u64, kind: u16, by: u64) {
        if kind == 0 {
            self.nobody += by;
            return;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(key, kind);
        loop {
            let (found, count) = &mut self.slots[at & mask];
            if *found == key && *count >> COUNT_BITS == u64::from(kind) {
                *count += by;
                return;
            }
            if *count == 0 {
                return self.insert(key, kind, by, at & mask);
            }
            at += 1;
        }
    }

    /// Subjects and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u16, u64)> {
        let taken = self.slots.iter().filter(|(_, count)| *count != 0);
        taken.map(|&(key, count)| (key, (count >> COUNT_BITS) as u16, count & ((1 << COUNT_BITS) - 1)))
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, key: u64, kind: u16, by: u64, free: usize) {
        if self.used >= ROWS_MAX {
            self.others += by;
            return;
        }
        self.slots[free] = (key, u64::from(kind) << COUNT_BITS | by);
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            let wider = vec![(0, 0); self.slots.len() * 2];
            for (key, count) in std::mem::replace(&mut self.slots, wider) {
                if count != 0 {
                    let mask = self.slots.len() - 1;
                    let mut at = hash(key, (count >> COUNT_BITS) as u16) & mask;
                    while self.slots[at].1 != 0 {
                        at = (at + 1) & mask;
                    }
                    self.slots[at] = (key, count);
                }
            }
        }
    }
}

#[inline(always)]
fn hash(key: u64, kind: u16) -> usize {
    let mixed = (key ^ u64::from(kind) << COUNT_BITS).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_subject_survive_growing() {
        let mut counts = SubjectCounts::new();
        for round in 1..=3 {
            (0..5_000).for_each(|key| counts.add(key, (key % 3) as u16, round));
        }
        assert_eq!(counts.nobody, 5_000_u64.div_ceil(3) * 6);
        assert!(counts.iter().all(|(key, kind, count)| count == 6 && u64::from(kind) == key % 3));
        assert_eq!(counts.iter().count() as u64, 5_000 - 5_000_u64.div_ceil(3));
    }

    #[test]
    fn every_item_is_worked_on_once_by_some_thread() {
        let items: Vec<u64> = (0..1_000).collect();
        for threads in [1, 4] {
            let sums = each(&items, threads, || 0, |sum, item| *sum += item);
            assert_eq!(sums.iter().sum::<u64>(), 499_500);
        }
    }
}
