//! The functions as text, the most self time first, each with the lines and the subjects that most
//! of its time was in.

use metaspy_reader::Store;

use super::{Details, Function, Functions, InSubject, Range, Span};
use crate::table::{Column, Table};
use crate::text::{clean, counted, duration, grouped, shorten_file, shorten_path};

/// Columns of a name.
const NAME: usize = 70;
/// Parts, and subjects, of a function.
const PARTS: usize = 3;

/// A line of the table: a function, or a part of one.
struct Line {
    own: u64,
    total: u64,
    name: String,
}

/// At most `rows` functions.
pub fn text(store: &Store, functions: &Functions, rows: usize) -> Vec<String> {
    let shown = &functions.all[..functions.all.len().min(rows)];
    let rows: Vec<Line> =
        shown.iter().flat_map(|function| lines_of(store, functions, function)).collect();
    let time = |samples: u64| duration(functions.ns(samples)).trim_start().to_owned();
    let numbers = |title: &str, of: &dyn Fn(&Line) -> String| {
        Column::numbers(title, rows.iter().map(of)).at_least(5)
    };
    let share = |samples: u64| format!("{:.1}", functions.percent(samples).0);
    let table = Table::new([
        numbers("self", &|line| time(line.own)),
        numbers("%", &|line| share(line.own)),
        numbers("±", &|line| format!("{:.1}", functions.percent(line.own).1)),
        numbers("total", &|line| time(line.total)),
        numbers("%", &|line| share(line.total)),
        numbers("±", &|line| format!("{:.1}", functions.percent(line.total).1)),
        Column::words(
            "function, its lines and subjects",
            rows.iter().map(|line| line.name.clone()),
        ),
    ]);
    let mut lines: Vec<String> = table.lines().collect();
    let hidden = functions.all.len() - shown.len();
    if hidden > 0 {
        lines.push(format!("{}: --top all shows all", counted(hidden as u64, "more function")));
    }
    lines.push(format!("{} samples; ± with 95 % probability", grouped(functions.whole.samples)));
    lines.extend(note(functions));
    lines
}

/// Returns a sentence about rows that found no room.
pub fn note(functions: &Functions) -> Option<String> {
    let lost = counted(functions.lost, "row");
    (functions.lost > 0)
        .then(|| format!("{lost} of functions, frames and events found no room: record with a larger METASPY_BUDGET"))
}

/// A function, its parts in the order of their time, and its subjects.
fn lines_of(store: &Store, functions: &Functions, function: &Function) -> Vec<Line> {
    let Details { mut ranges, subjects, .. } = functions.details(function.number);
    let name = shorten_path(&clean(&function.name), NAME);
    let mut lines = vec![Line { own: function.self_samples, total: function.total_samples, name }];
    ranges.sort_by_key(|range| std::cmp::Reverse((range.self_samples, range.total_samples)));
    for range in ranges.iter().filter(|range| range.span != Span::NoLine).take(PARTS) {
        let name = format!("  {}", span(function, range));
        lines.push(Line { own: range.self_samples, total: range.total_samples, name });
    }
    for subject in subjects.iter().take(PARTS) {
        let name = format!("  for {}", name_of(store, subject));
        lines.push(Line { own: subject.self_samples, total: subject.total_samples, name });
    }
    lines
}

/// `src/main.rs:12-15`, or the position of a code map.
pub fn span(function: &Function, range: &Range) -> String {
    let file = shorten_file(&clean(&function.file), NAME - 20);
    match range.span {
        Span::NoLine => "code without a line".to_owned(),
        Span::Lines(first, last) if first == last => format!("{file}:{first}"),
        Span::Lines(first, last) => format!("{file}:{first}-{last}"),
        Span::Position(position) => format!("position {position}"),
    }
}

/// The subject and the site of events.
pub fn name_of(store: &Store, of: &InSubject) -> String {
    let site = shorten_path(store.site_path(of.site), NAME / 2);
    match of.subject {
        Some(subject) => format!("{} in {site}", store.subject_text(subject)),
        None => site,
    }
}
