//! Counts that must run as fast as memory is read: events of each site, and of each subject.

use std::sync::atomic::{Ordering, fence};

use crate::ring::blocks::{BLOCK_WORDS, Ring};
use crate::ring::folds::Folds;
use crate::ring::row_table::{Key, Table};
use metaspy_format::row::OTHERS;
use metaspy_format::slot::{self, Commit, FIRST_MARK, Mark};
use metaspy_format::{BLOCK_SLOTS, SLOT_WORDS, Words, header};
use metaspy_probe::{KindId, Subject};

/// Number of events and marks in a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub events: u64,
    pub marks: u64,
}

/// Meta levels that count, as bits.
#[derive(Clone, Copy, Debug)]
pub struct Levels(u8);

impl Levels {
    pub fn new(levels: std::ops::RangeInclusive<u8>) -> Self {
        Levels(levels.filter(|&level| level < 4).fold(0, |bits, level| bits | 1 << level))
    }

    /// Returns true if all events count whose end words give `ends` when they are combined with
    /// `|`.
    #[inline(always)]
    fn are_plain(self, ends: u64) -> bool {
        slot::level(ends) == 0 && self.contains(ends)
    }

    /// Returns true if an event with this end word counts.
    #[inline(always)]
    pub fn contains(self, end: u64) -> bool {
        let level = 1 << slot::level(end);
        self.0 & level != 0
    }
}

impl<'a> Ring<'a> {
    /// Counts events and marks of a chunk, without those that are folded.
    pub fn count(self, chunk: u64, folds: &Folds) -> Amount {
        let mut amount = Amount::default();
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap, first)) = self.enter(place, folds) else { continue };
            let mut events = 0;
            let marks = events_of(words, lap, first, |_, _| events += 1);
            if is_unchanged(words, sequence) {
                amount.events += events;
                amount.marks += marks;
            }
        }
        amount
    }

    /// Adds the events of a chunk to the counts of their sites.
    pub(crate) fn count_sites(
        self,
        chunk: u64,
        folds: &Folds,
        levels: Levels,
        counts: &mut Vec<u64>,
    ) {
        let mut sites = [0_u32; BLOCK_SLOTS];
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap, first)) = self.enter(place, folds) else { continue };
            let common = CommonBits::all(words, self.block(place + 1), |at, commit, _| {
                sites[at] = slot::site(commit);
            });
            let mut range = 1..BLOCK_SLOTS;
            if first != 1 || !common.are_events(lap) || !levels.are_plain(common.ends) {
                range = 0..0;
                events_of(words, lap, first, |at, site| {
                    if levels.contains(words.get(at + 3)) {
                        sites[range.end] = site;
                        range.end += 1;
                    }
                });
            }
            if is_unchanged(words, sequence) {
                let largest = sites[range.clone()].iter().fold(0, |all, &site| all | site) as usize;
                if counts.len() <= largest {
                    counts.resize(largest + 1, 0);
                }
                sites[range].iter().for_each(|&site| counts[site as usize] += 1);
            }
        }
    }

    /// Adds the events of a chunk to the counts of their subjects.
    pub(crate) fn count_subjects(
        self,
        chunk: u64,
        folds: &Folds,
        levels: Levels,
        counts: &mut SubjectCounts,
    ) {
        let mut keys = [0; BLOCK_SLOTS];
        for place in self.places_of(chunk) {
            let Some((words, sequence, lap, first)) = self.enter(place, folds) else { continue };
            let common = CommonBits::all(words, self.block(place + 1), |slot, _, at| {
                keys[slot] = words.get(at + 2)
            });
            let one_kind = slot::kind(common.ends) == slot::kind(common.common_ends);
            if first == 1 && common.are_events(lap) && levels.are_plain(common.ends) && one_kind {
                if is_unchanged(words, sequence) {
                    counts.add_all(&keys[1..], slot::kind(common.ends));
                }
                continue;
            }
            let mut some = [(0, 0); BLOCK_SLOTS];
            let mut len = 0;
            events_of(words, lap, first, |at, _| {
                let end = words.get(at + 3);
                if levels.contains(end) {
                    some[len] = (words.get(at + 2), slot::kind(end));
                    len += 1;
                }
            });
            if is_unchanged(words, sequence) {
                some[..len].iter().for_each(|&(key, kind)| counts.add(key, kind, 1));
            }
        }
    }

    /// Returns the words of a block under its seqlock, without a copy, its sequence, its lap, and
    /// its first stored slot. Values read from the words are valid only if [`is_unchanged`] is true
    /// afterwards.
    #[inline(always)]
    fn enter(self, place: u64, folds: &Folds) -> Option<(Words<'a>, u64, u8, usize)> {
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        let first = folds.first_stored(sequence);
        let is_there = self.belongs(sequence, place) && first < BLOCK_SLOTS;
        is_there.then(|| (words, sequence, header::lap_byte(sequence, self.layout.blocks), first))
    }
}

/// Returns true if the block still has this sequence.
#[inline(always)]
fn is_unchanged(words: Words<'_>, sequence: u64) -> bool {
    fence(Ordering::Acquire);
    words.get(header::SEQUENCE) == sequence
}

/// Common bits of all slots of a block. Most blocks are full of plain events, and these bits show
/// it without a branch for each slot.
struct CommonBits {
    /// All commit words, combined with `|`.
    commits: u64,
    /// All commit words, combined with `&`.
    common_commits: u64,
    /// All end words, combined with `|`.
    ends: u64,
    /// All end words, combined with `&`.
    common_ends: u64,
}

impl CommonBits {
    /// Passes slot, commit word and first word of each of the 127 slots to `each`. Prefetches the
    /// next block at the same pace.
    #[inline(always)]
    fn all(words: Words<'_>, next: Words<'_>, mut each: impl FnMut(usize, u64, usize)) -> Self {
        let mut common =
            CommonBits { commits: 0, common_commits: u64::MAX, ends: 0, common_ends: u64::MAX };
        if words.len() != BLOCK_WORDS {
            return CommonBits { common_commits: 0, ..common };
        }
        let mut add = |slot: usize| {
            let at = slot * SLOT_WORDS;
            let commit = words.acquire(at);
            let end = words.get(at + 3);
            common.commits |= commit;
            common.common_commits &= commit;
            common.ends |= end;
            common.common_ends &= end;
            each(slot, commit, at);
        };
        // Two slots share a cache line. The header shares its line with slot 1.
        add(1);
        next.prefetch(0);
        for line in 1..BLOCK_SLOTS / 2 {
            next.prefetch(2 * line * SLOT_WORDS);
            add(2 * line);
            add(2 * line + 1);
        }
        common
    }

    /// Returns true if all slots are committed events of this lap. False means that this is
    /// unclear, and the slots must be read individually.
    #[inline(always)]
    fn are_events(&self, lap: u8) -> bool {
        let is_of_lap = |commits| slot::lap(commits) == lap;
        is_of_lap(self.commits)
            && is_of_lap(self.common_commits)
            && !slot::may_hold_marks(self.commits)
    }
}

/// Passes the first word and the site of each event from `slot` on to `each`, and returns the
/// number of marks.
#[inline(always)]
fn events_of(words: Words<'_>, lap: u8, slot: usize, mut each: impl FnMut(usize, u32)) -> u64 {
    let mut marks = 0;
    let mut at = slot * SLOT_WORDS;
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
                Some(Mark::Detail) => {
                    slot::detail_slots((commit.start as usize).min(slot::DETAIL_MAX))
                }
                _ => 1,
            };
    }
    marks
}

/// Counts of events by subject.
#[derive(Clone, Debug)]
pub struct SubjectCounts {
    /// Counts of small keys, indexed by key, for a few kinds. Each kind has a single possible
    /// entry.
    small: Vec<(u16, Vec<u64>)>,
    /// Number of counts of small keys, in all.
    small_len: usize,
    /// Rows of all other subjects.
    table: Table,
    counts: Vec<u64>,
}

/// Entries for kinds with small keys: a power of two.
const KINDS: usize = 64;
/// Keys below this are small for every kind.
const SMALL: usize = 65_536;
/// Keys below this are small as long as the counts of all kinds have room: 32 MiB. An index takes
/// one access to memory, a hash table three.
const SMALL_MAX: usize = 1 << 22;

impl SubjectCounts {
    pub fn new() -> Self {
        SubjectCounts {
            small: vec![(0, Vec::new()); KINDS],
            small_len: 0,
            table: Table::new(),
            counts: Vec::new(),
        }
    }

    /// Counts events of a subject.
    pub fn add(&mut self, key: u64, kind: u16, events: u64) {
        // Events without a subject share a row, even if the word of the key is not 0.
        let key = if kind == 0 { 0 } else { key };
        if let Some(count) = self.small(key, kind) {
            *count += events;
            return;
        }
        let row =
            self.table.row(Key { key, who: kind.into() }, || Key { key: 0, who: OTHERS.into() });
        match self.counts.get_mut(row) {
            Some(count) => *count += events,
            None => self.counts.push(events),
        }
    }

    /// Returns the count of a small key; `None` if the key is not small.
    #[inline]
    fn small(&mut self, key: u64, kind: u16) -> Option<&mut u64> {
        let (owner, small) = &mut self.small[usize::from(kind) % KINDS];
        if key >= SMALL_MAX as u64 || (*owner != kind && !small.is_empty()) {
            return None;
        }
        let at = key as usize;
        let before = small.len();
        if at >= before {
            let len = (at + 1).next_power_of_two();
            if len > SMALL && self.small_len - before + len > SMALL_MAX {
                return None;
            }
            *owner = kind;
            self.small_len += len - before;
            small.resize(len, 0);
        }
        small.get_mut(at)
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &SubjectCounts) {
        for (subject, count) in other.iter() {
            self.add(subject.key, subject.kind.0, count);
        }
    }

    /// Counts events of subjects of the same kind.
    #[inline]
    fn add_all(&mut self, mut keys: &[u64], kind: u16) {
        while let Some((&first, behind)) = keys.split_first() {
            let (owner, small) = &mut self.small[usize::from(kind) % KINDS];
            let small = if *owner == kind && kind != 0 { &mut small[..] } else { &mut [] };
            let known =
                |key: &&u64| small.get_mut(**key as usize).map(|count| *count += 1).is_some();
            match keys.iter().take_while(known).count() {
                // The first key is new or not small.
                0 => {
                    self.add(first, kind, 1);
                    keys = behind;
                }
                done => keys = &keys[done..],
            }
        }
    }

    /// Iterates over the subjects and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, u64)> {
        let small = self.small.iter().flat_map(|(kind, counts)| {
            let counted = (0..).zip(counts).filter(|(_, count)| **count != 0);
            counted.map(|(key, &count)| (Subject::new(KindId(*kind), key), count))
        });
        let keys = self.table.keys().iter().zip(&self.counts);
        small
            .chain(keys.map(|(key, &count)| (Subject::new(KindId(key.who as u16), key.key), count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_counted_whatever_their_keys_and_kinds() {
        let mut counts = SubjectCounts::new();
        let keys: Vec<u64> = (0..3_000).map(|at| if at % 3 == 0 { at << 40 } else { at }).collect();
        for kind in [0, 1, 2, 65, 129] {
            counts.add_all(&keys, kind);
            keys.iter().for_each(|&key| counts.add(key, kind, 1));
        }
        let counted: std::collections::BTreeMap<_, _> = counts.iter().collect();
        assert_eq!(counted.len(), 1 + 4 * keys.len());
        assert_eq!(counted[&Subject::NONE], 2 * keys.len() as u64);
        assert!(counted.iter().all(|(subject, &count)| subject.is_none() || count == 2));
    }

    #[test]
    fn parts_are_merged_and_dense_keys_of_many_kinds_take_bounded_memory() {
        let mut whole = SubjectCounts::new();
        for step in [1, 2] {
            let mut part = SubjectCounts::new();
            for kind in 1..=40 {
                // The largest keys have no room in the end.
                let keys: Vec<u64> =
                    (0..100).map(|at| at * step * (SMALL_MAX as u64 / 200) + 7).collect();
                part.add_all(&keys, kind);
            }
            assert!(part.small_len <= SMALL_MAX + KINDS * SMALL, "{}", part.small_len);
            whole.merge(&part);
        }
        let counted: std::collections::BTreeMap<_, _> = whole.iter().collect();
        // Every second key of the first part is also in the second part.
        assert_eq!((counted.len(), counted.values().sum::<u64>()), (40 * 150, 40 * 200));
        assert!(counted.values().filter(|&&count| count == 2).count() == 40 * 50);
    }
}
