//! The domain's statements about its subjects: labels, relations, ends. No hook calls this module.
//!
//! Statements made before a recording begins are kept and written into every later recording, until
//! their subjects end.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};

use crate::clock;
use crate::format::arena::{self, Entry};
use crate::model::ends;
use crate::platform::lock::lock;
use crate::recorder::{self, Draft, Listener, Log, Module};
use crate::subject::{Identify, Subject};

static STATED: LazyLock<Mutex<Stated>> = LazyLock::new(Mutex::default);

/// The statements about living subjects.
#[derive(Default)]
struct Stated {
    labels: HashMap<Subject, String>,
    /// Relations with their sequence numbers, because the order of a model's relations has meaning.
    relations: HashMap<Relation, u64>,
    /// The relations of each subject.
    of: HashMap<Subject, HashSet<Relation>>,
    /// Each name once.
    names: HashSet<Arc<str>>,
    related: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Relation {
    name: Arc<str>,
    from: Subject,
    to: Subject,
}

impl Relation {
    fn write(&self, log: &Log, entry: Entry) {
        let kinds = arena::two_kinds(self.from.kind, self.to.kind);
        log.append_statement(
            Draft::new(entry, kinds).word(self.from.key).word(self.to.key).text(&self.name),
        );
    }
}

impl Stated {
    fn relation(&mut self, name: String, from: Subject, to: Subject) -> Relation {
        let name = self.names.get(name.as_str()).cloned().unwrap_or_else(|| {
            let name: Arc<str> = name.into();
            self.names.insert(name.clone());
            name
        });
        Relation { name, from, to }
    }

    /// Adds a relation; false if it is known.
    fn relate(&mut self, relation: &Relation) -> bool {
        if self.relations.contains_key(relation) {
            return false;
        }
        self.related += 1;
        self.relations.insert(relation.clone(), self.related);
        for end in [relation.from, relation.to] {
            self.of.entry(end).or_default().insert(relation.clone());
        }
        true
    }

    /// Removes a relation; false if it is not known.
    fn unrelate(&mut self, relation: &Relation) -> bool {
        for end in [relation.from, relation.to] {
            if let Some(of) = self.of.get_mut(&end) {
                of.remove(relation);
                if of.is_empty() {
                    self.of.remove(&end);
                }
            }
        }
        self.relations.remove(relation).is_some()
    }

    /// Removes everything about a subject.
    fn forget(&mut self, subject: Subject) {
        self.labels.remove(&subject);
        let relations: Vec<Relation> =
            self.of.get(&subject).into_iter().flatten().cloned().collect();
        relations.iter().for_each(|relation| _ = self.unrelate(relation));
    }
}

/// Gives a subject a label, which people read instead of its key. A later label replaces an earlier
/// one.
pub fn label(subject: impl Identify, text: impl Into<String>) {
    let subject = subject.identify();
    let text = text.into();
    recorder::listen(Module::Model, &Model);
    let mut stated = lock(&STATED);
    if let Some(log) = recorder::current() {
        write_label(log, subject, &text);
    }
    stated.labels.insert(subject, text);
}

/// Relates two subjects: `relate("owner", child, parent)`. Screens navigate along each relation. It
/// lasts until it is removed, or one of both ends.
pub fn relate(name: impl Into<String>, from: impl Identify, to: impl Identify) {
    let name = name.into();
    let from = from.identify();
    let to = to.identify();
    recorder::listen(Module::Model, &Model);
    let mut stated = lock(&STATED);
    let relation = stated.relation(name, from, to);
    if stated.relate(&relation)
        && let Some(log) = recorder::current()
    {
        relation.write(log, Entry::Relation);
    }
}

/// Removes a relation.
pub fn unrelate(name: impl Into<String>, from: impl Identify, to: impl Identify) {
    let name = name.into();
    let from = from.identify();
    let to = to.identify();
    let mut stated = lock(&STATED);
    let relation = stated.relation(name, from, to);
    if stated.unrelate(&relation)
        && let Some(log) = recorder::current()
    {
        relation.write(log, Entry::Unrelation);
    }
}

/// Ends a subject. Its label and its relations are removed, and its key may identify another object
/// from now on. Profilers that were installed with `Installed::until_end_of` are uninstalled.
///
/// A recording keeps the statements about the subject, its end included, while it holds an event of
/// the subject.
pub fn forget(subject: impl Identify) {
    let subject = subject.identify();
    ends::ended(subject);
    let mut stated = lock(&STATED);
    stated.forget(subject);
    if let Some(log) = recorder::current() {
        let entry = Draft::new(Entry::Ended, u32::from(subject.kind.0));
        log.append_statement(entry.word(subject.key).word(clock::now()));
    }
}

/// Writes everything that was stated before into a recording that begins.
struct Model;

impl Listener for Model {
    fn started(&self, log: &'static Log) {
        let stated = lock(&STATED);
        for (subject, text) in &stated.labels {
            write_label(log, *subject, text);
        }
        let mut relations: Vec<_> = stated.relations.iter().collect();
        relations.sort_unstable_by_key(|(_, when)| **when);
        relations.into_iter().for_each(|(relation, _)| relation.write(log, Entry::Relation));
    }
}

fn write_label(log: &Log, subject: Subject, text: &str) {
    log.append_statement(
        Draft::new(Entry::Label, u32::from(subject.kind.0)).word(subject.key).text(text),
    );
}
