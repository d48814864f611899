//! Sites and subjects that a line of the filter language selects.

use std::collections::BTreeSet;
use std::fmt;

use metaspy_probe::{SiteId, Subject};

use crate::filter::{Condition, Filter, FilterError, SubjectCondition, Term};
use crate::{By, DetailLevel, Scope, Store, debug_as_message};

/// Sites, and subjects at them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Selected sites.
    pub sites: Vec<SiteId>,
    /// Selected subjects; `None` = all subjects.
    pub subjects: Option<Vec<Subject>>,
}

/// Reason why a line selects no sites and subjects.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum TargetError {
    /// The line has no term.
    Empty,
    /// A term selects events, and neither sites nor subjects.
    OfEvents,
    /// A selector or a kind that the recording does not have.
    Unknown(FilterError),
    /// The subjects have no events, so their sites are not known.
    NoSites,
    /// No subject is known.
    NoSubjects,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Empty => {
                f.write_str("write what to observe: `site:Scene::measure`, `subject:#412`")
            }
            TargetError::OfEvents => f.write_str(
                "sites and subjects are selected by `site:`, `subject:` and `kind:` only",
            ),
            TargetError::Unknown(error) => error.fmt(f),
            TargetError::NoSites => f.write_str("these subjects have no events yet: add a `site:`"),
            TargetError::NoSubjects => {
                f.write_str("no such subject is known: write `subject:KIND:KEY`")
            }
        }
    }
}

debug_as_message!(TargetError);

impl std::error::Error for TargetError {}

impl Store {
    /// Returns the sites and subjects that a filter selects. The sites are those that its `site:`
    /// terms name, or else those where the subjects have events. The subjects are those of its
    /// `subject:` and `kind:` terms, or else all.
    pub fn targets(&self, filter: &Filter) -> Result<Targets, TargetError> {
        if filter.is_all() {
            return Err(TargetError::Empty);
        }
        filter.check(self).map_err(TargetError::Unknown)?;
        let is_of_subjects =
            |term: &Term| matches!(term.condition, Condition::Subject(_) | Condition::Kind(_));
        let is_of_sites = |term: &Term| matches!(term.condition, Condition::Site(_));
        if !filter.terms.iter().all(|term| is_of_subjects(term) || is_of_sites(term)) {
            return Err(TargetError::OfEvents);
        }
        let of_subjects = part(filter, is_of_subjects);
        let (names_sites, names_subjects) =
            (filter.terms.iter().any(is_of_sites), !of_subjects.is_all());
        let sites = if names_sites { self.sites_of(filter) } else { self.sites_with(&of_subjects) };
        if sites.is_empty() {
            return Err(TargetError::NoSites);
        }
        let subjects = names_subjects.then(|| self.subjects_of(&of_subjects));
        if subjects.as_ref().is_some_and(Vec::is_empty) {
            return Err(TargetError::NoSubjects);
        }
        Ok(Targets { sites, subjects })
    }

    /// Returns the observable sites that the `site:` terms of a filter select, with events or
    /// without.
    fn sites_of(&self, filter: &Filter) -> Vec<SiteId> {
        let is_selected = |path: &str| {
            filter.terms.iter().all(|term| match &term.condition {
                Condition::Site(selector) => selector.matches(path) != term.negated,
                _ => true,
            })
        };
        let sites =
            self.sites().iter().filter(|site| site.skipped.is_none() && is_selected(&site.path));
        sites.map(|site| site.id).collect()
    }

    /// Returns the sites with events of the subjects.
    fn sites_with(&self, of_subjects: &Filter) -> Vec<SiteId> {
        let scope =
            Scope { filter: of_subjects.clone(), detail: DetailLevel::Counts, ..Scope::default() };
        self.tally(By::Site, &scope).rows.iter().filter_map(|row| row.site).collect()
    }

    /// Returns the subjects that pass a filter: subjects with events, with labels, and subjects
    /// that the filter names.
    fn subjects_of(&self, of_subjects: &Filter) -> Vec<Subject> {
        let scope =
            Scope { filter: of_subjects.clone(), detail: DetailLevel::Counts, ..Scope::default() };
        let mut subjects: BTreeSet<Subject> =
            self.tally(By::Subject, &scope).rows.iter().filter_map(|row| row.subject).collect();
        let matcher = self.compile(of_subjects, 0..=0);
        subjects.extend(
            self.labelled()
                .map(|(subject, _)| subject)
                .filter(|&subject| matcher.matches_row(0, Some(subject), 0, false) == Some(true)),
        );
        for term in of_subjects.terms.iter().filter(|term| !term.negated) {
            match &term.condition {
                Condition::Subject(SubjectCondition::Exactly(subject)) => {
                    subjects.insert(*subject);
                }
                Condition::Subject(SubjectCondition::KindKey(name, key)) => {
                    let kinds = self.names().kinds.iter().filter(|(_, kind)| kind.is_named(name));
                    subjects.extend(kinds.map(|(&kind, _)| Subject::new(kind, *key)));
                }
                _ => {}
            }
        }
        subjects.into_iter().filter(|subject| !subject.is_none()).collect()
    }
}

/// Returns the terms of a filter that satisfy a condition, as a filter.
fn part(filter: &Filter, is_part: impl Fn(&Term) -> bool) -> Filter {
    Filter {
        text: String::new(),
        terms: filter.terms.iter().filter(|term| is_part(term)).cloned().collect(),
    }
}
