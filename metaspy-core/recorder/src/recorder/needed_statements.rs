//! Finds the statements that are still needed.

use std::collections::{HashMap, HashSet};

use metaspy_probe::hash::{bucket, scatter};

use crate::format::BLOCK_BYTES;
use crate::format::Words;
use crate::format::arena::{Entry, FoundEntry, unpack_two_kinds, walk};
use crate::recorder::log::Log;
use crate::store::Ring;
use crate::store::blocks::Block;
use crate::subject::{KindId, Subject};

/// Blocks that are searched for events of ended subjects. In a longer recording, every ended
/// subject counts as stored.
const SEARCHED: u64 = (1 << 30) / BLOCK_BYTES as u64;

/// The newest statements about subjects and relations, where the order of the statements decides.
#[derive(Default)]
struct Newest {
    /// The position of the label of a subject.
    labels: HashMap<Subject, usize>,
    /// The position of a relation, by its words.
    relations: HashMap<(u32, Vec<u64>), usize>,
    /// The subjects of these.
    named: HashSet<Subject>,
    /// The position of the end of a subject, if it is named or has a stored event.
    ends: HashMap<Subject, usize>,
}

impl Newest {
    fn add(&mut self, found: &FoundEntry<'_>) {
        let relation = || {
            (found.a, (0..found.words.len()).map(|at| found.words.get(at)).collect::<Vec<u64>>())
        };
        match found.entry {
            Some(Entry::Label) => {
                self.labels.insert(subject(found), found.at);
                self.named.insert(subject(found));
            }
            Some(Entry::Relation) => {
                self.relations.insert(relation(), found.at);
                self.named.extend(subjects(found));
            }
            Some(Entry::Unrelation) => _ = self.relations.remove(&relation()),
            _ => {}
        }
    }

    /// True if a subject lives at a position, as far as is known, or if events of it are stored.
    fn is_needed(&self, subject: Subject, at: usize, stored: &Stored) -> bool {
        self.ends.get(&subject).is_none_or(|&end| end < at) || stored.contains(subject)
    }
}

/// A set of subjects that may hold others, too: a place for each hash. Programs end millions of
/// objects that nothing else was stated of, and a search in a large map takes longer than making
/// such an object.
struct Filter(Vec<bool>);

impl Filter {
    /// For the ends in so many words: at most a third of the places is used.
    fn new(words: usize) -> Self {
        Filter(vec![false; words.next_power_of_two().max(2)])
    }

    fn place(&self, subject: Subject) -> usize {
        bucket(subject.key ^ scatter(subject.kind.0.into()), self.0.len().ilog2())
    }

    fn add(&mut self, subject: Subject) {
        let place = self.place(subject);
        self.0[place] = true;
    }

    fn may_hold(&self, subject: Subject) -> bool {
        self.0[self.place(subject)]
    }
}

/// The ended subjects that have an event in the blocks, and maybe subjects that live. `None`: any
/// ended subject may have one.
struct Stored(Option<HashSet<Subject>>);

impl Stored {
    fn search(log: &Log, ended: &Filter) -> Self {
        let ring = Ring { words: log.region.words(), layout: &log.layout };
        if ring.places() > SEARCHED {
            return Stored(None);
        }
        let mut stored = HashSet::new();
        let mut block = Block::boxed();
        for place in 0..ring.places() {
            if ring.load(place, &mut block) {
                let subjects = block.events().filter_map(|slot| slot.subject());
                stored.extend(subjects.filter(|subject| ended.may_hold(*subject)));
            }
        }
        Stored(Some(stored))
    }

    fn contains(&self, subject: Subject) -> bool {
        self.0.as_ref().is_none_or(|stored| stored.contains(&subject))
    }
}

/// The positions and lengths of the statements that are needed, among the first `used` words of a
/// half: those about subjects that live, and those about subjects that ended and have an event in
/// the blocks.
pub(super) fn needed_statements(log: &Log, words: Words<'_>, used: usize) -> Vec<(usize, usize)> {
    let mut newest = Newest::default();
    let mut ended = Filter::new(used);
    let mut has_ends = false;
    walk(words, 0, used, |found| match found.entry {
        Some(Entry::Ended) => {
            ended.add(subject(&found));
            has_ends = true;
        }
        _ => newest.add(&found),
    });
    let stored = if has_ends { Stored::search(log, &ended) } else { Stored(Some(HashSet::new())) };
    walk(words, 0, used, |found| {
        if found.entry == Some(Entry::Ended) {
            let subject = subject(&found);
            if newest.named.contains(&subject) || stored.contains(subject) {
                newest.ends.insert(subject, found.at);
            }
        }
    });
    let relations: HashSet<usize> = newest.relations.values().copied().collect();
    let mut needed = Vec::new();
    walk(words, 0, used, |found| {
        let at = found.at;
        let keep = match found.entry {
            Some(Entry::Label) => {
                let subject = subject(&found);
                newest.labels.get(&subject) == Some(&at) && newest.is_needed(subject, at, &stored)
            }
            Some(Entry::Ended) => {
                let subject = subject(&found);
                newest.ends.get(&subject) == Some(&at) && stored.contains(subject)
            }
            Some(Entry::Relation) => {
                relations.contains(&at)
                    && subjects(&found).into_iter().all(|end| newest.is_needed(end, at, &stored))
            }
            _ => false,
        };
        if keep {
            needed.push((at, found.length));
        }
    });
    needed
}

/// The subjects of a relation.
fn subjects(found: &FoundEntry<'_>) -> [Subject; 2] {
    let (from, to) = unpack_two_kinds(found.a);
    [Subject::new(from, found.words.get(0)), Subject::new(to, found.words.get(1))]
}

/// The subject of a label or an end.
fn subject(found: &FoundEntry<'_>) -> Subject {
    Subject::new(KindId(found.a as u16), found.words.get(0))
}
