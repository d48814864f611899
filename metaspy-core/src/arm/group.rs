//! Groups of subjects by predicate. It is evaluated once per subject, and its answer is kept until
//! it is invalidated.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use dashmap::DashMap;

use crate::subject::Subject;

type Predicate = dyn Fn(Subject) -> bool + Send + Sync;

/// Answers that a group keeps at most, some 20 MiB.
const MOST: usize = 1 << 18;

/// Subjects for which a predicate holds. It is evaluated once per subject, when the subject first
/// occurs, and again when the domain reports a change: [`refresh`](Group::refresh),
/// [`reconsider`](Group::reconsider). (MetaSpy, section 6: dynamically attaching events to groups
/// of objects.)
///
/// Clones are the same group. A view on it has the events of all subjects that were members at some
/// time.
///
/// It keeps 262,144 answers. Beyond that, it forgets answers about subjects that never were
/// members, and if there are more members than that, it evaluates the predicate at each event of
/// the others.
#[derive(Clone)]
pub struct Group {
    predicate: Arc<Predicate>,
    members: Arc<DashMap<Subject, Membership>>,
    /// The number of the round of evaluations. Starts at 1.
    round: Arc<AtomicU64>,
    /// How many single answers were invalidated.
    doubts: Arc<AtomicU64>,
    room: Arc<Room>,
}

/// The room for answers.
struct Room {
    most: usize,
    /// Answers that are kept.
    kept: AtomicUsize,
    /// True if all of them are about members.
    is_full: AtomicBool,
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
        Group::with_room(MOST, predicate)
    }

    fn with_room(most: usize, predicate: impl Fn(Subject) -> bool + Send + Sync + 'static) -> Self {
        let (members, round, doubts) =
            (Arc::default(), Arc::new(AtomicU64::new(1)), Arc::default());
        let room =
            Arc::new(Room { most, kept: AtomicUsize::new(0), is_full: AtomicBool::new(false) });
        Group { predicate: Arc::new(predicate), members, round, doubts, room }
    }

    /// Evaluates the predicate again for each subject, when it next occurs.
    pub fn refresh(&self) {
        self.round.fetch_add(1, Relaxed);
    }

    /// Makes the group evaluate its predicate again for this subject, at the next event of the
    /// subject. This is cheaper than evaluating it for all subjects, if the domain can name the
    /// changed one.
    pub fn reconsider(&self, subject: Subject) {
        self.doubts.fetch_add(1, Relaxed);
        if let Some(mut membership) = self.members.get_mut(&subject) {
            membership.evaluated = 0;
        }
    }

    /// True if a subject is in the group. The predicate runs outside of the map's locks, because it
    /// may itself call observed code. The hooks of that code do not evaluate it in turn, or it
    /// would never end.
    pub fn has(&self, subject: Subject) -> bool {
        thread_local! {
            static EVALUATING: Cell<bool> = const { Cell::new(false) };
        }
        // Read before the predicate runs: a membership that changes meanwhile is evaluated again.
        let round = self.round.load(Relaxed);
        let doubts = self.doubts.load(Relaxed);
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
        if known.is_some() || self.has_room() {
            self.members.insert(subject, Membership { belongs, belonged, evaluated });
        }
        belongs
    }

    /// True if one more answer can be kept. Answers about other subjects than members make room.
    fn has_room(&self) -> bool {
        let Room { most, kept, is_full } = &*self.room;
        if kept.fetch_add(1, Relaxed) < *most {
            return true;
        }
        if is_full.load(Relaxed) {
            kept.fetch_sub(1, Relaxed);
            return false;
        }
        self.members.retain(|_, membership| membership.belonged);
        let left = self.members.len();
        let has_room = left < *most;
        kept.store(left + usize::from(has_room), Relaxed);
        is_full.store(!has_room, Relaxed);
        has_room
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
        let evaluations = Arc::new(AtomicU64::new(0));
        let count = evaluations.clone();
        let group = Group::new(move |_| count.fetch_add(1, Relaxed) == 0);
        let one = ObjectId::new().identify();
        let other = ObjectId::new().identify();
        assert!(group.has(one) && group.has(one) && !group.has(other));
        assert_eq!(evaluations.load(Relaxed), 2);
        group.reconsider(one);
        assert!(!group.has(one) && !group.has(other));
        assert_eq!(evaluations.load(Relaxed), 3);
        assert!(group.had(one) && !group.had(other));
        group.refresh();
        assert!(!group.has(one) && !group.has(other));
        assert_eq!(evaluations.load(Relaxed), 5);
    }

    #[test]
    fn a_group_keeps_so_many_answers_and_stays_right() {
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let group = Group::with_room(100, move |subject| {
            count.fetch_add(1, Relaxed);
            subject.key % 10 == 0
        });
        let subject = |key: u64| Subject::new(crate::KindId(1), key);
        for key in (0..10_000).chain(0..10_000) {
            assert_eq!(group.has(subject(key)), key % 10 == 0, "{key}");
            assert!(group.members.len() <= 101, "{key}: {}", group.members.len());
        }
        assert!((0..10_000).all(|key| group.had(subject(key)) == (key % 10 == 0)));
        let before = asked.load(Relaxed);
        assert!(group.has(subject(0)) && group.has(subject(10)));
        assert_eq!(asked.load(Relaxed), before, "answers about members are kept first");
    }
}
