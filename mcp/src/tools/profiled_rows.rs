//! Rows that the report has apart, because a profiler or the sampler wrote a table of its own:
//! functions, calling contexts, and types that arrived.

use std::cmp::Reverse;

use metaspy_reader::Store;
use metaspy_report::contexts::{self, Contexts, Shown, Weight};
use metaspy_report::functions::{Function, Functions};
use metaspy_report::text::counted;
use metaspy_report::types::{self, Types};

use super::rows::{Input, Output, RowOut, command_rows, hundredths};
use crate::answer::{Answer, ToolError};
use crate::arguments::Call;
use crate::library::Opened;
use crate::session::ITEMS;
use crate::shell::CommandLine;

/// The kind of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Profiled {
    Function,
    Context,
    Arrived,
}

/// The rows of a table, in its usual order.
struct Table {
    rows: Vec<RowOut>,
    /// The columns by which it can be sorted, the usual one first.
    sorts: &'static [&'static str],
    is_exact: bool,
    notes: Vec<String>,
}

impl Profiled {
    pub(super) const ALL: [Profiled; 3] =
        [Profiled::Function, Profiled::Context, Profiled::Arrived];

    pub(super) fn word(self) -> &'static str {
        match self {
            Profiled::Function => "function",
            Profiled::Context => "context",
            Profiled::Arrived => "arrived",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Profiled::Function => "A function by processor time, of a recording with samples",
            Profiled::Context => {
                "A calling context: a method below its callers, of a recording with contexts"
            }
            Profiled::Arrived => {
                "A type that arrived at a method as receiver, argument or result, of a recording with types"
            }
        }
    }

    /// The option of `metaspy report`.
    fn option(self) -> &'static str {
        match self {
            Profiled::Function => "--functions",
            Profiled::Context => "--contexts",
            Profiled::Arrived => "--types",
        }
    }

    fn read(self, store: &Store) -> Result<Table, ToolError> {
        match self {
            Profiled::Function => functions(store),
            Profiled::Context => calling_contexts(store),
            Profiled::Arrived => arrived(store),
        }
        .map_err(|why| ToolError::new(format!("by {}: {why}", self.word())))
    }
}

/// Answers a call of `rows`.
pub(super) fn answer(
    by: Profiled,
    opened: &Opened,
    input: &Input,
    call: &Call<'_>,
) -> Result<Answer, ToolError> {
    if input.filter.is_some() {
        return Err(ToolError::new(format!(
            "rows by {} have no filter: leave it out, or choose another `by`",
            by.word()
        )));
    }
    let Table { mut rows, sorts, is_exact, mut notes } = by.read(&opened.store)?;
    call.watch.check()?;
    let sort = input.sort.as_deref().unwrap_or(sorts[0]);
    if !sorts.contains(&sort) {
        return Err(ToolError::new(format!(
            "rows by {} are sorted by {}",
            by.word(),
            sorts.join(", ")
        )));
    }
    rows.sort_by_cached_key(|row| Reverse(sorted_by(row, sort)));
    let start = call.start()?;
    let all_rows = rows.len() as u64;
    let total = all_rows.min(input.top.map_or(u64::MAX, u64::from));
    let rows: Vec<RowOut> =
        rows.into_iter().take(total as usize).skip(start as usize).take(ITEMS).collect();
    let lines = rows.iter().map(RowOut::line).collect();
    let command = CommandLine::new("report", &opened.names)
        .flag(by.option(), true)
        .with("--top", command_rows(start, rows.len(), total));
    notes.extend(opened.store.missing().iter().cloned());
    let output = Output {
        rows,
        total: 0,
        left_out: 0,
        next_cursor: None,
        all_rows,
        calls: opened.store.totals().emitted,
        exact: is_exact,
        never_called: None,
        notes,
        command: command.line(),
    };
    let summary = format!("{} by {}, sorted by {sort}.", counted(total, "row"), by.word());
    Ok(Answer::new(summary, &output).with_list("rows", lines, start, total))
}

fn sorted_by(row: &RowOut, sort: &str) -> u64 {
    match sort {
        "self" => row.self_ns,
        "total" => row.total_ns,
        _ => row.calls,
    }
    .unwrap_or(0)
}

/// The functions of a recording with samples.
fn functions(store: &Store) -> Result<Table, String> {
    let functions = Functions::read(store).map_err(|why| why.to_string())?;
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
    let rows = functions.all.iter().map(row).collect();
    Ok(Table {
        rows,
        sorts: &["self"],
        is_exact: false,
        notes: vec!["times are estimated from samples".to_owned()],
    })
}

/// The calling contexts of a recording, each with its own calls.
fn calling_contexts(store: &Store) -> Result<Table, String> {
    let contexts = Contexts::read(store).ok_or(contexts::NOT_RECORDED)?;
    let is_timed = contexts.weight() == Weight::Time;
    let row = |(at, _): (usize, usize)| {
        let context = &contexts.all()[at];
        let mut within: Vec<String> = contexts.path(at).into_iter().map(str::to_owned).collect();
        within.pop();
        RowOut {
            name: context.name.clone(),
            within,
            calls: Some(context.values.calls),
            total_ns: Some(context.values.total_ns).filter(|_| is_timed),
            self_ns: Some(context.values.self_ns).filter(|_| is_timed),
            ..RowOut::default()
        }
    };
    let rows = contexts.walk(Shown::default()).into_iter().map(row).collect();
    let sorts: &[&str] = if is_timed { &["total", "self", "count"] } else { &["count"] };
    let is_exact = contexts.lost == 0 && contexts.all()[0].inclusive.cut == 0;
    Ok(Table { rows, sorts, is_exact, notes: contexts::notes(&contexts) })
}

/// The types that arrived at methods, with the number of values.
fn arrived(store: &Store) -> Result<Table, String> {
    let types = Types::read([store]);
    if !types.is_recorded {
        return Err(types::NOT_RECORDED.to_owned());
    }
    let mut rows = Vec::new();
    for method in &types.methods {
        for value in &method.values {
            rows.extend(value.arrived.iter().map(|one| RowOut {
                name: one.text(),
                site: Some(method.path.clone()),
                arrived_as: Some(value.name.clone()),
                calls: Some(one.count),
                total_ns: Some(one.total_ns).filter(|ns| *ns > 0),
                ..RowOut::default()
            }));
        }
    }
    let is_exact = types.lost == 0 && types.unresolved == 0;
    Ok(Table { rows, sorts: &["count", "total"], is_exact, notes: types.notes })
}
