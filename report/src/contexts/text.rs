//! The tree as text: one line for each context, indented by its depth.

use super::{Contexts, Shown};
use crate::program::cut_note;
use crate::table::{Column, Table};
use crate::text::{clean, counted, duration, grouped, percent};

/// Levels that are indented. Deeper ones have their number.
const INDENTED: usize = 40;

/// The contexts that pass, at most `rows`.
pub fn text(contexts: &Contexts, shown: Shown, rows: usize) -> Vec<String> {
    let all = contexts.walk(shown);
    let rows = &all[..all.len().min(rows)];
    let is_timed = contexts.all().iter().any(|context| context.values.total_ns > 0);
    let whole = contexts.whole();
    let column = |title: &str, cell: &dyn Fn(&super::Context) -> String| {
        Column::numbers(title, rows.iter().map(|&(at, _)| cell(&contexts.all()[at])))
    };
    let mut columns = vec![column("calls", &|context| grouped(context.values.calls))];
    if contexts.all().iter().any(|context| context.values.folded > 0) {
        columns.push(column("recursive", &|context| grouped(context.values.folded)));
    }
    if is_timed {
        columns.push(column("total", &|context| duration(context.values.total_ns)));
        columns.push(column("self", &|context| duration(context.values.self_ns)));
    }
    if contexts.has_objects {
        columns.push(column("objects", &|context| grouped(context.values.objects)));
        columns.push(column("bytes", &|context| grouped(context.values.bytes)));
    }
    columns.push(column("share", &|context| percent(context.weight(contexts.weight()), whole)));
    columns.push(Column::words(
        "context",
        rows.iter().map(|&(at, depth)| indented(&contexts.all()[at].name, depth)),
    ));
    let mut lines: Vec<String> = Table::new(columns).lines().collect();
    let hidden = contexts.all().len() - 1 - rows.len();
    if hidden > 0 {
        let what = counted(hidden as u64, "more context");
        lines
            .push(format!("{what}: --top all --threshold 0 shows all, and --depth the outer ones"));
    }
    lines.extend(notes(contexts));
    lines
}

/// Returns sentences about the calls that the tree lacks.
pub fn notes(contexts: &Contexts) -> Vec<String> {
    let mut notes = Vec::new();
    let cut = contexts.all()[0].inclusive.cut;
    if cut > 0 {
        notes.push(cut_note(cut));
    }
    if contexts.lost > 0 {
        notes.push(format!(
            "{} found no room: record with a larger METASPY_BUDGET",
            counted(contexts.lost, "value")
        ));
    }
    notes
}

fn indented(name: &str, depth: usize) -> String {
    match depth {
        0..=INDENTED => format!("{}{}", "  ".repeat(depth), clean(name)),
        _ => format!("{}({depth}) {}", "  ".repeat(INDENTED), clean(name)),
    }
}
