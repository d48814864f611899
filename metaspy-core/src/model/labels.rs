//! The domain's statements about its subjects: labels, relations, ends. No hook calls this module.
//!
//! Statements made before a recording begins are kept and written into every later recording.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

use crate::clock;
use crate::format::arena::{self, Entry};
use crate::model::ends;
use crate::recorder::{self, Draft, Listener, Log, Module};
use crate::subject::{Identify, Subject};

static LABELS: LazyLock<DashMap<Subject, String>> = LazyLock::new(DashMap::new);
/// Edges with their sequence numbers, because the order of a model's edges has meaning.
static RELATIONS: LazyLock<DashMap<(String, Subject, Subject), u64>> = LazyLock::new(DashMap::new);
static RELATED: AtomicU64 = AtomicU64::new(0);

/// Gives a subject a label, which people read instead of its key. A later label replaces an earlier one.
pub fn label(subject: impl Identify, text: impl Into<String>) {
    let (subject, text) = (subject.identify(), text.into());
    recorder::listen(Module::Model, &Model);
    if let Some(log) = recorder::current() {
        write_label(log, subject, &text);
    }
    LABELS.insert(subject, text);
}

/// Relates two subjects: `relate("owner", child, parent)`. Screens navigate along each relation.
pub fn relate(name: impl Into<String>, from: impl Identify, to: impl Identify) {
    let (name, from, to) = (name.into(), from.identify(), to.identify());
    let mut is_new = false;
    recorder::listen(Module::Model, &Model);
    RELATIONS.entry((name.clone(), from, to)).or_insert_with(|| {
        is_new = true;
        RELATED.fetch_add(1, Ordering::Relaxed)
    });
    if is_new && let Some(log) = recorder::current() {
        write_relation(log, Entry::Relation, &name, from, to);
    }
}

/// Removes a relation.
pub fn unrelate(name: impl Into<String>, from: impl Identify, to: impl Identify) {
    let (name, from, to) = (name.into(), from.identify(), to.identify());
    if RELATIONS.remove(&(name.clone(), from, to)).is_some()
        && let Some(log) = recorder::current()
    {
        write_relation(log, Entry::Unrelation, &name, from, to);
    }
}

/// Ends a subject. Its label is removed, and its key may identify another object from now on. Profilers that were
/// installed [until then](crate::Installed::until_end_of) are uninstalled.
pub fn forget(subject: impl Identify) {
    let subject = subject.identify();
    ends::ended(subject);
    LABELS.remove(&subject);
    if let Some(log) = recorder::current() {
        let entry = Draft::new(Entry::Ended, u32::from(subject.kind.0));
        log.append(entry.word(subject.key).word(clock::now()));
    }
}

/// Writes everything that was stated before into a recording that begins.
struct Model;

impl Listener for Model {
    fn started(&self, log: &'static Log) {
        for entry in LABELS.iter() {
            write_label(log, *entry.key(), entry.value());
        }
        let mut relations: Vec<_> = RELATIONS.iter().map(|entry| (*entry.value(), entry.key().clone())).collect();
        relations.sort_unstable_by_key(|(when, _)| *when);
        for (_, (name, from, to)) in relations {
            write_relation(log, Entry::Relation, &name, from, to);
        }
    }
}

fn write_label(log: &Log, subject: Subject, text: &str) {
    log.append(Draft::new(Entry::Label, u32::from(subject.kind.0)).word(subject.key).text(text));
}

fn write_relation(log: &Log, entry: Entry, name: &str, from: Subject, to: Subject) {
    let kinds = arena::two_kinds(from.kind, to.kind);
    log.append(Draft::new(entry, kinds).word(from.key).word(to.key).text(name));
}
