//! The report for people: aligned, with one unit for each column.

use std::collections::BTreeMap;
use std::io::{self, Write};

use metaspy_core::Store;
use metaspy_core::store::{EndState, Value};

use super::{By, Key, Part, Report, Row};
use crate::condition::Verdict;
use crate::program::{ColumnValue, Ratio};
use crate::table::{Column, Table};
use crate::text::{Unit, clean, clock, counted, duration, grouped, outcomes, shorten, shorten_path};

/// One of the times of a row.
type Time = fn(&Row, &Store) -> Option<u64>;

/// Before total, self and longest time of a row of which not all calls were timed: the others would make total and
/// longest larger; self time also lacks what they would take from it.
const SIGNS: [&str; 3] = ["≥", "~", "≥"];

/// Columns of a name at most.
const NAME: usize = 44;

/// Writes the report, with the first `top` rows.
pub fn write(out: &mut impl Write, store: &Store, report: &Report, top: usize, verdicts: &[Verdict]) -> io::Result<()> {
    summary(out, store, report)?;
    let rows = &report.rows[..top.min(report.rows.len())];
    if rows.is_empty() {
        writeln!(
            out,
            "\nNothing to count: {}",
            if report.totals.emitted == 0 { "nothing was recorded" } else { "no event passes" }
        )?;
    } else {
        writeln!(out)?;
        table(out, store, report.by, rows)?;
    }
    let more = report.rows.len() - rows.len();
    if more > 0 {
        writeln!(out, "… and {} more: --top N or --top all shows them", grouped(more as u64))?;
    }
    if report.never > 0 {
        let what = match report.by {
            By::Subject => "labelled subjects were never observed",
            By::Type => "types, traits and modules' functions never ran",
            By::Package => "crates and modules never ran",
            _ => "sites were never called",
        };
        writeln!(out, "{} {what}: --top all lists them", grouped(report.never as u64))?;
    }
    for verdict in verdicts {
        writeln!(out, "{verdict}")?;
    }
    for text in &report.damage {
        writeln!(out, "damaged: {}", clean(text))?;
    }
    let malformed = store.header().remote_malformed;
    if malformed > 0 {
        writeln!(out, "note: {}", ignored(malformed))?;
    }
    for note in store.notes() {
        writeln!(out, "note: {}", clean(note))?;
    }
    Ok(())
}

/// How a recording ended, in a word.
pub fn state(ended: EndState) -> &'static str {
    match ended {
        EndState::Live => "live",
        EndState::Closed => "closed",
        EndState::Snapshot => "snapshot",
        EndState::Killed => "killed",
    }
}

/// A length of time without its sign.
fn length(ns: i64) -> String {
    duration(ns.unsigned_abs()).trim_start().to_owned()
}

/// What came from other processes and named no cause.
pub fn ignored(malformed: u64) -> String {
    format!("{} malformed: ignored, so what they came with has no cause here", counted(malformed, "traceparent"))
}

/// What the recording is, and what to distrust.
pub fn summary(out: &mut impl Write, store: &Store, report: &Report) -> io::Result<()> {
    let totals = &report.totals;
    let header = store.header();
    let state = state(store.end_state());
    let whole = clock(store.time_ns(header.last_tick));
    let of = match store.processes().len() {
        0 => format!("process {}", header.pid),
        count => format!("{count} processes"),
    };
    writeln!(out, "{}  {state}  {whole}  {of}", clean(&store.program().name))?;
    for process in store.processes() {
        let moved = match (process.clock, process.moved_ns) {
            (0, _) => String::new(),
            (_, 0) => ", another clock".into(),
            (_, by) => format!(", another clock, moved by {}{}", if by < 0 { "-" } else { "+" }, length(by)),
        };
        let (label, ended, source) = (clean(&process.label), self::state(process.ended), clean(&process.source));
        writeln!(out, "  {label}  process {}, {ended}{moved}, {source}", process.pid)?;
    }
    if store.order_is_uncertain() {
        writeln!(out, "the order of events across processes is uncertain: see the notes below")?;
    }
    let mut parts =
        vec![format!("{} emitted", grouped(totals.emitted)), format!("{} in the window", grouped(totals.stored))];
    if totals.folded > 0 {
        parts.push(format!("{} folded into the tallies", grouped(totals.folded)));
    }
    if totals.counted > 0 {
        parts.push(format!("{} counted without an event", grouped(totals.counted)));
    }
    parts.push(format!("{} lost", grouped(totals.lost + totals.unnamed)));
    let exact = match (report.exact, report.damage.is_empty()) {
        (true, _) => "exact",
        (false, false) => "not exact: it is damaged",
        (false, true) if totals.unnamed > 0 => "at least: of some lost calls only the number is known",
        (false, true) if store.is_live() => "about: it is being written",
        (false, true) if store.end_state() == EndState::Snapshot => "about: it was being written while it was read",
        (false, true) => "not exact: the filter asks what is not known of calls that left the window",
    };
    writeln!(out, "{}  ({exact})", parts.join(", "))
}

fn table(out: &mut impl Write, store: &Store, by: By, rows: &[Row]) -> io::Result<()> {
    let name = |row: &Row| match (&row.key, &row.label) {
        (Key::Site(_), Some(label)) if row.part.is_some() => shorten_path(&clean(label), NAME),
        (Key::Site(path), _) => shorten_path(&clean(path), NAME),
        _ => shorten(&clean(row.label.as_deref().unwrap_or("(no subject)")), NAME),
    };
    let cells = |of: &dyn Fn(&Row) -> String| -> Vec<String> { rows.iter().map(of).collect() };
    let kind = |row: &Row| clean(row.kind.as_deref().unwrap_or("–")).into_owned();
    let has_parts = rows.iter().any(|row| row.part.is_some());
    let title = if by == By::Cause { "root cause" } else { by.name() };
    let count = if has_parts { "executions" } else { "count" };
    let mut columns = vec![
        Column::words(title, cells(&name)),
        Column::words("kind", cells(&kind)).at_most(14),
        Column::numbers(count, cells(&|row| grouped(row.measure.count))).at_least(13),
    ];
    if has_parts {
        let part = |of: &dyn Fn(&Part) -> String| cells(&|row| row.part.as_ref().map_or(String::new(), of));
        columns.push(Column::numbers("ran", part(&ran)).at_least(9));
        columns.push(Column::numbers("receivers", part(&|part| part.receivers.to_string())).at_least(10));
    }
    let times: [(&str, Time); 3] = [("total", Row::total_ns), ("self", Row::self_ns), ("max", Row::max_ns)];
    // The methods of a part call each other, so it has no total.
    for ((title, of), sign) in times.into_iter().zip(SIGNS).skip(usize::from(has_parts)) {
        let unit = Unit::for_largest(rows.iter().filter_map(|row| of(row, store)).max().unwrap_or(0));
        let time = |row: &Row| {
            let sign = if row.measure.is_partly_timed() { sign } else { "" };
            of(row, store).map_or("–".into(), |ns| format!("{sign}{}", unit.write(ns)))
        };
        columns.push(Column::numbers(format!("{title} {}", unit.sign()), cells(&time)).at_least(10));
    }
    columns.extend(profile_columns(rows));
    columns.push(Column::words("", cells(&|row| outcomes(&row.measure, ""))));
    Table::new(columns).lines().try_for_each(|line| writeln!(out, "{line}"))
}

/// The columns that method profilers declared and that a row has a value for.
fn profile_columns(rows: &[Row]) -> Vec<Column> {
    let mut declared: BTreeMap<(&str, &str), &ColumnValue> = BTreeMap::new();
    for (profile, columns) in rows.iter().flat_map(|row| &row.profiles) {
        declared.extend(columns.iter().map(|(name, value)| ((profile.as_str(), name.as_str()), value)));
    }
    let column = |((profile, name), of): ((&str, &str), &ColumnValue)| {
        let unit = if of.column.unit.is_empty() { String::new() } else { format!(" {}", of.column.unit) };
        let cell =
            |row: &Row| row.profiles.get(profile).and_then(|columns| columns.get(name)).map_or("–".into(), value);
        Column::numbers(clean(&format!("{name}{unit}")).into_owned(), rows.iter().map(cell).collect::<Vec<_>>())
    };
    declared.into_iter().map(column).collect()
}

/// A value of a column as text.
pub fn value(of: &ColumnValue) -> String {
    match &of.value {
        Value::Ns(ns) => duration(*ns).trim().to_owned(),
        Value::Number(number) => grouped(*number),
        Value::AtLeast(number) => format!("≥{}", grouped(*number)),
        value => value.to_string(),
    }
}

/// The number of methods that ran, and of methods.
fn ran(part: &Part) -> String {
    let Ratio { covered, methods, .. } = part.ratio;
    if part.is_whole { format!("{covered}/{methods}") } else { covered.to_string() }
}
