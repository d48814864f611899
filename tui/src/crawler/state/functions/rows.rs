//! Rows of the screen of functions: each function, and its details below it if it is unfolded.

use std::collections::HashSet;

use metaspy_reader::Store;
use metaspy_report::functions::{Called, Function, Functions, Span, name_of, span};
use metaspy_report::text::{clean, counted};

use super::super::table::Sort;
use super::{FunctionRow, Target};

/// Maximum number of callers, callees and subjects of a function.
const PARTS: usize = 20;
/// Maximum number of events of a function.
const EVENTS: usize = 50;

/// Builds the rows. Functions follow the given order; their details are in descending order of
/// samples.
pub fn rows(
    store: &Store,
    functions: &Functions,
    sort: &Sort,
    unfolded: &HashSet<u64>,
) -> Vec<FunctionRow> {
    let mut all: Vec<&Function> = functions.all.iter().collect();
    match &*sort.column {
        "name" => all.sort_by(|a, b| a.name.cmp(&b.name)),
        "total" => all.sort_by_key(|function| {
            std::cmp::Reverse((function.total_samples, function.self_samples))
        }),
        _ => {}
    }
    if sort.reversed {
        all.reverse();
    }
    let mut rows = Vec::new();
    for function in all {
        rows.push(FunctionRow {
            depth: 0,
            name: clean(&function.name).into_owned(),
            self_samples: Some(function.self_samples),
            total_samples: Some(function.total_samples),
            target: Target::Function(function.number),
        });
        if unfolded.contains(&function.number) {
            unfold(store, functions, function, &mut rows);
        }
    }
    rows
}

/// Adds the details of a function.
fn unfold(store: &Store, functions: &Functions, function: &Function, rows: &mut Vec<FunctionRow>) {
    let details = functions.details(function.number);
    let module = format!("{}, {}", function.owner, clean(&function.module));
    rows.push(title(module));
    rows.extend(details.ranges.iter().map(|range| FunctionRow {
        depth: 2,
        name: span(function, range),
        self_samples: Some(range.self_samples),
        total_samples: Some(range.total_samples),
        target: match range.span {
            Span::Lines(line, _) if !function.file.is_empty() => {
                Target::Line(function.file.clone(), line)
            }
            _ => Target::Nothing,
        },
    }));
    calls(functions, "called by", &details.callers, rows);
    calls(functions, "calls", &details.callees, rows);
    let subjects = details.subjects.iter().map(|of| FunctionRow {
        depth: 2,
        name: name_of(store, of),
        self_samples: Some(of.self_samples),
        total_samples: Some(of.total_samples),
        target: Target::Subject(*of),
    });
    part("for", subjects, PARTS, rows);
    let events = details.events.iter().map(|&(id, samples)| {
        let event = store.event(id);
        let name = event.map_or("left the window".into(), |event| {
            let subject = event
                .subject
                .map_or(String::new(), |subject| format!(" {}", store.subject_text(subject)));
            format!("{}{subject}", store.site_path(event.site))
        });
        let name = format!("{id} {name}");
        FunctionRow {
            depth: 2,
            name,
            self_samples: None,
            total_samples: Some(samples),
            target: Target::Event(id),
        }
    });
    part("in the events", events, EVENTS, rows);
    if details.outside > 0 {
        let name = "in no recorded event".to_owned();
        rows.push(FunctionRow {
            depth: 1,
            name,
            total_samples: Some(details.outside),
            ..FunctionRow::default()
        });
    }
}

fn title(name: impl Into<String>) -> FunctionRow {
    FunctionRow { depth: 1, name: name.into(), ..FunctionRow::default() }
}

fn calls(functions: &Functions, name: &str, calls: &[Called], rows: &mut Vec<FunctionRow>) {
    let calls = calls.iter().filter_map(|call| {
        let function = &functions.all[functions.place(call.function)?];
        let inlined = if call.is_inlined { " (inlined)" } else { "" };
        Some(FunctionRow {
            depth: 2,
            name: format!("{}{inlined}", clean(&function.name)),
            self_samples: None,
            total_samples: Some(call.samples),
            target: Target::Function(function.number),
        })
    });
    part(name, calls, PARTS, rows);
}

/// Adds a title with at most this many rows.
fn part(
    name: &str,
    of: impl Iterator<Item = FunctionRow>,
    most: usize,
    rows: &mut Vec<FunctionRow>,
) {
    let mut of = of.peekable();
    if of.peek().is_none() {
        return;
    }
    rows.push(title(name));
    rows.extend(of.by_ref().take(most));
    let others = of.count();
    if others > 0 {
        rows.push(FunctionRow {
            depth: 2,
            name: counted(others as u64, "more row"),
            ..FunctionRow::default()
        });
    }
}
