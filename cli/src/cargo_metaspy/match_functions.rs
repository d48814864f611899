//! The functions of the graph that are selected, and selectors that find none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use metaspy_core::Selector;
use metaspy_weave::plan::{Selection, Selectors, SubjectOf};
use metaspy_weave::source::{self, Function};

use crate::cargo_metaspy::source_cache::Known;

/// A search through crates.
pub struct Search {
    texts: Selection,
    selectors: Selectors,
    /// Selectors that matched, and those whose path did, by their place.
    found: BTreeSet<usize>,
    near: BTreeMap<usize, usize>,
    /// Subjects of functions that are selected.
    subjects_found: BTreeSet<usize>,
    /// The first function that has not the parameter that is its subject.
    mistaken: Option<Mistaken>,
    /// All paths, for those that were mistaken.
    names: BTreeSet<String>,
    /// Those that are selected.
    selected: BTreeSet<String>,
}

/// What was found in a crate.
#[derive(Debug, Default)]
pub struct Found {
    /// The functions that are selected, each in a line of its own.
    pub chosen: Vec<String>,
    /// Whether it has tests.
    pub has_tests: bool,
}

/// A function that has no such parameter.
struct Mistaken {
    subject: String,
    path: String,
    parameter: String,
    parameters: Vec<String>,
}

impl Search {
    /// For what is asked.
    pub fn new(selection: &Selection) -> Result<Self> {
        Ok(Search {
            texts: selection.clone(),
            selectors: selection.parse()?,
            found: BTreeSet::new(),
            near: BTreeMap::new(),
            subjects_found: BTreeSet::new(),
            mistaken: None,
            names: BTreeSet::new(),
            selected: BTreeSet::new(),
        })
    }

    /// Looks through a crate.
    pub fn of(&mut self, krate: &Known) -> Found {
        let mut found = Found::default();
        for (path, file, function) in krate.functions() {
            found.has_tests |= function.facts.is_test && function.skipped.is_none();
            found.chosen.extend(self.line_of(path, file, function));
        }
        found
    }

    /// A line that says how a function is woven; none if it is not selected.
    fn line_of(&mut self, path: &str, file: &Path, function: &Function) -> Option<String> {
        if function.facts.is_closure && !self.selectors.closures {
            return None;
        }
        for (at, words) in self.selectors.weave.iter().enumerate() {
            if words.means(path, function) {
                self.found.insert(at);
            } else if words.has_path(path, function) {
                *self.near.entry(at).or_default() += 1;
            }
        }
        let line = self.selectors.means(path, function).then(|| {
            let subject = self.subject_of(path, function).unwrap_or_default();
            self.selected.insert(path.to_owned());
            format!("{path} {} {subject}", file.display())
        });
        self.names.insert(path.to_owned());
        line
    }

    fn subject_of(&mut self, path: &str, function: &Function) -> Option<String> {
        let meaning = self.selectors.subjects.iter().enumerate().filter(|(_, subject)| subject.means(path, function));
        self.subjects_found.extend(meaning.map(|(at, _)| at));
        let subject = self.selectors.subject(path, function)?;
        if function.skipped.is_none() && !subject.is_in(function) {
            self.mistaken.get_or_insert_with(|| Mistaken::of(subject, path, function));
        }
        Some(subject.path.clone())
    }

    /// A selector that matches nothing is a mistake, and so is a subject that a function does not have.
    pub fn judge(&self) -> Result<()> {
        let lost = |found: &BTreeSet<usize>, count: usize| (0..count).find(|at| !found.contains(at));
        if let Some(at) = lost(&self.found, self.selectors.weave.len()) {
            let text = &self.texts.weave[at];
            if let Some(near) = self.near.get(&at) {
                bail!("`{text}` matches no function: of {near} with that path none is all else that it says");
            }
            if let Some(module) = self.not_understood(at) {
                bail!(
                    "`{text}` matches no function, but {module} was not understood: --weave '{module}::*' with --json FILE \
                     says why"
                );
            }
            let nearest = self.selectors.weave[at].nearest(self.names.iter().map(String::as_str));
            match nearest.is_empty() {
                true => bail!(
                    "`{text}` matches no function of the {} that could be woven: write the end of a path, as `compute::*`",
                    self.names.len()
                ),
                false => bail!("`{text}` matches no function; did you mean {}?", nearest.join(", ")),
            }
        }
        if let Some(at) = lost(&self.subjects_found, self.selectors.subjects.len()) {
            let text = &self.texts.subjects[at];
            let functions = &self.selectors.subjects[at].functions;
            let nearest = functions.nearest(self.selected.iter().map(String::as_str));
            match nearest.is_empty() {
                true => bail!("the subject `{text}` is of no function that is selected: --weave selects functions"),
                false => bail!(
                    "the subject `{text}` is of no function that is selected; did you mean {}?",
                    nearest.join(", ")
                ),
            }
        }
        self.mistaken.as_ref().map_or(Ok(()), |mistaken| bail!("{mistaken}"))
    }
}

impl Search {
    /// The file that a selector may mean a function of, if none is known of it because it was not understood.
    fn not_understood(&self, at: usize) -> Option<&str> {
        let (_, last) = self.texts.weave[at].rsplit_once("::")?;
        let mut modules = self.names.iter().filter_map(|name| name.strip_suffix("::*"));
        modules.find(|module| self.selectors.weave[at].has_path(&format!("{module}::{last}"), &Function::default()))
    }
}

impl Mistaken {
    fn of(subject: &SubjectOf, path: &str, function: &Function) -> Self {
        let own = (function.facts.self_kind != source::SelfKind::None).then(|| "self".to_owned());
        Mistaken {
            subject: subject.path.clone(),
            path: path.to_owned(),
            parameter: subject.parameter().to_owned(),
            parameters: own.into_iter().chain(function.signature.parameters.iter().cloned()).collect(),
        }
    }
}

impl fmt::Display for Mistaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistaken { subject, path, parameter, parameters } = self;
        write!(f, "`{subject}` is no subject of `{path}`, which has no parameter `{parameter}`")?;
        let names = parameters.iter().map(String::as_str);
        let nearest = parameter.parse::<Selector>().map(|name| name.nearest(names)).unwrap_or_default();
        match (nearest.is_empty(), parameters.is_empty()) {
            (false, _) => write!(f, "; did you mean {}?", nearest.join(", ")),
            (true, false) => write!(f, ": it has {}", parameters.join(", ")),
            (true, true) => write!(f, ": it has none with a plain name"),
        }
    }
}
