//! Neighbours of subjects in loops. They show whether an answer may lead to the next question.

use metaspy_probe::Subject;

use super::finding::is_share;
use super::map::HashMap;

/// Least number of recurrences of subjects in loops, and least share of these with another
/// neighbour than before, in percent. From both on, no answer leads to the next question.
const RECURRING: u64 = 20;
const SHUFFLED_PERCENT: u64 = 80;
/// Maximum number of subjects whose neighbours are remembered.
const NEIGHBOURS: usize = 1 << 14;

/// Last neighbour of each subject in loops, with the number of changes.
#[derive(Default)]
pub(super) struct Neighbours {
    last: HashMap<Subject, Subject>,
    recurring: u64,
    others: u64,
}

impl Neighbours {
    /// Notes that a subject stands beside another one.
    pub(super) fn add(&mut self, subject: Subject, neighbour: Subject) {
        if self.last.len() >= NEIGHBOURS && !self.last.contains_key(&subject) {
            return;
        }
        if let Some(last) = self.last.insert(subject, neighbour) {
            self.recurring += 1;
            self.others += u64::from(last != neighbour);
        }
    }

    /// Returns true if most subjects have another neighbour at each recurrence.
    pub(super) fn are_shuffled(&self) -> bool {
        self.recurring >= RECURRING && is_share(self.others, self.recurring, SHUFFLED_PERCENT)
    }
}
