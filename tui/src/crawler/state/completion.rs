//! Completion of the word before the caret in a filter: names of terms, and their values in this
//! recording.

use metaspy_reader::{Outcome, Store};
use metaspy_report::export::Format;
use metaspy_report::text::{clean, last_segment};

use super::filter_edit;
use super::line::Line;

/// Maximum number of candidates.
const SHOWN: usize = 8;
/// Maximum number of labels that are searched for one key.
const LABELS: usize = 50_000;

/// Terms of the filter language, each with a description.
const TERMS: [(&str, &str); 12] = [
    ("site:", "by its path or a part of it"),
    ("subject:", "by label, or by kind and key"),
    ("kind:", "by the type of the subject"),
    ("took:", "by duration: >1ms"),
    ("outcome:", "failed, panicked, running …"),
    ("cause:", "by the path of a direct or indirect cause"),
    ("cause.site:", "by the path of the direct cause: what sent it"),
    ("cause.subject:", "by the subject of the direct cause: who asked"),
    ("lane:", "by the name of the thread"),
    ("level:", "0 = the application, 1 and more = handlers"),
    ("epoch:", "by the number of the installation"),
    ("kept:", "yes: left the window and is kept by a rule"),
];

/// The first candidates: they are searched for most.
const FAILURES: [Outcome; 3] = [Outcome::Failed, Outcome::Panicked, Outcome::Cancelled];

/// Candidates for the word before the caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Candidates, the best first.
    pub candidates: Vec<Candidate>,
    /// Index of the candidate that was inserted last.
    pub chosen: Option<usize>,
    /// Byte of the line at which the candidates are inserted.
    from: usize,
}

/// Text to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Text that replaces the word.
    pub text: String,
    /// Description beside the text.
    pub note: String,
}

impl Completion {
    /// Finds the candidates for the word before the caret.
    pub fn read(store: &Store, line: &Line) -> Self {
        let before = line.before();
        let word = word_start(before);
        let sign = usize::from(before[word..].starts_with('-'));
        let typed = &before[word + sign..];
        let (from, candidates) =
            match typed.split_once(':').filter(|(_, value)| !value.starts_with(':')) {
                Some((term, value)) => {
                    let from = word + sign + term.len() + 1;
                    (from, values(store, term, value.trim_start_matches('"')))
                }
                None => (word + sign, terms(store, typed)),
            };
        Completion { candidates, chosen: None, from }
    }

    /// Finds the formats of an export that begin with the text.
    pub fn formats(line: &Line) -> Self {
        let typed = line.before();
        let formats = Format::ALL.iter().filter(|format| format.name().starts_with(typed));
        let candidates = formats
            .map(|format| Candidate {
                text: format.name().into(),
                note: format.description().into(),
            })
            .collect();
        Completion { candidates, chosen: None, from: 0 }
    }

    /// Inserts the next candidate, or the previous candidate. Returns false if there is none.
    pub fn insert(&mut self, line: &mut Line, forward: bool) -> bool {
        let count = self.candidates.len();
        if count == 0 {
            return false;
        }
        let next = match (self.chosen, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.chosen = Some(next);
        line.replace_from(self.from, &self.candidates[next].text);
        true
    }
}

/// Returns the byte at which the last word of a line begins. Spaces between quotation marks belong
/// to the word.
fn word_start(line: &str) -> usize {
    let mut start = 0;
    let mut is_quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => start = at + c.len_utf8(),
            _ => {}
        }
    }
    start
}

/// Finds the terms that begin with a text, and the sites and outcomes that contain it.
fn terms(store: &Store, typed: &str) -> Vec<Candidate> {
    let begins = TERMS.iter().filter(|(name, _)| name.starts_with(typed));
    let mut found: Vec<Candidate> =
        begins.map(|&(name, note)| Candidate { text: name.into(), note: note.into() }).collect();
    if !typed.is_empty() {
        let with = |term: &str| {
            let values = values(store, term, typed).into_iter();
            values
                .map(|it| Candidate { text: format!("{term}:{}", it.text), ..it })
                .collect::<Vec<_>>()
        };
        found.extend(with("outcome"));
        found.extend(with("site"));
    }
    found.truncate(SHOWN);
    found
}

/// Finds the values of a term that contain a text. Values that begin with it come first.
fn values(store: &Store, term: &str, typed: &str) -> Vec<Candidate> {
    let mut found = match term {
        "site" | "cause" | "cause.site" => sites(store, typed),
        "subject" | "cause.subject" => subjects(store, typed),
        "kind" => named(
            store
                .kinds()
                .map(|kind| (kind.short_name().to_owned(), clean(&kind.name).into_owned())),
            typed,
        ),
        "outcome" => {
            let mut outcomes = Outcome::ALL.to_vec();
            outcomes.sort_by_key(|outcome| !FAILURES.contains(outcome));
            named(outcomes.iter().map(|it| (it.name().to_owned(), String::new())), typed)
        }
        "lane" => {
            let lanes = store.lanes();
            let name =
                |lane| filter_edit::lane_term(store, lane).trim_start_matches("lane:").to_owned();
            named(lanes.iter().map(|lane| (name(lane), format!("thread {}", lane.thread))), typed)
        }
        "took" if typed.is_empty() => named(
            [">1ms", ">100us", ">16ms", ">1s", "<1us"]
                .iter()
                .map(|it| ((*it).into(), String::new())),
            "",
        ),
        _ => Vec::new(),
    };
    found.truncate(SHOWN);
    found
}

fn sites(store: &Store, typed: &str) -> Vec<Candidate> {
    let typed = typed.to_lowercase();
    let mut found: Vec<(bool, &str, Candidate)> = (store.sites().iter())
        .filter(|site| site.path.to_lowercase().contains(&typed))
        .take(LABELS)
        .map(|site| {
            let name = last_segment(&site.path);
            let text = String::new();
            (
                !name.to_lowercase().starts_with(&typed),
                name,
                Candidate { text, note: site.path.clone() },
            )
        })
        .collect();
    found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    found.truncate(SHOWN);
    let mut candidates = Vec::new();
    for (_, _, found) in found {
        let Some(site) = store.sites().iter().find(|site| site.path == found.note) else {
            continue;
        };
        let text = filter_edit::site_term(store, site.id).trim_start_matches("site:").to_owned();
        candidates.push(Candidate { text, note: clean(&found.note).into_owned() });
    }
    candidates
}

fn subjects(store: &Store, typed: &str) -> Vec<Candidate> {
    let lower = typed.to_lowercase();
    let kinds = store.kinds().filter(|kind| {
        kind.short_name().to_lowercase().starts_with(&lower) && !kind.name.is_empty()
    });
    let kind = |name: &str| Candidate { text: format!("{name}:#"), note: "and the key".into() };
    let mut found: Vec<Candidate> =
        kinds.map(|it| kind(it.short_name())).filter(|it| !it.text.contains(' ')).collect();
    found.sort_by(|a, b| a.text.cmp(&b.text));
    found.dedup();
    found.truncate(SHOWN / 2);
    let mut labelled: Vec<_> = store
        .labelled()
        .take(LABELS)
        .filter(|(_, label)| label.to_lowercase().contains(&lower))
        .collect();
    labelled.sort();
    found.extend(labelled.into_iter().take(SHOWN).map(|(subject, label)| {
        let text =
            filter_edit::subject_term(store, subject).trim_start_matches("subject:").to_owned();
        Candidate { text, note: clean(label).into_owned() }
    }));
    found
}

/// Finds the names that contain a text, with their notes.
fn named(names: impl Iterator<Item = (String, String)>, typed: &str) -> Vec<Candidate> {
    let typed = typed.to_lowercase();
    let mut found: Vec<Candidate> = names
        .filter(|(name, _)| name.to_lowercase().contains(&typed) && !name.is_empty())
        .map(|(text, note)| Candidate { text, note })
        .collect();
    found.sort_by_key(|it| !it.text.to_lowercase().starts_with(&typed));
    found.dedup_by(|a, b| a.text == b.text);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_behind_a_space_that_is_not_quoted() {
        assert_eq!(word_start("site:a took:"), 7);
        assert_eq!(word_start("site:a subject:\"the fox"), 7);
        assert_eq!(word_start(""), 0);
    }
}
