//! The functions as JSON, each with its lines, its callers, its callees, and the subjects and
//! events that it ran in.

use metaspy_reader::Store;
use serde_json::{Value, json};

use super::{Called, Function, Functions, Span, text};

/// The version of the JSON. It changes with a change that is more than an addition.
const FORMAT: u32 = 1;

/// At most `rows` functions.
pub fn json(store: &Store, functions: &Functions, rows: usize) -> Value {
    let shown = functions.all.iter().take(rows).map(|function| value(store, functions, function));
    json!({
        "format": FORMAT,
        "samples": functions.whole.samples,
        "lost": functions.lost,
        "hidden": functions.all.len().saturating_sub(rows),
        "notes": text::note(functions).into_iter().collect::<Vec<_>>(),
        "functions": shown.collect::<Vec<Value>>(),
    })
}

fn value(store: &Store, functions: &Functions, function: &Function) -> Value {
    let details = functions.details(function.number);
    let hundredths = |percent: f64| (percent * 100.0).round() / 100.0;
    let share = |samples: u64| hundredths(functions.percent(samples).0);
    let error = |samples: u64| hundredths(functions.percent(samples).1);
    let name = |number: u64| functions.place(number).map(|place| &functions.all[place].name);
    let calls = |calls: &[Called]| -> Vec<Value> {
        calls.iter().map(|call| json!({ "function": name(call.function), "samples": call.samples, "inlined": call.is_inlined })).collect()
    };
    let ranges = details.ranges.iter().map(|range| {
        let (first, last, position) = match range.span {
            Span::NoLine => (None, None, None),
            Span::Lines(first, last) => (Some(first), Some(last), None),
            Span::Position(position) => (None, None, Some(position)),
        };
        json!({
            "first_line": first,
            "last_line": last,
            "position": position,
            "self_samples": range.self_samples,
            "total_samples": range.total_samples,
        })
    });
    let subjects = details.subjects.iter().map(|of| {
        json!({
            "site": store.site_path(of.site),
            "subject": of.subject.map(|subject| store.subject_text(subject)),
            "self_samples": of.self_samples,
            "total_samples": of.total_samples,
        })
    });
    let events = details
        .events
        .iter()
        .map(|(id, samples)| json!({ "id": id.to_string(), "samples": samples }));
    json!({
        "name": function.name,
        "file": (!function.file.is_empty()).then_some(&function.file),
        "owner": function.owner,
        "module": function.module,
        "self_samples": function.self_samples,
        "self_ns": function.self_ns,
        "self_percent": share(function.self_samples),
        "self_error_percent": error(function.self_samples),
        "total_samples": function.total_samples,
        "total_ns": function.total_ns,
        "total_percent": share(function.total_samples),
        "total_error_percent": error(function.total_samples),
        "ranges": ranges.collect::<Vec<_>>(),
        "callers": calls(&details.callers),
        "callees": calls(&details.callees),
        "subjects": subjects.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
        "outside_samples": details.outside,
    })
}
