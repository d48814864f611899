//! Texts of several recordings, merged.
//!
//! Kinds belong to their process: `NodeId #5` of two processes are two subjects, unless the kind
//! declares that its keys travel. A common name does not make them one, because a reader cannot
//! undo a wrong sum.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::merge::profiles::Tables;
use crate::merge::remap::{Input, NAMELESS_KIND};
use crate::merge::{MergeError, Process, notes, sites};
use crate::names::RecordedKind;
use metaspy_format::arena::{Entry, head, nature, push_text, site_words, two_kinds};
use metaspy_format::slot::FIRST_MARK;

/// Words of the merged arena.
#[derive(Default)]
pub(super) struct Arena {
    pub words: Vec<u64>,
}

impl Arena {
    fn entry(&mut self, entry: Entry, a: u32, words: &[u64], texts: &[&str]) {
        let at = self.words.len();
        self.words.push(0);
        self.words.extend(words);
        texts.iter().for_each(|text| push_text(&mut self.words, text));
        self.words[at] = head(entry, self.words.len() - at, a);
    }

    /// Adds the declarations of profile tables.
    pub fn tables(&mut self, tables: &Tables) {
        for (number, def) in (0..).zip(&tables.defs) {
            if let Ok(json) = serde_json::to_string(def) {
                self.entry(Entry::Table, number, &[], &[&json]);
            }
        }
    }

    /// Adds the rules that say which events are kept. Rules of one text are one. Stores the new
    /// numbers in the inputs.
    pub fn keeps(&mut self, inputs: &mut [Input]) {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for input in inputs {
            for (&own, rule) in &input.store.names().keeps {
                let next = numbers.len() as u32;
                let number = *numbers.entry(rule.clone()).or_insert(next);
                if number == next {
                    self.entry(Entry::Keep, number, &[], &[rule]);
                }
                input.keeps.insert(own, number);
            }
        }
    }

    /// Adds a sentence for people.
    pub fn note(&mut self, text: &str) {
        self.entry(Entry::Note, 0, &[], &[text]);
    }

    /// Adds the program: the names of all programs, or the whole description of a single program.
    pub fn program(&mut self, inputs: &[Input], processes: &[Process]) {
        if let [only] = inputs
            && let Ok(json) = serde_json::to_string(only.store.program())
        {
            return self.entry(Entry::Program, 0, &[], &[&json]);
        }
        let names: Vec<&str> =
            processes.iter().map(|process| process.label.as_str()).take(3).collect();
        let more = processes.len() - names.len();
        let name = match more {
            0 => names.join(" + "),
            more => format!("{} + {more} more", names.join(" + ")),
        };
        self.entry(Entry::Program, 0, &[], &[&serde_json::json!({ "name": name }).to_string()]);
    }

    /// Adds the sites. Stores the new numbers in the inputs.
    pub fn sites(&mut self, inputs: &mut [Input]) -> Result<(), MergeError> {
        let all = sites::unite(inputs);
        let nameless = all.len() as u32 + 1;
        if nameless >= FIRST_MARK {
            return Err(MergeError::TooMany("sites"));
        }
        inputs.iter_mut().for_each(|input| input.nameless = nameless);
        for (number, site) in (1..).zip(&all) {
            let words = site_words(site.kind, site.lines, site.module);
            let skipped = site.skipped.as_deref().unwrap_or("");
            self.entry(
                Entry::Site,
                number,
                &words,
                &[&site.path, &site.file, skipped, &site.facts],
            );
        }
        Ok(())
    }

    /// Adds the kinds. Each process has its own, in all of its recordings, except kinds whose keys
    /// are valid in every process.
    pub fn kinds(&mut self, inputs: &mut [Input], processes: &[Process]) -> Result<(), MergeError> {
        // This is the first recording of the same process.
        let first = |input: &Input| {
            inputs
                .iter()
                .position(|other| notes::is_of_one_process(&other.store, &input.store))
                .unwrap_or_default()
        };
        let firsts: Vec<usize> = inputs.iter().map(first).collect();
        let mut holders: HashMap<String, HashSet<usize>> = HashMap::new();
        for (input, &first) in inputs.iter().zip(&firsts) {
            for kind in input.store.kinds() {
                holders.entry(kind.name.clone()).or_default().insert(first);
            }
        }
        // The key holds the process; `None` stands for all processes.
        let mut numbers: HashMap<(String, Option<usize>), u16> = HashMap::new();
        let mut next = 1_u16;
        for (input, first) in inputs.iter_mut().zip(firsts) {
            let kinds: BTreeMap<u16, RecordedKind> =
                input.store.kinds().map(|kind| (kind.id.0, kind.clone())).collect();
            for (own, kind) in kinds {
                if next >= NAMELESS_KIND {
                    return Err(MergeError::TooMany("kinds of subjects"));
                }
                let of = (kind.name.clone(), (!kind.across).then_some(first));
                let number = *numbers.entry(of).or_insert(next);
                input.kinds.insert(own, number);
                if number != next {
                    continue;
                }
                let is_distinct = kind.across || holders[&kind.name].len() == 1;
                let process = if is_distinct { &kind.process } else { &processes[first].label };
                let nature = nature(kind.place, kind.across);
                self.entry(Entry::Kind, next.into(), &[nature], &[&kind.name, process]);
                next += 1;
            }
        }
        Ok(())
    }

    /// Adds labels, relations, ends, views, notes, epochs, marks and lanes of a recording. If there
    /// are several recordings, texts begin with its label.
    pub fn rest(&mut self, input: &Input, label: Option<&str>) {
        let labelled = |between: &str, text: &str| {
            label.map_or(text.to_owned(), |label| format!("{label}{between}{text}"))
        };
        let names = input.store.names();
        let mut labels: Vec<_> = names.labels.iter().collect();
        labels.sort_unstable_by_key(|(subject, _)| (subject.kind, subject.key));
        for (subject, label) in labels {
            let subject = input.subject(*subject);
            self.entry(Entry::Label, subject.kind.0.into(), &[subject.key], &[label]);
        }
        for (name, from, to) in names.relations.all() {
            let from = input.subject(from);
            let to = input.subject(to);
            let kinds = two_kinds(from.kind, to.kind);
            self.entry(Entry::Relation, kinds, &[from.key, to.key], &[name]);
        }
        for (subject, tick) in &names.ended {
            let subject = input.subject(*subject);
            self.entry(Entry::Ended, subject.kind.0.into(), &[subject.key, input.tick(*tick)], &[]);
        }
        for view in &names.views {
            if let Ok(json) = serde_json::to_string(&view.view) {
                self.entry(Entry::View, input.epoch.wrapping_add(view.epoch), &[], &[&json]);
            }
        }
        for note in &names.notes {
            self.note(&labelled(": ", note));
        }
        for epoch in &names.epochs {
            let text = labelled(": ", &epoch.text);
            self.entry(
                Entry::Epoch,
                input.epoch.wrapping_add(epoch.epoch),
                &[input.tick(epoch.tick)],
                &[&text],
            );
        }
        for lane in input.store.lanes() {
            let name =
                if lane.name.is_empty() { format!("thread {}", lane.thread) } else { lane.name };
            let name = labelled("/", &name);
            self.entry(Entry::Lane, input.lane + lane.id.0, &[], &[&name]);
        }
    }
}
