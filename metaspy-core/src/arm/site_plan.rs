//! The requirements of a site's observers, beyond those that the site's words express.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::arm::handler::Handler;
use crate::arm::{Group, Mode, Subjects};
use crate::platform::readers::{self, Replaced};
use crate::site::Site;
use crate::subject::Subject;

/// The requirements of a site's observers. Immutable: a new plan replaces it.
#[derive(Default)]
pub struct Plan {
    chosen: HashMap<Subject, Requirements, BuildHasherDefault<SubjectHasher>>,
    groups: Vec<(Group, Requirements)>,
    all: Requirements,
}

/// Requirements on a call.
#[derive(Clone, Default)]
pub(crate) struct Requirements {
    pub mode: Mode,
    pub details: bool,
    pub handlers: Vec<Handler>,
}

impl Requirements {
    /// True if they need more of a call than its event.
    fn look_inside(&self) -> bool {
        self.details || !self.handlers.is_empty()
    }

    /// Takes the richer mode, and all handlers.
    pub fn add(&mut self, other: &Requirements) {
        self.mode = self.mode.max(other.mode);
        self.details |= other.details;
        self.handlers.extend(other.handlers.iter().cloned());
    }
}

/// Reads the plan of a site, if there is one.
pub(crate) fn with_plan<R>(site: &Site, read: impl FnOnce(&Plan) -> R) -> Option<R> {
    // SAFETY: only `Plan::replace` stores there.
    unsafe { readers::read(&site.plan, read) }
}

impl Plan {
    /// Gives a site another plan, or none. Returns the one before.
    pub(super) fn replace(site: &Site, plan: Option<Plan>) -> Option<Replaced<Plan>> {
        // SAFETY: nothing else stores there.
        unsafe { readers::replace(&site.plan, plan) }
    }

    pub(crate) fn add(&mut self, subjects: &Subjects, requirements: Requirements) {
        match subjects {
            Subjects::All => self.all.add(&requirements),
            Subjects::Only(subjects) => {
                for subject in subjects {
                    self.chosen.entry(*subject).or_default().add(&requirements);
                }
            }
            Subjects::Group(group) => self.groups.push((group.clone(), requirements)),
        }
    }

    /// The filter of the site.
    pub(crate) fn filter(&self) -> u64 {
        if self.all.mode != Mode::Off || !self.groups.is_empty() {
            return crate::arm::ALL_SUBJECTS;
        }
        // A full filter lets all subjects through to the set behind it, which is exact.
        self.chosen.keys().fold(0, |word, subject| word | subject.bit())
    }

    /// The mode for all subjects.
    pub(crate) fn mode(&self) -> Mode {
        self.all.mode
    }

    /// True if the site's words are not enough.
    pub(crate) fn is_needed(&self) -> bool {
        !self.chosen.is_empty()
            || !self.groups.is_empty()
            || self.all.details
            || !self.all.handlers.is_empty()
    }

    /// The mode for a subject, without its handlers.
    #[inline]
    pub(crate) fn mode_of(&self, subject: Subject) -> Mode {
        let chosen = self.chosen.get(&subject).map_or(Mode::Off, |requirements| requirements.mode);
        let groups =
            self.groups_of(subject).map(|requirements| requirements.mode).max().unwrap_or_default();
        self.all.mode.max(chosen).max(groups)
    }

    /// True if calls on any subject have handlers or details.
    pub(crate) fn may_look_inside(&self) -> bool {
        let groups = self.groups.iter().map(|(_, requirements)| requirements);
        std::iter::once(&self.all)
            .chain(self.chosen.values())
            .chain(groups)
            .any(Requirements::look_inside)
    }

    /// True if calls on the subject have handlers or details.
    #[inline]
    pub(crate) fn looks_inside(&self, subject: Subject) -> bool {
        self.all.look_inside()
            || self.chosen.get(&subject).is_some_and(Requirements::look_inside)
            || self.groups_of(subject).any(Requirements::look_inside)
    }

    /// All that is required of a call on the subject.
    pub(crate) fn requirements(&self, subject: Subject) -> Requirements {
        let mut requirements = self.all.clone();
        if let Some(chosen) = self.chosen.get(&subject) {
            requirements.add(chosen);
        }
        for group in self.groups_of(subject) {
            requirements.add(group);
        }
        requirements.handlers.sort_by_key(Handler::order);
        requirements
    }

    fn groups_of(&self, subject: Subject) -> impl Iterator<Item = &Requirements> {
        self.groups
            .iter()
            .filter(move |(group, _)| group.has(subject))
            .map(|(_, requirements)| requirements)
    }
}

/// Subjects hash well by themselves.
#[derive(Default)]
pub(crate) struct SubjectHasher(u64);

impl Hasher for SubjectHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 29;
    }
}
