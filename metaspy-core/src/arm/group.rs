//! Groups of subjects by predicate: who is in one is asked once per subject, and kept until it is to be asked again.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dashmap::DashMap;

use crate::subject::Subject;

type Predicate = dyn Fn(Subject) -> bool + Send + Sync;

/// Subjects for which a predicate says yes. It is asked once per subject, when the subject is first met, and again
/// when the domain says that this may have changed: [`refresh`](Group::refresh), [`reconsider`](Group::reconsider).
/// (MetaSpy, section 6: dynamically attaching events to groups of objects.)
///
/// Clones are the same group. A view on it has the events of all who belonged at some time.
#[derive(Clone)]
pub struct Group {
    predicate: Arc<Predicate>,
    members: Arc<DashMap<Subject, Membership>>,
    /// How often everybody was to be asked again. Starts at 1.
    round: Arc<AtomicU64>,
    /// How often a single one was.
    doubts: Arc<AtomicU64>,
}

#[derive(Clone, Copy)]
struct Membership {
    belongs: bool,
    /// It did at some time.
    belonged: bool,
    /// In which round it was asked; 0 = it is to be asked again.
    asked: u64,
}

impl Group {
    /// The subjects for which `predicate` says yes.
    pub fn new(predicate: impl Fn(Subject) -> bool + Send + Sync + 'static) -> Self {
        let (members, round, doubts) = (Arc::default(), Arc::new(AtomicU64::new(1)), Arc::default());
        Group { predicate: Arc::new(predicate), members, round, doubts }
    }

    /// From now on each subject is asked about again, when it is next met.
    pub fn refresh(&self) {
        self.round.fetch_add(1, Relaxed);
    }

    /// From now on this one is asked about again, when it is next met: cheaper than all where the domain knows who
    /// changed.
    pub fn reconsider(&self, subject: Subject) {
        self.doubts.fetch_add(1, Relaxed);
        if let Some(mut membership) = self.members.get_mut(&subject) {
            membership.asked = 0;
        }
    }

    /// Whether a subject is in the group. The domain is asked outside of the map's locks, as the predicate may itself
    /// call observed code: its hooks do not ask in turn, or it would never end.
    pub fn has(&self, subject: Subject) -> bool {
        thread_local! {
            static ASKING: Cell<bool> = const { Cell::new(false) };
        }
        // Read before the domain is asked: what changes meanwhile is asked again.
        let (round, doubts) = (self.round.load(Relaxed), self.doubts.load(Relaxed));
        let known = self.members.get(&subject).map(|membership| *membership);
        if let Some(known) = known.filter(|known| known.asked == round) {
            return known.belongs;
        }
        if ASKING.replace(true) {
            return false;
        }
        let belongs = crate::recorder::at_meta_level(|| (self.predicate)(subject)).unwrap_or(false);
        ASKING.set(false);
        let belonged = belongs || known.is_some_and(|known| known.belonged);
        let asked = if self.doubts.load(Relaxed) == doubts { round } else { 0 };
        self.members.insert(subject, Membership { belongs, belonged, asked });
        belongs
    }

    /// Whether a subject is in the group, or was.
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
    fn a_subject_is_asked_about_once_until_it_may_have_changed() {
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
