//! Finds the statements that are still needed.

use std::collections::{HashMap, HashSet};

use crate::format::BLOCK_BYTES;
use crate::format::Words;
use crate::format::arena::{Entry, Found, unpack_two_kinds, walk};
use crate::recorder::log::Log;
use crate::store::Ring;
use crate::store::blocks::Block;
use crate::subject::{KindId, Subject};

/// Blocks that are searched for events of ended subjects. In a longer recording, every ended subject counts as stored.
const SEARCHED: u64 = (1 << 30) / BLOCK_BYTES as u64;

/// What was stated of subjects and relations, as far as the order of the statements decides.
#[derive(Default)]
struct Newest {
    /// The position of the label of a subject.
    labels: HashMap<Subject, usize>,
    /// The position of the end of a subject.
    ends: HashMap<Subject, usize>,
    /// The position of a relation, by its words.
    relations: HashMap<(u32, Vec<u64>), usize>,
}

impl Newest {
    fn add(&mut self, found: Found<'_>) {
        let relation = || (found.a, (0..found.words.len()).map(|at| found.words.get(at)).collect::<Vec<u64>>());
        match found.entry {
            Some(Entry::Label) => _ = self.labels.insert(subject(&found), found.at),
            Some(Entry::Ended) => _ = self.ends.insert(subject(&found), found.at),
            Some(Entry::Relation) => _ = self.relations.insert(relation(), found.at),
            Some(Entry::Unrelation) => _ = self.relations.remove(&relation()),
            _ => {}
        }
    }

    /// True if a subject lives at a position, as far as is known, or if events of it are stored.
    fn is_needed(&self, subject: Subject, at: usize, stored: &HashSet<Subject>) -> bool {
        self.ends.get(&subject).is_none_or(|&end| end < at) || stored.contains(&subject)
    }
}

/// The positions and lengths of the statements that are needed, among the first `used` words of a half: those about
/// subjects that live, and those about subjects that ended and have an event in the blocks.
pub(super) fn needed_statements(log: &Log, words: Words<'_>, used: usize) -> Vec<(usize, usize)> {
    let mut newest = Newest::default();
    walk(words, 0, used, |found| newest.add(found));
    let stored = stored(log, &newest.ends);
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
                newest.ends.get(&subject) == Some(&at) && stored.contains(&subject)
            }
            Some(Entry::Relation) => {
                let (from, to) = unpack_two_kinds(found.a);
                let ends = [Subject::new(from, found.words.get(0)), Subject::new(to, found.words.get(1))];
                relations.contains(&at) && ends.into_iter().all(|end| newest.is_needed(end, at, &stored))
            }
            _ => false,
        };
        if keep {
            needed.push((at, found.length));
        }
    });
    needed
}

/// The subject of a label or an end.
fn subject(found: &Found<'_>) -> Subject {
    Subject::new(KindId(found.a as u16), found.words.get(0))
}

/// The ended subjects that have an event in the blocks.
fn stored(log: &Log, ends: &HashMap<Subject, usize>) -> HashSet<Subject> {
    let ring = Ring { words: log.region.words(), layout: &log.layout };
    if ring.places() > SEARCHED {
        return ends.keys().copied().collect();
    }
    let mut stored = HashSet::new();
    let mut block = Block::boxed();
    for place in 0..if ends.is_empty() { 0 } else { ring.places() } {
        if ring.load(place, &mut block) {
            stored
                .extend(block.events().filter_map(|slot| slot.subject()).filter(|subject| ends.contains_key(subject)));
        }
    }
    stored
}
