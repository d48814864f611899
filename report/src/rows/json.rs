//! The report for programs. `docs/report.md` describes it; the members that it describes stay.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use metaspy_reader::{AbsentFiles, Measure, Process, Shares, Store, Value};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::doors::MessageLoop;
use super::entry_points::EntryPoint;
use super::losses::Losses;
use super::text::state;
use super::{By, Key, KnownOutcomes, Part, Report, ReportRow, Values};
use crate::condition::Verdict;
use crate::cpu::{CpuTotals, error_percent};
use crate::expectation::Outcome;
use crate::program::ColumnValue;

#[derive(Serialize)]
struct Out<'a> {
    format: u32,
    program: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processes: Vec<ProcessOut<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    beside: &'a [String],
    order_uncertain: bool,
    by: &'static str,
    emitted: u64,
    events: u64,
    folded: u64,
    counted: u64,
    lost: u64,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent_files: Option<AbsentFiles>,
    malformed_traceparents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<u64>,
    #[serde(skip_serializing_if = "<[EntryPoint]>::is_empty")]
    entry_points: &'a [EntryPoint],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    message_loops: &'a BTreeSet<MessageLoop>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    unsearched_files: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_samples: Option<u64>,
    row_count: usize,
    rows: Rows<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionOut<'a>>,
    #[serde(skip_serializing_if = "<[Outcome]>::is_empty")]
    expectations: &'a [Outcome],
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<&'a Losses>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lost_values: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    missing: &'a [String],
}

#[derive(Serialize)]
struct ProcessOut<'a> {
    label: &'a str,
    program: &'a str,
    pid: u32,
    file: &'a str,
    state: &'static str,
    clock: usize,
    moved_ns: i64,
}

impl<'a> ProcessOut<'a> {
    fn of(process: &'a Process) -> Self {
        ProcessOut {
            label: &process.label,
            program: &process.name,
            pid: process.pid,
            file: &process.source,
            state: state(process.ended),
            clock: process.clock,
            moved_ns: process.moved_ns,
        }
    }
}

#[derive(Serialize)]
struct RowOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<&'a str>,
    key: Option<KeyOut<'a>>,
    label: Option<&'a str>,
    kind: Option<&'a str>,
    count: u64,
    count_exact: bool,
    total_ns: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    total_at_most: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_ns: Option<u64>,
    self_ns: Option<u64>,
    window_self_ns: Option<u64>,
    max_ns: Option<u64>,
    count_percent: Option<f64>,
    total_percent: Option<f64>,
    self_percent: Option<f64>,
    timed: u64,
    partial: bool,
    lost: u64,
    /// `None` where hooks do not see it; likewise the three below.
    failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_as: Option<&'static str>,
    panicked: Option<u64>,
    cancelled: Option<u64>,
    running: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_error_percent: Option<f64>,
    #[serde(flatten)]
    part: Option<PartOut>,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    profiles: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct PartOut {
    /// The same as `count`, under the name that it has in the JSON of `cargo metaspy`.
    executions: u64,
    methods: Option<u32>,
    covered: u32,
    types: Option<u32>,
    covered_types: u32,
    receivers: Option<u64>,
    receivers_exact: bool,
    places: Option<u64>,
    lines: u64,
    complexity: Option<u32>,
}

impl PartOut {
    fn of(part: &Part, measure: &Measure) -> Self {
        PartOut {
            executions: measure.count,
            methods: part.is_whole.then_some(part.ratio.methods),
            covered: part.ratio.covered,
            types: part.is_whole.then_some(part.ratio.types),
            covered_types: part.ratio.covered_types,
            receivers: (!part.receivers.is_unknown()).then_some(part.receivers.count),
            receivers_exact: !part.receivers.is_least && !part.receivers.is_unknown(),
            places: Some(part.receivers.places).filter(|places| *places > 0),
            lines: part.lines,
            complexity: part.complexity,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum KeyOut<'a> {
    Path(&'a str),
    Number(u64),
}

#[derive(Serialize)]
struct ConditionOut<'a> {
    condition: &'a str,
    value: Option<u64>,
    value_exact: bool,
    failed: Option<bool>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    gaps: &'a [String],
}

impl<'a> ConditionOut<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        let Verdict { condition, value, is_exact, holds, gaps, .. } = verdict;
        ConditionOut { condition, value: *value, value_exact: *is_exact, failed: *holds, gaps }
    }
}

/// Rows are written one after the other: a million of them are never held twice.
struct Rows<'a> {
    store: &'a Store,
    shares: &'a Shares,
    is_filtered: bool,
    cpu: Option<CpuTotals>,
    rows: &'a [ReportRow],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.rows.len()))?;
        let known_outcomes = KnownOutcomes::of(self.store);
        for row in self.rows {
            let outcomes = known_outcomes.of_calls(row.site_id, &row.measure);
            let share = |of: fn(&Shares, &Measure) -> Option<f64>| {
                of(self.shares, &row.measure).map(hundredths)
            };
            seq.serialize_element(&RowOut {
                site: row.site.as_deref(),
                key: match &row.key {
                    Key::Site(path) => Some(KeyOut::Path(path)),
                    Key::Subject(key) => Some(KeyOut::Number(*key)),
                    Key::None => None,
                },
                label: row.label.as_deref(),
                kind: row.kind.as_deref(),
                count: row.measure.count,
                count_exact: !row.measure.at_least,
                total_ns: row.total_ns(self.store),
                total_at_most: row.measure.total_at_most,
                wall_ns: row.wall_ns(self.store),
                self_ns: row.self_ns(self.store),
                window_self_ns: row.window_self_ns(self.store),
                max_ns: row.max_ns(self.store),
                count_percent: share(Shares::calls),
                // The methods of a part call each other, so it has no total.
                total_percent: share(Shares::total)
                    .filter(|_| row.part.is_none() && !self.is_filtered),
                self_percent: share(Shares::self_time),
                timed: row.measure.timed,
                partial: row.measure.is_partly_timed(),
                lost: row.measure.lost,
                failed: outcomes.failed,
                failed_as: Some(row.failure)
                    .filter(|&word| row.measure.failed > 0 && word != "failed"),
                panicked: outcomes.panicked,
                cancelled: outcomes.cancelled,
                running: outcomes.running,
                cpu_percent: self.cpu.map(|cpu| hundredths(row.cpu().percent(cpu.all))),
                cpu_error_percent: self
                    .cpu
                    .map(|cpu| hundredths(error_percent(row.cpu().samples, cpu.all.samples))),
                part: row.part.as_ref().map(|part| PartOut::of(part, &row.measure)),
                profiles: profile_values(&row.profiles),
            })?;
        }
        seq.end()
    }
}

/// A percentage with two decimals.
fn hundredths(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// The values of method profilers, by the names of profiler and column. A lower bound is marked by
/// a second key.
pub fn profile_values(profiles: &Values) -> serde_json::Map<String, serde_json::Value> {
    profiles.iter().map(|(name, columns)| (name.clone(), column_values(columns))).collect()
}

fn column_values(columns: &BTreeMap<String, ColumnValue>) -> serde_json::Value {
    let mut values = serde_json::Map::new();
    for (name, ColumnValue { value, .. }) in columns {
        match value {
            Value::Empty => {}
            Value::Number(number) => _ = values.insert(name.clone(), (*number).into()),
            Value::AtLeast(number) => {
                values.insert(name.clone(), (*number).into());
                values.insert(format!("{name}_exact"), false.into());
            }
            Value::Ns(ns) => _ = values.insert(format!("{name}_ns"), (*ns).into()),
            Value::AtLeastNs(ns) => {
                values.insert(format!("{name}_ns"), (*ns).into());
                values.insert(format!("{name}_exact"), false.into());
            }
            Value::Choice(word) => _ = values.insert(name.clone(), word.as_str().into()),
            Value::Flags(words) => _ = values.insert(name.clone(), words.clone().into()),
        }
    }
    values.into()
}

/// Writes the report as one object, with the first `top` rows.
pub fn write(
    out: &mut dyn Write,
    store: &Store,
    report: &Report,
    top: usize,
    verdicts: &[Verdict],
    expectations: &[Outcome],
) -> io::Result<()> {
    let totals = &report.totals;
    let object = Out {
        format: 1,
        program: &store.program().name,
        state: state(store.end_state()),
        processes: store.processes().iter().map(ProcessOut::of).collect(),
        beside: &report.beside,
        order_uncertain: store.order_is_uncertain(),
        by: report.by.name(),
        emitted: totals.emitted,
        events: totals.stored,
        folded: totals.folded,
        counted: totals.counted,
        lost: totals.lost + totals.unnamed,
        exact: report.exact,
        absent_files: report.absent_files,
        malformed_traceparents: store.header().remote_malformed,
        shared: (report.by == By::Cause).then_some(report.shared),
        entry_points: &report.entry_points,
        message_loops: &report.message_loops,
        unsearched_files: &report.unsearched_files,
        row_count: report.row_count,
        cpu_samples: report.cpu.map(|cpu| cpu.all.samples),
        rows: Rows {
            store,
            shares: &report.shares,
            is_filtered: report.is_filtered,
            cpu: report.cpu,
            rows: &report.rows[..top.min(report.rows.len())],
        },
        conditions: verdicts.iter().map(ConditionOut::of).collect(),
        expectations,
        losses: (totals.lost > 0).then_some(&report.losses),
        lost_values: &report.lost_values,
        missing: &report.damage,
    };
    serde_json::to_writer_pretty(&mut *out, &object).map_err(io::Error::from)?;
    writeln!(out)
}
