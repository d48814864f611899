//! The tool `rows`: counts and times, row by row.

use std::collections::BTreeMap;

use metaspy_reader::Store;
use metaspy_report::functions::{Function, Functions};
use metaspy_report::rows::{self, By, Key, Report, Row, Sort};
use metaspy_report::table::Top;
use metaspy_report::text::{counted, grouped, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::{Call, did_you_mean};
use crate::library::Opened;
use crate::session::{ITEMS, Session, check, filter_of};
use crate::shell::CommandLine;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// What a row is about [default: site]
    #[serde(default)]
    by: RowsBy,
    /// Only events that pass: `site:Scene::measure subject:#412 took:>1ms outcome:failed cause:bus::*`. Every term must
    /// hold, `-term` must not, and bare words are searched in paths and labels
    filter: Option<String>,
    /// The column that the rows are sorted by, the largest first: count, total, self, max, failed, lost, name, or a column
    /// of a method profiler [default: count; of functions, self]
    sort: Option<String>,
    /// Rows at most [default: as many as fit]
    top: Option<u32>,
}

/// What a row is about.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum RowsBy {
    /// A place in the code
    #[default]
    #[serde(rename = "site")]
    Site,
    /// A domain object
    #[serde(rename = "subject")]
    Subject,
    /// A domain object at a place in the code
    #[serde(rename = "site,subject")]
    SiteSubject,
    /// The site of the root cause: what all of it began with
    #[serde(rename = "cause")]
    Cause,
    /// The site of the direct cause: what sent or called
    #[serde(rename = "sender")]
    Sender,
    /// The domain object of the direct cause, at its site: who asked
    #[serde(rename = "cause,subject")]
    SenderSubject,
    /// A type with its methods
    #[serde(rename = "type")]
    Type,
    /// A crate or a module
    #[serde(rename = "package")]
    Package,
    /// A function by processor time, of a recording with samples
    #[serde(rename = "function")]
    Function,
}

/// Rows of counts and times.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    rows: Vec<RowOut>,
    /// Number of rows that were asked for: all, or the first `top`.
    total: u64,
    /// Number of these rows that are not in this answer.
    left_out: u64,
    /// Goes on with the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Number of all rows.
    all_rows: u64,
    /// Calls of the whole recording, without the filter.
    calls: u64,
    /// False if a count may lack calls.
    exact: bool,
    /// Sites or labelled subjects that were never called, and have no row.
    #[serde(skip_serializing_if = "Option::is_none")]
    never_called: Option<u64>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// One row. Times are in nanoseconds; they are absent where calls were only counted.
#[derive(Default, Serialize, JsonSchema)]
struct RowOut {
    /// Path of the site, type, package or function, or label of the subject.
    name: String,
    /// Path of the site, in rows of subjects at sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    /// Kind of the site or of the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Key of the subject: `subject:#KEY` in a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    /// True if there may be more calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_at_least: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_percent: Option<f64>,
    /// Time with everything that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_ns: Option<u64>,
    /// True if the total is an upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_at_most: Option<bool>,
    /// Time without what was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_ns: Option<u64>,
    /// True if calls left the window, and the self time is that of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_at_least: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_percent: Option<f64>,
    /// Longest call.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_ns: Option<u64>,
    /// Calls that returned `Err` or `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    panicked: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<u64>,
    /// Calls that had not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<u64>,
    /// Calls that found no room as events.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    /// Processor time, of a recording with samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_percent: Option<f64>,
    /// Half width of the interval that holds the share with 95 % probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_error_percent: Option<f64>,
    /// Source file of a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Columns of method profilers, by profiler.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    profiles: BTreeMap<String, BTreeMap<String, Value>>,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let mut notes = Vec::new();
    let filter = filter_of(input.filter.as_deref())?;
    let opened = session.recordings.open(input.recording.as_deref())?;
    let Some(by) = input.by.rows() else { return functions(&opened, &input, call) };
    let store = &opened.store;
    check(&filter, store, &mut notes)?;
    let start = call.start()?;
    let most = (start as usize).saturating_add(ITEMS);
    let sort: Sort = match input.sort.as_deref().unwrap_or_default().parse() {
        Ok(sort) if input.sort.is_some() => sort,
        _ => Sort::Count,
    };
    let first = Report::of_first(store, by, &filter, most, &sort);
    let mut report = first.unwrap_or_else(|| Report::new(store, by, &filter, Top::Default));
    call.watch.check()?;
    if input.sort.is_some() {
        report.sort(store, &sort).map_err(|error| unknown_column(&sort, &error))?;
    }
    let total = (report.row_count as u64).min(input.top.map_or(u64::MAX, u64::from));
    let wanted = report.rows.iter().take(total as usize).skip(start as usize).take(ITEMS);
    let rows: Vec<RowOut> = wanted.map(|row| RowOut::of(row, &report, store)).collect();
    let lines = rows.iter().map(RowOut::line).collect();
    notes.extend(report.damage.iter().map(|text| format!("damaged: {text}")));
    notes.extend(report.absent_files.map(|absent| absent.to_string()));
    notes.extend(report.losses.sentences());
    if report.shared > 0 {
        notes.push(format!("{} have several root causes, and are in several rows", counted(report.shared, "call")));
    }
    let command = CommandLine::new("report", &opened.names)
        .with("--by", by.name())
        .with_some("--filter", input.filter.as_deref())
        .with_some("--sort", input.sort.as_deref())
        .with("--top", command_rows(start, rows.len(), total));
    let summary = summary(&report, total, rows.len());
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
fn command_rows(start: u64, rows: usize, total: u64) -> String {
    (start + rows.min(50) as u64).min(total).max(1).to_string()
}

fn summary(report: &Report, total: u64, shown: usize) -> String {
    let exact = if report.exact { "" } else { ", at least" };
    let calls = counted(report.totals.emitted, "call");
    match (total, shown) {
        (0, _) if report.totals.emitted == 0 => "Nothing was recorded.".to_owned(),
        (0, _) => format!("No event of {calls} passes."),
        _ => format!("{} by {}, of {calls}{exact}.", counted(total, "row"), report.by.name()),
    }
}

fn unknown_column(sort: &Sort, error: &str) -> ToolError {
    let Sort::Column(column) = sort else { return ToolError::new(format!("sort: {error}")) };
    let advice = did_you_mean(column, Sort::WORDS).map_or(String::new(), |nearest| format!("; {nearest}"));
    ToolError::new(format!("sort: {error}{advice}"))
}

impl RowsBy {
    /// The grouping of a report; `None` for functions.
    fn rows(self) -> Option<By> {
        Some(match self {
            RowsBy::Site => By::Site,
            RowsBy::Subject => By::Subject,
            RowsBy::SiteSubject => By::SiteSubject,
            RowsBy::Cause => By::Cause,
            RowsBy::Sender => By::Sender,
            RowsBy::SenderSubject => By::SenderSubject,
            RowsBy::Type => By::Type,
            RowsBy::Package => By::Package,
            RowsBy::Function => return None,
        })
    }
}

impl RowOut {
    fn of(row: &Row, report: &Report, store: &Store) -> RowOut {
        let name = match &row.key {
            Key::Site(path) => path.clone(),
            Key::Subject(_) | Key::None => row.label.clone().unwrap_or_else(|| "no subject".to_owned()),
        };
        let key = match row.key {
            Key::Subject(key) => Some(key),
            Key::Site(_) | Key::None => None,
        };
        let measure = &row.measure;
        let self_ns = row.self_ns(store);
        // Of these, zero is what a reader expects.
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
            self_at_least: (self_ns.is_none() && row.window_self_ns(store).is_some()).then_some(true),
            self_percent: percent(report.shares.self_time(measure)),
            max_ns: row.max_ns(store),
            failed: some(measure.failed),
            panicked: some(measure.panicked),
            cancelled: some(measure.cancelled),
            running: some(measure.running),
            lost: some(measure.lost),
            cpu_percent: report.cpu.and_then(|cpu| percent(Some(row.cpu().percent(cpu.all)))),
            profiles: profiles(row),
            ..RowOut::default()
        }
    }

    fn line(&self) -> String {
        let site = self.site.as_ref().map_or(String::new(), |site| format!(" at {}", quoted(site)));
        let mut text = format!("- {}{site}:", quoted(&self.name));
        if let Some(calls) = self.calls {
            let sign = if self.calls_at_least.is_some() { "≥ " } else { "" };
            text += &format!(" {sign}{}", counted(calls, "call"));
        }
        let total = if self.total_at_most.is_some() { "total ≤" } else { "total" };
        let own = if self.self_at_least.is_some() { "self ≥" } else { "self" };
        for (what, ns) in [(total, self.total_ns), (own, self.self_ns), ("max", self.max_ns)] {
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
        text
    }
}

/// A percentage with two decimals.
fn hundredths(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// The columns of method profilers, without those that other tables are made of.
fn profiles(row: &Row) -> BTreeMap<String, BTreeMap<String, Value>> {
    let Value::Object(profiles) = rows::json::profile_values(&row.profiles).into() else { return BTreeMap::new() };
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

/// Answers with the functions of a recording with samples.
fn functions(opened: &Opened, input: &Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    if input.filter.is_some() {
        return Err("functions have no filter: leave it out, or choose another `by`".into());
    }
    if input.sort.as_deref().is_some_and(|sort| sort != "self") {
        return Err("functions are sorted by their own processor time: leave `sort` out, or choose another `by`".into());
    }
    let store = &opened.store;
    let functions = Functions::read(store).map_err(|why| ToolError::new(format!("by function: {why}")))?;
    call.watch.check()?;
    let start = call.start()?;
    let all_rows = functions.all.len() as u64;
    let total = all_rows.min(input.top.map_or(u64::MAX, u64::from));
    let wanted = functions.all.iter().take(total as usize).skip(start as usize).take(ITEMS);
    let row = |function: &Function| {
        let (percent, error) = functions.percent(function.self_samples);
        RowOut {
            name: function.name.clone(),
            kind: Some(function.owner.clone()).filter(|owner| !owner.is_empty()),
            self_ns: Some(function.self_ns),
            total_ns: Some(function.total_ns),
            cpu_percent: Some(hundredths(percent)),
            cpu_error_percent: Some(hundredths(error)),
            file: Some(function.file.clone()).filter(|file| !file.is_empty()),
            ..RowOut::default()
        }
    };
    let rows: Vec<RowOut> = wanted.map(row).collect();
    let lines = rows.iter().map(RowOut::line).collect();
    let command = CommandLine::new("report", &opened.names)
        .flag("--functions", true)
        .with("--top", command_rows(start, rows.len(), total));
    let summary = format!("{} by processor time.", counted(total, "function"));
    let output = Output {
        rows,
        total: 0,
        left_out: 0,
        next_cursor: None,
        all_rows,
        calls: store.totals().emitted,
        exact: false,
        never_called: None,
        notes: vec!["times are estimated from samples".to_owned()],
        command: command.line(),
    };
    Ok(Answer::new(summary, &output).with_list("rows", lines, start, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: RowOut) -> String {
        RowOut { name: "tick".to_owned(), calls: Some(2), total_ns: Some(3_000), self_ns: Some(1_000), ..row }.line()
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
}
