//! Reading all events: chunk by chunk, on all cores, and the two counts that must run as fast as memory is.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;

use crate::format::slot::{self, Commit, FIRST_MARK, Mark};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, Words, header};
use crate::store::blocks::{BLOCK_WORDS, Ring};
use crate::format::row::OTHERS;
use crate::store::table::{Key, Table};
use crate::subject::{KindId, Subject};

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

    /// Whether all events count whose end words, laid over each other, are these.
    #[inline(always)]
    fn are_plain(self, ends: u64) -> bool {
        self.0 & 1 == 1 && ends >> 19 & 3 == 0
    }

    /// Whether an event with this end word counts.
    #[inline(always)]
    pub fn contains(self, end: u64) -> bool {
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
            let mut ends = 0;
            let next = self.block(place + 1);
            let is_full = full(words, next, lap, |slot, site| {
                ends |= words.get(slot * SLOT_WORDS + 3);
                sites[slot] = site;
            });
            let mut range = 1..BLOCK_SLOTS;
            if !is_full || !levels.are_plain(ends) {
                range = 0..0;
                events_of(words, lap, |at, site| {
                    if levels.contains(words.get(at + 3)) {
                        sites[range.end] = site;
                        range.end += 1;
                    }
                });
            }
            if left(words, sequence) {
                let largest = sites[range.clone()].iter().fold(0, |largest, &site| largest.max(site)) as usize;
                if counts.len() <= largest {
                    counts.resize(largest + 1, 0);
                }
                sites[range].iter().for_each(|&site| counts[site as usize] += 1);
            }
        }
    }

    /// Adds the events of a chunk to the counts of their subjects.
    pub fn count_subjects(self, chunk: u64, folded: &[u64], levels: Levels, counts: &mut SubjectCounts) {
        let mut subjects = [(0_u64, 0_u64); BLOCK_SLOTS];
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap)) = self.enter(place, folded) else { continue };
            let mut ends = 0;
            let next = self.block(place + 1);
            let is_full = full(words, next, lap, |slot, _| {
                let end = words.get(slot * SLOT_WORDS + 3);
                ends |= end;
                subjects[slot] = (words.get(slot * SLOT_WORDS + 2), end);
            });
            let mut range = 1..BLOCK_SLOTS;
            if !is_full || !levels.are_plain(ends) {
                range = 0..0;
                events_of(words, lap, |at, _| {
                    let end = words.get(at + 3);
                    if levels.contains(end) {
                        subjects[range.end] = (words.get(at + 2), end);
                        range.end += 1;
                    }
                });
            }
            if left(words, sequence) {
                subjects[range].iter().for_each(|&(key, end)| counts.add(key, end as u16));
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

/// Hands on slot and site of each of the 127 slots; whether all of them were committed events, as most are, is found
/// out on the way, without a branch. Asks for the block after this one at the same pace.
#[inline(always)]
fn full(words: Words<'_>, next: Words<'_>, lap: u8, mut each: impl FnMut(usize, u32)) -> bool {
    if words.len() != BLOCK_WORDS {
        return false;
    }
    let mut odd = 0;
    for slot in 1..BLOCK_SLOTS {
        if slot % 2 == 0 {
            next.prefetch(slot * SLOT_WORDS);
        }
        let commit = words.acquire(slot * SLOT_WORDS);
        let site = (commit >> 8) as u32 & 0xF_FFFF;
        odd |= (commit ^ u64::from(lap)) & 0xFF;
        // Carries into the bit above the site's if it is a mark's number.
        odd |= u64::from(site + (0x10_0000 - FIRST_MARK)) >> 20;
        each(slot, site);
    }
    odd == 0
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

/// Counts by subject, and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct SubjectCounts {
    table: Table,
    counts: Vec<u64>,
}

impl SubjectCounts {
    pub fn new() -> Self {
        SubjectCounts { table: Table::new(), counts: Vec::new() }
    }

    /// Counts an event of a subject.
    #[inline(always)]
    pub fn add(&mut self, key: u64, kind: u16) {
        // Events about nobody share a row, whatever stands in the place of their key.
        let key = if kind == 0 { 0 } else { key };
        let row = self.table.row(Key { key, who: kind.into() }, || Key { key: 0, who: OTHERS.into() });
        match self.counts.get_mut(row) {
            Some(count) => *count += 1,
            None => self.counts.push(1),
        }
    }

    /// Subjects and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, u64)> {
        let keys = self.table.keys().iter().zip(&self.counts);
        keys.map(|(key, &count)| (Subject::new(KindId(key.who as u16), key.key), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_by_some_thread() {
        let items: Vec<u64> = (0..1_000).collect();
        for threads in [1, 4] {
            let sums = each(&items, threads, || 0, |sum, item| *sum += item);
            assert_eq!(sums.iter().sum::<u64>(), 499_500);
        }
    }
}
