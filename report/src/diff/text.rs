//! A diff for people: a table of the rows that changed.

use super::{By, Change, Diff, DiffRow, Judgement, Presence};
use crate::table::{Column, Table, Top};
use crate::text::{clean, counted, grouped, shorten_path, time};

/// Columns of a name at most.
const NAME: usize = 48;
/// Rows by default.
const ROWS: usize = 20;

/// The changed rows, the first `top` of them; with [`Top::All`] every row.
pub fn text(diff: &Diff, top: Top, judgements: &[Judgement]) -> Vec<String> {
    let all: Vec<&DiffRow> =
        if top.is_all() { diff.rows.iter().collect() } else { diff.changed().collect() };
    let rows = &all[..top.limit(ROWS).min(all.len())];
    let mut lines = Vec::new();
    if rows.is_empty() {
        lines.push(format!("no change in {}", counted(diff.rows.len() as u64, "row")));
    } else {
        lines.extend(table(diff, rows).lines());
        let renamed: Vec<_> = all.iter().filter_map(|row| Some((row, row.was.as_ref()?))).collect();
        let listed = top.limit(ROWS).min(renamed.len());
        lines.extend(
            renamed[..listed]
                .iter()
                .map(|(row, was)| format!("renamed: {} → {}", clean(was), clean(&row.label))),
        );
        if renamed.len() > listed {
            lines.push(format!("… and {} more renamed", grouped((renamed.len() - listed) as u64)));
        }
    }
    let more = all.len() - rows.len();
    let same = diff.rows.len() - all.len();
    if more > 0 {
        lines.push(format!("… and {} more: --top N or --top all shows them", grouped(more as u64)));
    }
    if same > 0 && !rows.is_empty() {
        lines.push(format!("{} without a change", counted(same as u64, "more row")));
    }
    lines.push(String::new());
    lines.push(sum("all calls", &diff.count, grouped));
    lines.extend(diff.self_ns.iter().map(|change| sum("all self time", change, time)));
    if let Some((count, bytes)) = &diff.allocations {
        lines.push(sum("allocations", count, grouped));
        lines.push(sum("their bytes", bytes, grouped));
    }
    lines.extend(diff.notes.iter().map(|note| format!("note: {}", clean(note))));
    lines.extend(judgements.iter().map(Judgement::to_string));
    lines
}

fn sum(name: &str, change: &Change, number: impl Fn(u64) -> String) -> String {
    let before = number(change.before.median());
    let after = number(change.after.median());
    format!("{name}: {before} → {after}  {}", percent_text(change))
}

fn table(diff: &Diff, rows: &[&DiffRow]) -> Table {
    let cells = |of: &dyn Fn(&DiffRow) -> String| -> Vec<String> {
        rows.iter().map(|row| of(row)).collect()
    };
    let mut columns =
        vec![Column::words(diff.by.name(), cells(&|row| shorten_path(&clean(&row.label), NAME)))];
    let sign = |row: &DiffRow| if row.is_exact { "" } else { "≥" };
    columns.extend([
        Column::numbers(
            "calls",
            cells(&|row| format!("{}{}", sign(row), grouped(row.count.before.median()))),
        ),
        Column::numbers(
            "after",
            cells(&|row| format!("{}{}", sign(row), grouped(row.count.after.median()))),
        ),
        Column::numbers("change", cells(&|row| difference(diff, row))),
    ]);
    if diff.is_timed {
        for (name, of) in [
            ("total", (|row| row.total_ns.as_ref()) as fn(&DiffRow) -> Option<&Change>),
            ("self", |row| row.self_ns.as_ref()),
        ] {
            let sign = |row: &DiffRow| match row.is_partly_timed {
                true => "~",
                false if name == "total" && row.total_at_most => "≤",
                false => "",
            };
            let cell = |of_change: fn(&Change) -> u64| {
                cells(&|row| {
                    of(row).map_or("–".into(), |change| {
                        format!("{}{}", sign(row), time(of_change(change)))
                    })
                })
            };
            columns.push(Column::numbers(name, cell(|change| change.before.median())));
            columns.push(Column::numbers("after", cell(|change| change.after.median())));
            let change = |row: &DiffRow| {
                of(row).map_or(String::new(), |it| format!("{}{}", sign(row), percent_text(it)))
            };
            columns.push(Column::numbers("change", cells(&change)));
        }
    }
    Table::new(columns)
}

/// The change of a count, in percent; a word for a thing of one version, and for code that did not
/// run in the second.
fn difference(diff: &Diff, row: &DiffRow) -> String {
    let has_ended = row.count.after.range().1 == 0 && row.count.before.range().1 > 0;
    let is_code = diff.by != By::Subject && !diff.is_filtered;
    match row.presence {
        _ if row.is_unobserved_in_one => "no hook".into(),
        Presence::Both if has_ended && is_code => "did not run".into(),
        Presence::Before => "gone".into(),
        Presence::After => "new".into(),
        Presence::Both => percent_text(&row.count),
    }
}

/// `+12.3 %`, with the interval if the samples have one: `+12.3 % (+8 to +16)`.
pub(super) fn percent_text(change: &Change) -> String {
    if !change.is_change() {
        return "=".into();
    }
    let Some(ratio) = change.ratio() else { return "from 0".into() };
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let estimate = format!("{:+.1} %", percent(ratio.estimate));
    if ratio.least == ratio.most {
        estimate
    } else {
        format!("{estimate} ({:+.0} to {:+.0})", percent(ratio.least), percent(ratio.most))
    }
}
