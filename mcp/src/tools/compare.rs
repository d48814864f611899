//! The tool `compare`: two versions of a program.

use metaspy_reader::{Filter, Store};
use metaspy_report::diff::{By, Change, Diff, DiffRow, Presence, Side, Size, Sort};
use metaspy_report::text::{counted, grouped, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::{Call, Choice, OneOf};
use crate::library::Opened;
use crate::session::{ITEMS, Session, check, filter_of};
use crate::shell::CommandLine;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The recording of the version before; several runs of it with commas, or a directory of them
    before: String,
    /// The recording of the version after; several runs of it with commas, or a directory of them
    after: String,
    /// What a row is about [default: site]
    #[serde(default)]
    by: OneOf<By>,
    /// Only events that pass: `site:taffy::**`
    filter: Option<String>,
    /// The column whose change the rows are sorted by, the largest first: count, total, self, name,
    /// or PROFILER.COLUMN [default: self, then count]
    sort: Option<String>,
    /// Sorts by the ratio in place of the difference
    #[serde(default)]
    percent: bool,
    /// Also rows without a change
    #[serde(default)]
    all: bool,
}

/// What changed.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    rows: Vec<RowOut>,
    /// Number of the rows with a change, or of all.
    total: u64,
    /// Number of rows that are not in this answer.
    left_out: u64,
    /// Goes on with the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Rows without a change.
    unchanged: u64,
    /// Recordings of the version before.
    recordings_before: u64,
    /// Recordings of the version after.
    recordings_after: u64,
    /// Calls of everything.
    calls: ChangeOut,
    /// Self time of everything, in nanoseconds; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_ns: Option<ChangeOut>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// A site, a subject or a part of the program, before and after.
#[derive(Serialize, JsonSchema)]
struct RowOut {
    name: String,
    kind: String,
    /// `both`, or the only version that has it: `before` or `after`.
    r#in: &'static str,
    /// Its name before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// True beyond noise: another count, or a time whose interval does not contain 1.
    changed: bool,
    calls: ChangeOut,
    /// True if there may be more calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_at_least: Option<bool>,
    /// True if one version has this function without a hook, so that its calls there are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unobserved_in_one: Option<bool>,
    /// Time with everything that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_ns: Option<ChangeOut>,
    /// True if a total is an upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_at_most: Option<bool>,
    /// Time without what was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_ns: Option<ChangeOut>,
    /// True if the times are those of some of the calls only.
    #[serde(skip_serializing_if = "Option::is_none")]
    times_partial: Option<bool>,
}

/// A number before and after: medians of the recordings.
#[derive(Serialize, JsonSchema)]
struct ChangeOut {
    before: u64,
    after: u64,
    /// After divided by before.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// The interval of the ratio, with several recordings of each version.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let filter = filter_of(input.filter.as_deref())?;
    let mut notes = Vec::new();
    let OneOf(by) = input.by;
    let mut side = |name: &str| {
        let opened = session.recordings.open_runs(name)?;
        let runs = opened.into_iter().map(|opened| run(opened, &filter, &mut notes));
        let side = Side::read(&runs.collect::<Result<Vec<_>, ToolError>>()?, by, &filter);
        call.watch.check()?;
        Ok::<_, ToolError>(side)
    };
    let before = side(&input.before)?;
    let after = side(&input.after)?;
    let mut diff =
        Diff::new(by, &before, &after).map_err(|error| ToolError::new(error.to_string()))?;
    if input.sort.is_some() || input.percent {
        let usual = if diff.is_timed { Sort::SelfTime } else { Sort::Count };
        let sort = input.sort.as_deref().and_then(|word| word.parse().ok()).unwrap_or(usual);
        let size = if input.percent { Size::Percent } else { Size::Difference };
        diff.sort(&sort, size).map_err(|error| ToolError::new(format!("sort: {error}")))?;
    }
    let changed = diff.changed().count();
    let shown: Vec<&DiffRow> =
        diff.rows.iter().filter(|row| input.all || row.is_change()).collect();
    let start = call.start()?;
    let total = shown.len() as u64;
    let rows: Vec<RowOut> =
        shown.into_iter().skip(start as usize).take(ITEMS).map(RowOut::of).collect();
    let lines = rows.iter().map(RowOut::line).collect();
    notes.extend(diff.notes.iter().cloned());
    notes.extend(diff.incomplete.iter().map(|name| format!("{name} may lack calls")));
    notes.extend(diff.empty.iter().map(|name| format!("{name} has no calls")));
    let command = CommandLine::new("diff", &[input.before.clone(), input.after.clone()])
        .with("--by", by.name())
        .with_some("--filter", input.filter.as_deref())
        .with_some("--sort", input.sort.as_deref())
        .flag("--percent", input.percent);
    let calls = ChangeOut::of(&diff.count);
    let summary = format!(
        "{} by {}; {} calls before, {} after.",
        counted(changed as u64, "changed row"),
        by.name(),
        grouped(calls.before),
        grouped(calls.after)
    );
    let output = Output {
        rows,
        total: 0,
        left_out: 0,
        next_cursor: None,
        unchanged: (diff.rows.len() - changed) as u64,
        recordings_before: diff.recordings.0 as u64,
        recordings_after: diff.recordings.1 as u64,
        calls,
        self_ns: diff.self_ns.as_ref().map(ChangeOut::of),
        notes,
        command: command.line(),
    };
    Ok(Answer::new(summary, &output).with_list("rows", lines, start, total))
}

fn run(
    opened: Opened,
    filter: &Filter,
    notes: &mut Vec<String>,
) -> Result<(String, Store), ToolError> {
    // A version may lack sites or subjects of the other one.
    if let Err(error) = check(filter, &opened.store, notes) {
        notes.push(format!("{}: {error}", opened.names.join(", ")));
    }
    Ok((opened.names.join(", "), opened.store))
}

impl Choice for By {
    fn all() -> Vec<By> {
        By::ALL.to_vec()
    }

    fn word(self) -> &'static str {
        self.name()
    }

    fn description(self) -> &'static str {
        By::description(self)
    }
}

impl RowOut {
    fn of(row: &DiffRow) -> RowOut {
        RowOut {
            name: row.label.clone(),
            kind: row.kind.clone(),
            r#in: match row.presence {
                Presence::Both => "both",
                Presence::Before => "before",
                Presence::After => "after",
            },
            was: row.was.clone(),
            changed: row.is_change(),
            calls: ChangeOut::of(&row.count),
            calls_at_least: (!row.is_exact).then_some(true),
            unobserved_in_one: row.is_unobserved_in_one.then_some(true),
            total_ns: row.total_ns.as_ref().map(ChangeOut::of),
            total_at_most: row.total_at_most.then_some(true),
            self_ns: row.self_ns.as_ref().map(ChangeOut::of),
            times_partial: row.is_partly_timed.then_some(true),
        }
    }

    fn line(&self) -> String {
        let sign = if self.calls_at_least.is_some() { "≥ " } else { "" };
        let mut text = format!(
            "- {}: {sign}{} → {sign}{} calls",
            quoted(&self.name),
            grouped(self.calls.before),
            grouped(self.calls.after)
        );
        if self.unobserved_in_one.is_some() {
            text += ", without a hook in one version";
        }
        if let Some(own) = &self.self_ns {
            let of = if self.times_partial.is_some() { "self of some calls" } else { "self" };
            text += &format!(", {of} {} → {}", time(own.before), time(own.after));
        }
        text
    }
}

impl ChangeOut {
    fn of(change: &Change) -> ChangeOut {
        let ratio = change.ratio();
        let rounded = |ratio: f64| (ratio * 1e4).round() / 1e4;
        let interval = ratio.filter(|ratio| ratio.coverage > 0.0);
        ChangeOut {
            before: change.before.median(),
            after: change.after.median(),
            ratio: ratio.map(|ratio| rounded(ratio.estimate)),
            least: interval.map(|ratio| rounded(ratio.least)),
            most: interval.map(|ratio| rounded(ratio.most)),
        }
    }
}
