//! Groups of subjects by predicate: who is in one is decided once per subject, and kept.

use std::cell::Cell;
use std::sync::Arc;

use dashmap::DashMap;

use crate::subject::Subject;

type Predicate = dyn Fn(Subject) -> bool + Send + Sync;

/// Subjects for which a predicate says yes. It is asked once per subject, when the subject is first met. (MetaSpy,
/// section 6: attaching events to groups of objects.)
#[derive(Clone)]
pub struct Group {
    predicate: Arc<Predicate>,
    members: Arc<DashMap<Subject, bool>>,
}

impl Group {
    /// The subjects for which `predicate` says yes.
    pub fn new(predicate: impl Fn(Subject) -> bool + Send + Sync + 'static) -> Self {
        Group { predicate: Arc::new(predicate), members: Arc::default() }
    }

    /// Whether a subject is in the group. The domain is asked outside of the map's locks, as the predicate may itself
    /// call observed code: its hooks do not ask in turn, or it would never end.
    pub fn has(&self, subject: Subject) -> bool {
        thread_local! {
            static ASKING: Cell<bool> = const { Cell::new(false) };
        }
        if let Some(member) = self.members.get(&subject) {
            return *member;
        }
        if ASKING.replace(true) {
            return false;
        }
        let holds = crate::hook::at_meta_level(|| (self.predicate)(subject)).unwrap_or(false);
        ASKING.set(false);
        self.members.insert(subject, holds);
        holds
    }
}
