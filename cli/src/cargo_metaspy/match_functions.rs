//! The selected functions of the graph, and errors for selectors that match none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use metaspy_core::Selector;
use metaspy_weave::plan::{Selection, Selectors, SubjectOf};
use metaspy_weave::source::{self, Function};

use crate::cargo_metaspy::source_cache::CachedCrate;

/// A search through crates.
pub struct Search {
    texts: Selection,
    selectors: Selectors,
    /// The places of selectors that matched.
    found: BTreeSet<usize>,
    /// For selectors whose path matched, and whose other conditions did not: the number of such
    /// functions.
    near: BTreeMap<usize, usize>,
    /// The places of selectors of functions without hooks that matched.
    without_found: BTreeSet<usize>,
    /// The places of trusting selectors that match a selected function.
    trusted: BTreeSet<usize>,
    /// The places of attributes that a selected function is below.
    attributes_found: BTreeSet<usize>,
    /// The attributes of unknown effect, for hints.
    attributes: BTreeSet<String>,
    /// The places of subjects that a selected function has.
    subjects_found: BTreeSet<usize>,
    /// The first selected function without the parameter that is its subject.
    mistaken: Option<Mistaken>,
    /// All paths, for hints.
    names: BTreeSet<String>,
    /// The selected paths.
    selected: BTreeSet<String>,
}

/// The matches in a crate.
#[derive(Debug, Default)]
pub struct MatchedFunctions {
    /// The selected functions, one line each.
    pub chosen: Vec<String>,
    /// True if it has tests.
    pub has_tests: bool,
}

/// A function without the parameter that a subject names.
struct Mistaken {
    subject: String,
    path: String,
    parameter: String,
    parameters: Vec<String>,
}

impl Search {
    /// A search for a selection.
    pub fn new(selection: &Selection) -> Result<Self> {
        Ok(Search {
            texts: selection.clone(),
            selectors: selection.parse()?,
            found: BTreeSet::new(),
            near: BTreeMap::new(),
            without_found: BTreeSet::new(),
            trusted: BTreeSet::new(),
            attributes_found: BTreeSet::new(),
            attributes: BTreeSet::new(),
            subjects_found: BTreeSet::new(),
            mistaken: None,
            names: BTreeSet::new(),
            selected: BTreeSet::new(),
        })
    }

    /// Searches a crate.
    pub fn of(&mut self, krate: &CachedCrate) -> MatchedFunctions {
        let mut found = MatchedFunctions::default();
        for (path, file, function) in krate.functions() {
            found.has_tests |= function.facts.is_test && self.selectors.skipped(function).is_none();
            found.chosen.extend(self.line_of(path, file, function));
        }
        found
    }

    /// The line of a selected function, which describes how it is woven.
    fn line_of(&mut self, path: &str, file: &Path, function: &Function) -> Option<String> {
        let without = self
            .selectors
            .without
            .iter()
            .enumerate()
            .filter(|(_, words)| words.means(path, function));
        self.without_found.extend(without.map(|(at, _)| at));
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
            let trusting = self
                .selectors
                .trust
                .iter()
                .enumerate()
                .filter(|(_, words)| words.means(path, function));
            let is_trusted = trusting.map(|(at, _)| self.trusted.insert(at)).count() > 0;
            self.selected.insert(path.to_owned());
            let allowed = self.selectors.attributes.iter().enumerate();
            let allowed = allowed.filter(|(_, name)| {
                function.unknown_attributes.iter().any(|path| name.matches(path))
            });
            self.attributes_found.extend(allowed.map(|(at, _)| at));
            self.attributes.extend(function.unknown_attributes.iter().cloned());
            let is_skipped = self.selectors.skipped(function).is_some();
            format!("{path} {} {subject} {is_trusted} {is_skipped}", file.display())
        });
        self.names.insert(path.to_owned());
        line
    }

    fn subject_of(&mut self, path: &str, function: &Function) -> Option<String> {
        let meaning = self
            .selectors
            .subjects
            .iter()
            .enumerate()
            .filter(|(_, subject)| subject.means(path, function));
        self.subjects_found.extend(meaning.map(|(at, _)| at));
        let subject = self.selectors.subject(path, function)?;
        if self.selectors.skipped(function).is_none() && !subject.is_in(function) {
            self.mistaken.get_or_insert_with(|| Mistaken::of(subject, path, function));
        }
        Some(subject.path.clone())
    }

    /// Fails if a selector matches nothing, or if a function does not have its subject.
    pub fn check(&self) -> Result<()> {
        let lost =
            |found: &BTreeSet<usize>, count: usize| (0..count).find(|at| !found.contains(at));
        if let Some(at) = lost(&self.found, self.selectors.weave.len()) {
            let text = &self.texts.weave[at];
            if let Some(near) = self.near.get(&at) {
                bail!(
                    "no function matches `{text}`: {near} have this path, but none meets the other conditions"
                );
            }
            if let Some(module) = self.unreadable_module(at) {
                bail!(
                    "no function matches `{text}`, but {module} cannot be parsed: --weave '{module}::*' with --json=FILE shows why"
                );
            }
            let nearest = self.selectors.weave[at].nearest(self.names.iter().map(String::as_str));
            if nearest.is_empty() {
                bail!(
                    "no function of {} matches `{text}`: write the end of a path, as `compute::*`",
                    self.names.len()
                )
            } else {
                bail!("no function matches `{text}`; did you mean {}?", nearest.join(", "))
            }
        }
        if let Some(at) = lost(&self.without_found, self.selectors.without.len()) {
            let nearest = self.selectors.without[at].nearest(self.names.iter().map(String::as_str));
            bail!(
                "--without: no function matches `{}`{}",
                self.texts.without[at],
                did_you_mean(&nearest)
            );
        }
        if let Some(at) = lost(&self.trusted, self.selectors.trust.len()) {
            let nearest =
                self.selectors.trust[at].nearest(self.selected.iter().map(String::as_str));
            bail!(
                "no selected function matches --trust `{}`{}",
                self.texts.trust[at],
                did_you_mean(&nearest)
            );
        }
        if let Some(at) = lost(&self.attributes_found, self.selectors.attributes.len()) {
            let nearest =
                self.selectors.attributes[at].nearest(self.attributes.iter().map(String::as_str));
            let text = &self.texts.attributes[at];
            bail!(
                "--weave-attributes: no selected function is below an unknown attribute `{text}`{}",
                did_you_mean(&nearest)
            );
        }
        if let Some(at) = lost(&self.subjects_found, self.selectors.subjects.len()) {
            let text = &self.texts.subjects[at];
            let functions = &self.selectors.subjects[at].functions;
            let nearest = functions.nearest(self.selected.iter().map(String::as_str));
            if nearest.is_empty() {
                bail!("no selected function has the subject `{text}`: --weave selects functions")
            } else {
                bail!(
                    "no selected function has the subject `{text}`; did you mean {}?",
                    nearest.join(", ")
                )
            }
        }
        self.mistaken.as_ref().map_or(Ok(()), |mistaken| bail!("{mistaken}"))
    }
}

impl Search {
    /// Fails if a selector of callers matches no selected function.
    pub(crate) fn check_callers(&self, callers: &Selector) -> Result<()> {
        let mut names = self.selected.iter().map(String::as_str);
        if names.any(|name| callers.matches(name)) {
            return Ok(());
        }
        let nearest = callers.nearest(self.selected.iter().map(String::as_str));
        bail!("--callers: no selected function matches `{callers}`{}", did_you_mean(&nearest))
    }

    /// The module that a selector may match a function of, if its file cannot be parsed.
    fn unreadable_module(&self, at: usize) -> Option<&str> {
        let (_, last) = self.texts.weave[at].rsplit_once("::")?;
        let mut modules = self.names.iter().filter_map(|name| name.strip_suffix("::*"));
        modules.find(|module| {
            self.selectors.weave[at].has_path(&format!("{module}::{last}"), &Function::default())
        })
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", nearest.join(", "))
    }
}

impl Mistaken {
    fn of(subject: &SubjectOf, path: &str, function: &Function) -> Self {
        let own = (function.facts.self_kind != source::SelfKind::None).then(|| "self".to_owned());
        Mistaken {
            subject: subject.path.clone(),
            path: path.to_owned(),
            parameter: subject.parameter().to_owned(),
            parameters: own
                .into_iter()
                .chain(function.signature.parameters.iter().cloned())
                .collect(),
        }
    }
}

impl fmt::Display for Mistaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistaken { subject, path, parameter, parameters } = self;
        write!(
            f,
            "`{path}` does not have the subject `{subject}`: it has no parameter `{parameter}`"
        )?;
        let names = parameters.iter().map(String::as_str);
        let nearest =
            parameter.parse::<Selector>().map(|name| name.nearest(names)).unwrap_or_default();
        match (nearest.is_empty(), parameters.is_empty()) {
            (false, _) => write!(f, "; did you mean {}?", nearest.join(", ")),
            (true, false) => write!(f, "; its parameters are {}", parameters.join(", ")),
            (true, true) => write!(f, "; it has no parameter with a plain name"),
        }
    }
}
