//! Exact counts: by site and subject, and by subject.

use std::collections::{HashMap, HashSet};

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{By, Measure, Scope, TallyRow};
use metaspy_report::rows::{KnownOutcomes, Outcomes};

use crate::recordings::Recording;
use crate::tables::columns::{Column, batch, flags, integers, small, subjects, texts};

/// Calls by site and subject.
pub fn tallies(recording: &Recording) -> Result<RecordBatch> {
    let rows = recording.store.tally(By::SiteSubject, &Scope::default()).rows;
    let id = small("site_id", rows.iter().map(|row| Some(row.site?.0)));
    let site = texts("site", rows.iter().map(|row| Some(recording.store.site_path(row.site?))));
    let who = subjects(recording, "subject", rows.iter().map(named));
    let others = flags("others", rows.iter().map(|row| Some(row.is_others())));
    let whole = site_totals(recording, &rows);
    let failure = |row: &TallyRow| recording.store.site(row.site?).map(|site| site.failure());
    let failed_as = texts("failed_as", rows.iter().map(failure));
    let measures = measures(recording, &rows).into_iter().chain([whole, failed_as]);
    batch(recording, [id, site].into_iter().chain(who).chain([others]).chain(measures))
}

/// The time of all calls at a site, in the first of its rows: calls on one subject are inside calls
/// on another, so the times of the rows do not add up to it.
fn site_totals(recording: &Recording, rows: &[TallyRow]) -> Column {
    let by_site = recording.store.tally(By::Site, &Scope::default()).rows;
    let mut totals: HashMap<SiteId, u64> = by_site
        .iter()
        .filter(|row| row.measure.timed > 0)
        .filter_map(|row| Some((row.site?, recording.store.span_ns(row.measure.total_ticks))))
        .collect();
    let values: Vec<Option<u64>> = rows.iter().map(|row| totals.remove(&row.site?)).collect();
    integers("site_total_ns", values)
}

/// Adds rows for subjects without calls.
fn add_silent(rows: &mut Vec<TallyRow>, labelled: impl Iterator<Item = Subject>) {
    let known: HashSet<Subject> = rows.iter().filter_map(|row| row.subject).collect();
    let silent = labelled.filter(|subject| !known.contains(subject));
    rows.extend(silent.map(|subject| TallyRow {
        site: None,
        subject: Some(subject),
        measure: Measure::default(),
    }));
}

/// One row for each subject.
pub fn subjects_of(recording: &Recording) -> Result<RecordBatch> {
    let store = &recording.store;
    let mut rows = store.tally(By::Subject, &Scope::default()).rows;
    rows.retain(|row| named(row).is_some());
    add_silent(&mut rows, store.labelled().map(|(subject, _)| subject));
    let who = subjects(recording, "subject", rows.iter().map(named));
    let label = texts("label", rows.iter().map(|row| store.label(row.subject?)));
    let ended = integers(
        "ended_ns",
        rows.iter().map(|row| Some(store.time_ns(store.ended_at(row.subject?)?))),
    );
    batch(recording, who.into_iter().chain([label, ended]).chain(measures(recording, &rows)))
}

/// The subject of a row; `None` for calls without a subject, and for the row of others.
fn named(row: &TallyRow) -> Option<Subject> {
    row.subject.filter(|subject| !row.is_others() && !subject.is_none())
}

fn measures(recording: &Recording, rows: &[TallyRow]) -> Vec<Column> {
    let store = &recording.store;
    let number = |name: &str, value: fn(&Measure) -> u64| {
        integers(name, rows.iter().map(|row| Some(value(&row.measure))))
    };
    let known_outcomes = KnownOutcomes::of(store);
    let outcomes: Vec<Outcomes> =
        rows.iter().map(|row| known_outcomes.of_calls(row.site, &row.measure)).collect();
    let outcome = |name: &str, value: fn(&Outcomes) -> Option<u64>| {
        integers(name, outcomes.iter().map(value))
    };
    let time = |name: &str, ticks: fn(&Measure) -> Option<u64>| {
        let ns = |row: &TallyRow| {
            Some(store.span_ns(ticks(&row.measure).filter(|_| row.measure.timed > 0)?))
        };
        integers(name, rows.iter().map(ns))
    };
    vec![
        number("calls", |measure| measure.count),
        flags("at_least", rows.iter().map(|row| Some(row.measure.at_least))),
        outcome("failed", |outcomes| outcomes.failed),
        outcome("panicked", |outcomes| outcomes.panicked),
        outcome("cancelled", |outcomes| outcomes.cancelled),
        outcome("running", |outcomes| outcomes.running),
        number("lost", |measure| measure.lost),
        number("timed", |measure| measure.timed),
        time("total_ns", |measure| Some(measure.total_ticks)),
        flags("total_at_most", rows.iter().map(|row| Some(row.measure.total_at_most))),
        time("self_ns", |measure| measure.self_ticks),
        time("max_ns", |measure| Some(measure.max_ticks)),
    ]
}
