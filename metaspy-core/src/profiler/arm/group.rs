//! Groups of subjects by predicate. It is evaluated once per subject, and its answer is kept until it is invalidated.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dashmap::DashMap;

use crate::subject::Subject;

type Predicate = dyn Fn(Subject) -> bool + Send + Sync;

/// Subjects for which a predicate holds. It is evaluated once per subject, when the subject first occurs, and again
/// when the domain reports a change: [`refresh`](Group::refresh), [`reconsider`](Group::reconsider).
/// (MetaSpy, section 6: dynamically attaching events to groups of objects.)
///
/// Clones are the same group. A view on it has the events of all subjects that were members at some time.
#[derive(Clone)]
pub struct Group {
    predicate: Arc<Predicate>,
    members: Arc<DashMap<Subject, Membership>>,
    /// The number of the round of evaluations. Starts at 1.
    round: Arc<AtomicU64>,
    /// How many single answers were invalidated.
    doubts: Arc<AtomicU64>,
}

#[derive(Clone, Copy)]
struct Membership {
    belongs: bool,
    /// It belonged at some time.
    belonged: bool,
    /// The round of its evaluation; 0 = it must be evaluated again.
    evaluated: u64,
}

impl Group {
    /// The subjects for which `predicate` holds.
    pub fn new(predicate: impl Fn(Subject) -> bool + Send + Sync + 'static) -> Self {
        let (members, round, doubts) = (Arc::default(), Arc::new(AtomicU64::new(1)), Arc::default());
        Group { predicate: Arc::new(predicate), members, round, doubts }
    }

    /// Evaluates the predicate again for each subject, when it next occurs.
    pub fn refresh(&self) {
        self.round.fetch_add(1, Relaxed);
    }

    /// Evaluates the predicate again for this subject, when it next occurs: cheaper than for all, if the domain knows what
    /// changed.
    pub fn reconsider(&self, subject: Subject) {
        self.doubts.fetch_add(1, Relaxed);
        if let Some(mut membership) = self.members.get_mut(&subject) {
            membership.evaluated = 0;
        }
    }

    /// True if a subject is in the group. The predicate runs outside of the map's locks, because it may itself call observed
    /// code. The hooks of that code do not evaluate it in turn, or it would never end.
    pub fn has(&self, subject: Subject) -> bool {
        thread_local! {
            static EVALUATING: Cell<bool> = const { Cell::new(false) };
        }
        // Read before the predicate runs: what changes meanwhile is evaluated again.
        let (round, doubts) = (self.round.load(Relaxed), self.doubts.load(Relaxed));
        let known = self.members.get(&subject).map(|membership| *membership);
        if let Some(known) = known.filter(|known| known.evaluated == round) {
            return known.belongs;
        }
        if EVALUATING.replace(true) {
            return false;
        }
        let belongs = crate::recorder::at_meta_level(|| (self.predicate)(subject)).unwrap_or(false);
        EVALUATING.set(false);
        let belonged = belongs || known.is_some_and(|known| known.belonged);
        let evaluated = if self.doubts.load(Relaxed) == doubts { round } else { 0 };
        self.members.insert(subject, Membership { belongs, belonged, evaluated });
        belongs
    }

    /// True if a subject is in the group, or was.
    pub(crate) fn had(&self, subject: Subject) -> bool {
        let known = self.members.get(&subject).map(|membership| membership.belonged);
        known.unwrap_or_else(|| self.has(subject))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Identify, ObjectId};

    #[test]
    fn a_subject_is_evaluated_once_until_it_may_have_changed() {
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let group = Group::new(move |_| count.fetch_add(1, Relaxed) == 0);
        let (one, other) = (ObjectId::new().identify(), ObjectId::new().identify());
        assert!(group.has(one) && group.has(one) && !group.has(other));
        assert_eq!(asked.load(Relaxed), 2);
        group.reconsider(one);
        assert!(!group.has(one) && !group.has(other));
        assert_eq!(asked.load(Relaxed), 3);
        assert!(group.had(one) && !group.had(other));
        group.refresh();
        assert!(!group.has(one) && !group.has(other));
        assert_eq!(asked.load(Relaxed), 5);
    }
}
