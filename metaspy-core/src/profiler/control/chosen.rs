//! The subjects that a reader has chosen at a site.

use std::collections::HashSet;
use std::sync::Arc;

use crate::arm::{Arming, Group, Mode, Subjects};
use crate::store::control::{Change, MOST_SUBJECTS, Observed};
use crate::subject::Subject;

/// A set of subjects: some, or all but some.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    is_all_but: bool,
    named: HashSet<Subject>,
    mode: Mode,
    details: bool,
}

impl Chosen {
    /// Returns the union of these armings.
    pub fn from(armings: &[Arming]) -> Self {
        let mut chosen =
            Chosen { is_all_but: false, named: HashSet::new(), mode: Mode::Off, details: false };
        for arming in armings {
            chosen.mode = chosen.mode.max(arming.mode);
            chosen.details |= arming.details;
            match &arming.subjects {
                Subjects::Only(subjects) => drop(chosen.apply(Change::Arm, Some(subjects))),
                Subjects::All | Subjects::Group(_) => drop(chosen.apply(Change::Arm, None)),
            }
        }
        if chosen.mode == Mode::Off {
            chosen.mode = Mode::Full;
        }
        chosen
    }

    /// Applies a change for some subjects, or for all. False if the set would be too large; it
    /// stays as it is then.
    pub fn apply(&mut self, change: Change, subjects: Option<&[Subject]>) -> bool {
        let Some(subjects) = subjects else {
            if change != Change::Show {
                self.named.clear();
                self.is_all_but = change != Change::Disarm;
            }
            return true;
        };
        if change == Change::Only {
            self.named.clear();
            self.is_all_but = false;
        }
        let names = match change {
            Change::Show => return true,
            Change::Arm | Change::Only => !self.is_all_but,
            Change::Disarm => self.is_all_but,
        };
        if names && self.named.len() + subjects.len() > MOST_SUBJECTS {
            return false;
        }
        for subject in subjects {
            if names {
                self.named.insert(*subject)
            } else {
                self.named.remove(subject)
            };
        }
        true
    }

    /// Returns the requirements on the site; `None` if there are none.
    pub fn arming(&self) -> Option<Arming> {
        let subjects = match (self.is_all_but, self.named.is_empty()) {
            (true, true) => Subjects::All,
            (true, false) => {
                let named = Arc::new(self.named.clone());
                Subjects::Group(Group::new(move |subject| !named.contains(&subject)))
            }
            (false, false) => Subjects::Only(self.named.iter().copied().collect()),
            (false, true) => return None,
        };
        Some(Arming { subjects, details: self.details, ..Arming::all(self.mode) })
    }

    /// The same in words of the answer.
    pub fn observed(&self) -> Observed {
        match (self.is_all_but, self.named.len()) {
            (true, 0) => Observed::All,
            (true, count) => Observed::AllBut(count),
            (false, 0) => Observed::Nothing,
            (false, count) => Observed::Only(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KindId;

    fn node(key: u64) -> Subject {
        Subject::new(KindId(1), key)
    }

    fn check(changes: &[(Change, Option<&[u64]>)], expected: Observed) {
        let mut chosen = Chosen::from(&[Arming::all(Mode::Tally)]);
        for (change, keys) in changes {
            let subjects = keys.map(|keys| keys.iter().map(|&key| node(key)).collect::<Vec<_>>());
            assert!(chosen.apply(*change, subjects.as_deref()));
        }
        assert_eq!(chosen.observed(), expected, "{changes:?}");
        assert!(chosen.arming().is_none_or(|arming| arming.mode == Mode::Tally), "the mode stays");
    }

    #[test]
    fn changes_of_subjects_add_up() {
        use Change::*;
        check(&[], Observed::All);
        check(&[(Disarm, Some(&[1, 2])), (Arm, Some(&[2]))], Observed::AllBut(1));
        check(&[(Disarm, Some(&[1])), (Arm, Some(&[1]))], Observed::All);
        check(&[(Disarm, None), (Arm, Some(&[1, 2, 1]))], Observed::Only(2));
        check(&[(Only, Some(&[1, 2])), (Disarm, Some(&[2, 3]))], Observed::Only(1));
        check(&[(Only, Some(&[1])), (Disarm, Some(&[1]))], Observed::Nothing);
        check(&[(Disarm, Some(&[1])), (Only, Some(&[7]))], Observed::Only(1));
        check(&[(Disarm, None), (Arm, None)], Observed::All);
    }

    #[test]
    fn a_set_that_would_be_too_large_stays_as_it_is() {
        let many: Vec<Subject> = (0..MOST_SUBJECTS as u64).map(node).collect();
        let mut chosen = Chosen::from(&[]);
        assert!(chosen.apply(Change::Arm, Some(&many)));
        assert!(!chosen.apply(Change::Arm, Some(&[node(u64::MAX)])));
        assert_eq!(chosen.observed(), Observed::Only(MOST_SUBJECTS));
    }
}
