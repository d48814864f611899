//! Tab with the facets of the listed events: the most frequent sites, subjects and outcomes.
//!
//! Each row is a filter: Enter selects its events, `-` leaves them out.

use metaspy_reader::{By, DetailLevel, Filter, Outcome, Scope, Store, Tally};
use metaspy_report::text::{clean, counted, short_path};

use super::row::{Content, PaneRow};
use crate::crawler::state::{filter_edit, name};

/// Maximum number of rows of each sort.
const SHOWN: usize = 8;

/// Part of the events with the same site, subject or outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Name of the site, subject or outcome.
    pub name: String,
    /// Number of events in the facet.
    pub count: u64,
    /// Sign before the number, if it is not exact.
    pub sign: &'static str,
    /// Filter term that selects these events.
    pub term: String,
}

/// Most frequent sites, subjects and outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facets {
    /// Text of the filter that the events pass.
    pub filter: String,
    sorts: Vec<(String, Vec<Facet>)>,
}

/// Counts the facets of the events that pass a filter.
pub fn read(store: &Store, filter: Filter) -> Facets {
    let text = filter.text().to_owned();
    let by_site = store.tally(By::Site, &Scope::matching(filter.clone()));
    let by_subject =
        store.tally(By::Subject, &Scope { detail: DetailLevel::Counts, ..Scope::matching(filter) });
    let sites = by_site.rows.iter().take(SHOWN).filter_map(|row| {
        let site = row.site?;
        Some(Facet {
            name: clean(short_path(store.site_path(site))).into_owned(),
            count: row.measure.count,
            sign: row.measure.sign(),
            term: filter_edit::site_term(store, site),
        })
    });
    let named = by_subject.rows.iter().filter(|row| row.subject.is_some() && !row.is_others());
    let subjects = named.take(SHOWN).filter_map(|row| {
        let subject = row.subject?;
        Some(Facet {
            name: name::subject(store, subject),
            count: row.measure.count,
            sign: row.measure.sign(),
            term: filter_edit::subject_term(store, subject),
        })
    });
    let count = |rows: usize, word| counted(rows as u64, word);
    let sorts = vec![
        (format!("outcomes  {}", reach(&by_site)), outcomes(store, &by_site)),
        (format!("{}  {}", count(by_site.rows.len(), "site"), reach(&by_site)), sites.collect()),
        (
            format!("{}  {}", count(by_subject.rows.len(), "subject"), reach(&by_subject)),
            subjects.collect(),
        ),
    ];
    Facets { filter: text, sorts }
}

/// Describes the coverage of the numbers: all calls, or only the window.
fn reach(tally: &Tally) -> &'static str {
    if tally.exact { "exact, of all calls" } else { "at least: of the window" }
}

/// Returns the word for failed calls: the word of their sites if all sites use the same, such as
/// `none`.
fn failure(store: &Store, tally: &Tally) -> &'static str {
    let failed = tally.rows.iter().filter(|row| row.measure.failed > 0);
    let words = failed.map(|row| {
        row.site.and_then(|site| store.site(site)).map_or("failed", |site| site.failure())
    });
    let mut words: Vec<&str> = words.collect();
    words.dedup();
    if let [only] = words[..] { only } else { Outcome::Failed.name() }
}

fn outcomes(store: &Store, tally: &Tally) -> Vec<Facet> {
    let sum = |number: fn(&metaspy_reader::Measure) -> u64| {
        tally.rows.iter().map(|row| number(&row.measure)).sum()
    };
    let named: [(Outcome, u64); 4] = [
        (Outcome::Failed, sum(|measure| measure.failed)),
        (Outcome::Panicked, sum(|measure| measure.panicked)),
        (Outcome::Cancelled, sum(|measure| measure.cancelled)),
        (Outcome::Running, sum(|measure| measure.running)),
    ];
    let found = named.into_iter().filter(|(_, count)| *count > 0);
    found
        .map(|(outcome, count)| Facet {
            name: if outcome == Outcome::Failed { failure(store, tally) } else { outcome.name() }
                .into(),
            count,
            sign: if tally.exact { "" } else { "≥ " },
            term: format!("outcome:{}", outcome.name()),
        })
        .collect()
}

/// Builds the rows of the tab.
pub fn rows(facets: Option<&Facets>) -> Vec<PaneRow> {
    let Some(facets) = facets else {
        return vec![PaneRow::plain(Content::Note("counting …".into()))];
    };
    let mut rows = Vec::new();
    for (title, facets) in facets.sorts.iter().filter(|(_, facets)| !facets.is_empty()) {
        if !rows.is_empty() {
            rows.push(PaneRow::plain(Content::Blank));
        }
        rows.push(PaneRow::plain(Content::Title(title.clone())));
        rows.extend(facets.iter().map(|facet| PaneRow::plain(Content::Facet(facet.clone()))));
    }
    if rows.is_empty() {
        rows.push(PaneRow::plain(Content::Note("no event passes the filter".into())));
    }
    rows
}
