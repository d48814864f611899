//! The tool `rows`: counts and times, row by row.

use std::collections::BTreeMap;

use metaspy_reader::Store;
use metaspy_report::program::lost_note;
use metaspy_report::rows::{self, By, Key, KnownOutcomes, Report, ReportRow, Sort};
use metaspy_report::table::Top;
use metaspy_report::text::{counted, grouped, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::{Call, Choice, OneOf, did_you_mean};
use crate::session::{ITEMS, Session, check, filter_of, only_counted};
use crate::shell::CommandLine;
use crate::tools::profiled_rows::{self, Profiled};

/// Pages of rows that are counted at once, of rows that are not all counted.
const PAGES: usize = 4;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// What a row is about [default: site]
    #[serde(default)]
    by: OneOf<RowsBy>,
    /// Only events that pass: `site:Scene::measure subject:#412 took:>1ms outcome:failed
    /// cause:bus::*`. Every term must hold, `-term` must not, and bare words are searched in paths
    /// and labels
    pub(super) filter: Option<String>,
    /// The column that the rows are sorted by, the largest first: count, total, self, max, failed,
    /// lost, name, or a column of a method profiler [default: count; of functions, self; of
    /// contexts, total]
    pub(super) sort: Option<String>,
    /// Rows at most [default: as many as fit]
    pub(super) top: Option<u32>,
}

/// The kind of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowsBy {
    /// A row of a report.
    Of(By),
    /// A row of a profiler's own table, or of the sampler's.
    Profiled(Profiled),
}

/// Rows of counts and times.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    pub(super) rows: Vec<RowOut>,
    /// Number of rows that were asked for: all, or the first `top`.
    pub(super) total: u64,
    /// Number of these rows that are not in this answer.
    pub(super) left_out: u64,
    /// Goes on with the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    /// Number of all rows.
    pub(super) all_rows: u64,
    /// Calls of the whole recording, without the filter.
    pub(super) calls: u64,
    /// False if a count may lack calls.
    pub(super) exact: bool,
    /// Sites or labelled subjects that were never called, and have no row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) never_called: Option<u64>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// The command that shows a person the same.
    pub(super) command: String,
}

/// One row. Times are in nanoseconds; they are absent where calls were only counted.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct RowOut {
    /// Path of the site, type, package or function, or label of the subject.
    pub(super) name: String,
    /// Path of the site, in rows of subjects at sites and of types that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) site: Option<String>,
    /// Kind of the site or of the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    /// Key of the subject: `subject:#KEY` in a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls: Option<u64>,
    /// True if there may be more calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls_at_least: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls_percent: Option<f64>,
    /// Time with everything that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_ns: Option<u64>,
    /// True if the total is an upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_at_most: Option<bool>,
    /// Time without what was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) self_ns: Option<u64>,
    /// True if calls left the window, and the self time is that of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) self_at_least: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) self_percent: Option<f64>,
    /// Time of async calls from their first polls to their ends, added up. Their total is that of
    /// their polls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wall_ns: Option<u64>,
    /// Longest call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_ns: Option<u64>,
    /// Longest call of a row with async calls, from a first poll to an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_wall_ns: Option<u64>,
    /// Calls that returned `Err` or `None`; absent for 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<u64>,
    /// True if it is not known how many calls failed: hooks did not see what they returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed_unknown: Option<bool>,
    /// True if no outcome is known: hooks only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcomes_unknown: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) panicked: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancelled: Option<u64>,
    /// Calls that had not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running: Option<u64>,
    /// Calls that found no room as events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<u64>,
    /// Processor time, of a recording with samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_percent: Option<f64>,
    /// Half width of the interval that holds the share with 95 % probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_error_percent: Option<f64>,
    /// Callers of a calling context, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) within: Vec<String>,
    /// Value of the method as which a type arrived: `self`, the name of a parameter, or `returned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arrived_as: Option<String>,
    /// Source file of a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Columns of method profilers, by profiler.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) profiles: BTreeMap<String, BTreeMap<String, Value>>,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let mut notes = Vec::new();
    let filter = filter_of(input.filter.as_deref())?;
    let opened = session.recordings.open(input.recording.as_deref())?;
    let by = match input.by {
        OneOf(RowsBy::Of(by)) => by,
        OneOf(RowsBy::Profiled(by)) => return profiled_rows::answer(by, &opened, &input, call),
    };
    let store = &opened.store;
    check(&filter, store, &mut notes)?;
    let start = call.start()?;
    // One count has the rows of several pages.
    let most = (start as usize)
        .saturating_add(ITEMS)
        .checked_next_multiple_of(PAGES * ITEMS)
        .unwrap_or(usize::MAX);
    let sort: Sort = match input.sort.as_deref().unwrap_or_default().parse() {
        Ok(sort) if input.sort.is_some() => sort,
        _ => Sort::Count,
    };
    let question = format!("{} {:?} {most} {}", by.name(), input.sort, filter.text());
    let report = opened.report(question, call.watch, || {
        let first = Report::of_first(store, by, &filter, most, &sort);
        let mut report = first.unwrap_or_else(|| Report::new(store, by, &filter, Top::Default));
        if input.sort.is_some() {
            report.sort(store, &sort).map_err(|error| unknown_column(&sort, &error))?;
        }
        Ok(report)
    })?;
    let total = (report.row_count as u64).min(input.top.map_or(u64::MAX, u64::from));
    let wanted = report.rows.iter().take(total as usize).skip(start as usize).take(ITEMS);
    let known_outcomes = KnownOutcomes::of(store);
    let rows: Vec<RowOut> =
        wanted.map(|row| RowOut::of(row, &report, store, &known_outcomes)).collect();
    let lines = rows.iter().map(RowOut::line).collect();
    notes.extend(only_counted(store));
    notes.extend(report.damage.iter().map(|text| format!("damaged: {text}")));
    notes.extend(report.absent_files.map(|absent| absent.to_string()));
    if report.damage.is_empty() && report.absent_files.is_none() {
        notes.extend(rows::text::doubt(&report, store));
    }
    notes.extend(report.losses.sentences());
    notes.extend(report.lost_values.iter().map(|(profiler, lost)| lost_note(profiler, *lost)));
    if report.shared > 0 {
        notes.push(format!(
            "{} have several root causes, and are in several rows",
            counted(report.shared, "call")
        ));
    }
    notes.extend(store.notes().iter().cloned());
    let malformed = store.header().remote_malformed;
    notes.extend((malformed > 0).then(|| rows::text::ignored(malformed)));
    let command = CommandLine::new("report", &opened.names)
        .with("--by", by.name())
        .with_some("--filter", input.filter.as_deref())
        .with_some("--sort", input.sort.as_deref())
        .with("--top", command_rows(start, rows.len(), total));
    let summary = summary(&report, total, store);
    let output = Output {
        rows,
        total: 0,
        left_out: 0,
        next_cursor: None,
        all_rows: report.row_count as u64,
        calls: report.totals.emitted,
        exact: report.exact,
        never_called: Some(report.never as u64).filter(|never| *never > 0),
        notes,
        command: command.line(),
    };
    Ok(Answer::new(summary, &output).with_list("rows", lines, start, total))
}

/// A person sees at least the rows of this answer, in a table from its beginning.
pub(super) fn command_rows(start: u64, rows: usize, total: u64) -> String {
    (start + rows.min(50) as u64).min(total).max(1).to_string()
}

fn summary(report: &Report, total: u64, store: &Store) -> String {
    if report.row_count == 0 {
        return format!("Nothing to count: {}.", rows::text::nothing(report, store));
    }
    let exact = if report.exact { "" } else { ", at least" };
    let calls = counted(report.totals.emitted, "call");
    format!("{} by {}, of {calls}{exact}.", counted(total, "row"), report.by.name())
}

fn unknown_column(sort: &Sort, error: &str) -> ToolError {
    let Sort::Column(column) = sort else { return ToolError::new(format!("sort: {error}")) };
    let advice =
        did_you_mean(column, Sort::WORDS).map_or(String::new(), |nearest| format!("; {nearest}"));
    ToolError::new(format!("sort: {error}{advice}"))
}

impl Choice for RowsBy {
    fn all() -> Vec<RowsBy> {
        By::ALL.map(RowsBy::Of).into_iter().chain(Profiled::ALL.map(RowsBy::Profiled)).collect()
    }

    fn word(self) -> &'static str {
        match self {
            RowsBy::Of(by) => by.name(),
            RowsBy::Profiled(by) => by.word(),
        }
    }

    fn description(self) -> &'static str {
        match self {
            RowsBy::Of(by) => by.description(),
            RowsBy::Profiled(by) => by.description(),
        }
    }
}

impl Default for RowsBy {
    fn default() -> RowsBy {
        RowsBy::Of(By::Site)
    }
}

impl RowOut {
    fn of(
        row: &ReportRow,
        report: &Report,
        store: &Store,
        known_outcomes: &KnownOutcomes<'_>,
    ) -> RowOut {
        let name = match &row.key {
            Key::Site(path) => path.clone(),
            Key::Subject(_) | Key::None => {
                row.label.clone().unwrap_or_else(|| "no subject".to_owned())
            }
        };
        let key = match row.key {
            Key::Subject(key) => Some(key),
            Key::Site(_) | Key::None => None,
        };
        let measure = &row.measure;
        let self_ns = row.self_ns(store);
        let wall_ns = row.wall_ns(store);
        let outcomes = known_outcomes.of_calls(row.site_id, measure);
        // Of these, zero is the value that a reader expects.
        let some = |number: u64| (number > 0).then_some(number);
        let percent = |share: Option<f64>| share.map(hundredths);
        RowOut {
            name,
            site: row.site.clone(),
            kind: row.kind.clone(),
            key,
            calls: Some(measure.count),
            calls_at_least: measure.at_least.then_some(true),
            calls_percent: percent(report.shares.calls(measure)),
            total_ns: row.total_ns(store),
            total_at_most: measure.total_at_most.then_some(true),
            self_ns: self_ns.or_else(|| row.window_self_ns(store)),
            self_at_least: (self_ns.is_none() && row.window_self_ns(store).is_some())
                .then_some(true),
            self_percent: percent(report.shares.self_time(measure)),
            wall_ns,
            max_ns: row.max_ns(store).filter(|_| wall_ns.is_none()),
            max_wall_ns: row.max_ns(store).filter(|_| wall_ns.is_some()),
            failed: outcomes.failed.and_then(some),
            failed_unknown: outcomes.failed.is_none().then_some(true),
            outcomes_unknown: outcomes.panicked.is_none().then_some(true),
            panicked: outcomes.panicked.and_then(some),
            cancelled: outcomes.cancelled.and_then(some),
            running: outcomes.running.and_then(some),
            lost: some(measure.lost),
            cpu_percent: report.cpu.and_then(|cpu| percent(Some(row.cpu().percent(cpu.all)))),
            profiles: profiles(row),
            ..RowOut::default()
        }
    }

    pub(super) fn line(&self) -> String {
        let site = self.site.as_ref().map_or(String::new(), |site| format!(" at {}", quoted(site)));
        let within = match self.within.as_slice() {
            [] => String::new(),
            callers => format!(" within {}", quoted(&callers.join(" > "))),
        };
        let value = self
            .arrived_as
            .as_ref()
            .map_or(String::new(), |value| format!(" as {}", quoted(value)));
        let mut text = format!("- {}{value}{site}{within}:", quoted(&self.name));
        if let Some(calls) = self.calls {
            let sign = if self.calls_at_least.is_some() { "≥ " } else { "" };
            text += &format!(" {sign}{}", counted(calls, "call"));
        }
        let total = if self.total_at_most.is_some() { "total ≤" } else { "total" };
        let own = if self.self_at_least.is_some() { "self ≥" } else { "self" };
        let walls = [("wall", self.wall_ns), ("max", self.max_ns), ("max wall", self.max_wall_ns)];
        for (what, ns) in [(total, self.total_ns), (own, self.self_ns)].into_iter().chain(walls) {
            if let Some(ns) = ns {
                text += &format!(", {what} {}", time(ns));
            }
        }
        if let Some(percent) = self.cpu_percent {
            text += &format!(", {percent} % of the processor time");
        }
        if let Some(failed) = self.failed {
            text += &format!(", {} failed", grouped(failed));
        }
        if self.outcomes_unknown.is_some() {
            text += ", outcomes not known";
        } else if self.failed_unknown.is_some() {
            text += ", failures not known";
        }
        text
    }
}

/// A percentage with two decimals.
pub(super) fn hundredths(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// The columns of method profilers, without those that other tables are made of.
fn profiles(row: &ReportRow) -> BTreeMap<String, BTreeMap<String, Value>> {
    let Value::Object(profiles) = rows::json::profile_values(&row.profiles).into() else {
        return BTreeMap::new();
    };
    let columns = |value: Value| match value {
        Value::Object(columns) => columns.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    profiles
        .into_iter()
        .map(|(name, value)| (name, columns(value)))
        .filter(|(_, columns)| !columns.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: RowOut) -> String {
        RowOut {
            name: "tick".to_owned(),
            calls: Some(2),
            total_ns: Some(3_000),
            self_ns: Some(1_000),
            ..row
        }
        .line()
    }

    #[test]
    fn bounds_have_their_signs_in_the_text_too() {
        assert_eq!(line(RowOut::default()), r#"- "tick": 2 calls, total 3.00 µs, self 1.00 µs"#);
        let row = RowOut {
            calls_at_least: Some(true),
            total_at_most: Some(true),
            self_at_least: Some(true),
            ..RowOut::default()
        };
        assert_eq!(line(row), r#"- "tick": ≥ 2 calls, total ≤ 3.00 µs, self ≥ 1.00 µs"#);
    }

    #[test]
    fn times_of_async_calls_are_named_as_in_the_report() {
        let row = RowOut { wall_ns: Some(9_000), max_wall_ns: Some(5_000), ..RowOut::default() };
        assert_eq!(
            line(row),
            r#"- "tick": 2 calls, total 3.00 µs, self 1.00 µs, wall 9.00 µs, max wall 5.00 µs"#
        );
    }
}
