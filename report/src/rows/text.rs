//! The report for people: aligned, with a unit in each cell of time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use metaspy_format::profile::built_in;
use metaspy_reader::{EndState, Measure, RecordedSite, Shares, Store, Totals, Value};

use super::doors::{Door, MessageLoop};
use super::entry_points::EntryPoint;
use super::{By, Key, Part, Report, ReportRow};
use crate::condition::Verdict;
use crate::cpu::{self, error_percent};
use crate::functions;
use crate::program::{ColumnValue, Ratio, lost_note};
use crate::table::{Column, Table};
use crate::text::{
    clean, clock, counted, grouped, outcomes, shorten, shorten_file, shorten_path, time,
};

/// One of the times of a row.
struct Time {
    title: &'static str,
    of: fn(&ReportRow, &Store) -> Option<u64>,
    sign: fn(&Measure) -> &'static str,
    share: Option<fn(&Shares, &Measure) -> Option<f64>>,
}

/// The times of a row.
const TIMES: [Time; 5] = [
    Time {
        title: "total",
        of: ReportRow::total_ns,
        sign: Measure::total_sign,
        share: Some(Shares::total),
    },
    Time { title: "wall", of: ReportRow::wall_ns, sign: at_least, share: None },
    Time {
        title: "self",
        of: ReportRow::window_self_ns,
        sign: about,
        share: Some(Shares::self_time),
    },
    Time { title: "max", of: longest, sign: at_least, share: None },
    Time { title: "max wall", of: longest_wall, sign: at_least, share: None },
];

/// The longest time of rows without async calls.
fn longest(row: &ReportRow, store: &Store) -> Option<u64> {
    row.max_ns(store).filter(|_| row.wall_ns(store).is_none())
}

/// The longest time of rows with async calls, from a first poll to an end. The total has the time
/// of polls alone.
fn longest_wall(row: &ReportRow, store: &Store) -> Option<u64> {
    row.max_ns(store).filter(|_| row.wall_ns(store).is_some())
}

/// Before the longest time: calls that were not timed would make them larger.
fn at_least(measure: &Measure) -> &'static str {
    if measure.is_partly_timed() { "≥" } else { "" }
}

/// Before the self time: it may contain calls that were not timed, and it lacks calls that have
/// left the window.
fn about(measure: &Measure) -> &'static str {
    match measure.self_ticks {
        _ if measure.is_partly_timed() => "~",
        None => "≥",
        Some(_) => "",
    }
}

/// Columns of a name at most.
const NAME: usize = 44;
/// Number of entry points in the text, and of the names of threads of each.
const ENTRY_POINTS: usize = 3;
/// Number of doors of an entry point in the text, and columns of their files.
const DOORS: usize = 3;
const FILE: usize = 40;

/// The numbers of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Counts and times, with their shares.
    #[default]
    All,
    /// Shares alone.
    Percent,
}

/// Writes the report, with the first `top` rows.
pub fn write(
    out: &mut impl Write,
    store: &Store,
    report: &Report,
    top: usize,
    numbers: Numbers,
    verdicts: &[Verdict],
) -> io::Result<()> {
    summary(out, store, report)?;
    let rows = &report.rows[..top.min(report.rows.len())];
    if rows.is_empty() {
        writeln!(out, "\nNothing to count: {}", nothing(report, store))?;
    } else {
        writeln!(out)?;
        table(out, store, report, rows, numbers)?;
    }
    if rows.iter().any(|row| row.measure.failed > 0 && row.failure == "failed") {
        writeln!(out, "failed: returned Err or None")?;
    }
    if store.end_state() == EndState::Closed && rows.iter().any(|row| row.measure.running > 0) {
        writeln!(
            out,
            "running: the program ended first, as with `process::exit`: metaspy open shows where it was"
        )?;
    }
    let has_least_self = |row: &ReportRow| {
        row.part.is_none() && row.window_self_ns(store).is_some() && about(&row.measure) == "≥"
    };
    if rows.iter().any(has_least_self) {
        writeln!(
            out,
            "self with ≥: of the calls in the window; of those that left it, only counts and totals are known"
        )?;
    }
    let more = report.row_count - rows.len();
    if more > 0 {
        writeln!(out, "… and {} more: --top N or --top all shows them", grouped(more as u64))?;
    }
    if report.never > 0 {
        let (one, many) = match report.by {
            By::Subject => {
                ("labelled subject was never observed", "labelled subjects were never observed")
            }
            By::Type => (
                "type, trait or module's functions never ran",
                "types, traits and modules' functions never ran",
            ),
            By::Package => ("crate or module never ran", "crates and modules never ran"),
            _ => ("site was never called", "sites were never called"),
        };
        let what = if report.never == 1 { one } else { many };
        writeln!(out, "{} {what}: --top all lists them", grouped(report.never as u64))?;
    }
    if report.shared > 0 {
        let calls = counted(report.shared, "call");
        writeln!(
            out,
            "links are reasons, too: {calls} with several root causes, in the row of each"
        )?;
    }
    entry_points(out, report)?;
    message_loops(out, report)?;
    unsearched_files(out, report)?;
    if let Some(cpu) = report.cpu {
        let all = grouped(cpu.all.samples);
        let outside = cpu.outside.percent(cpu.all);
        writeln!(
            out,
            "cpu: of {all} samples, ± with 95 % probability; {outside:.1} % are in no recorded event"
        )?;
        if cpu.lost_rows > 0 {
            writeln!(
                out,
                "cpu: {} with few samples found no room",
                counted(cpu.lost_rows, "subject")
            )?;
        }
    }
    for verdict in verdicts {
        writeln!(out, "{verdict}")?;
    }
    for text in &report.damage {
        writeln!(out, "damaged: {}", clean(text))?;
    }
    for (profiler, lost) in &report.lost_values {
        writeln!(out, "note: {}", lost_note(profiler, *lost))?;
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

/// Names the functions at which chains of causes end, the threads that they ran on, and the doors
/// that the cause did not pass.
fn entry_points(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let sign = if report.exact { "" } else { "≥" };
    for entry in report.entry_points.iter().take(ENTRY_POINTS) {
        let threads: Vec<String> = entry
            .threads
            .iter()
            .take(ENTRY_POINTS)
            .map(|thread| {
                let name = if thread.name.is_empty() { "without a name" } else { &thread.name };
                format!("{} ({})", clean(name), grouped(thread.calls))
            })
            .collect();
        let more = match entry.threads.len() - threads.len() {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "other name")),
        };
        writeln!(
            out,
            "entry point: {} began {sign}{} without a recorded cause, on threads {}{more}",
            clean(&entry.site),
            counted(entry.calls, "time"),
            threads.join(", ")
        )?;
        doors(out, entry)?;
    }
    let more = report.entry_points.len().saturating_sub(ENTRY_POINTS);
    if more > 0 {
        writeln!(out, "… and {}: --json lists them", counted(more as u64, "other entry point"))?;
    }
    Ok(())
}

/// Names where the source lets the calls of an entry point begin.
fn doors(out: &mut impl Write, entry: &EntryPoint) -> io::Result<()> {
    if let Some(of_trait) = &entry.of_trait {
        writeln!(out, "  door: any call through the trait {}", clean(of_trait))?;
    }
    for Door { file, line, door, within } in entry.doors.iter().take(DOORS) {
        let door = door.as_ref().map_or("a call", String::as_str);
        let within = if within.is_empty() { String::new() } else { format!(" in {within}") };
        let place = format!("{}:{line}", shorten_file(file, FILE));
        writeln!(out, "  door: {}{} ({})", clean(door), clean(&within), clean(&place))?;
    }
    let more = entry.doors.len().saturating_sub(DOORS);
    if more > 0 {
        writeln!(out, "  … and {}: --json lists them", counted(more as u64, "other door"))?;
    }
    Ok(())
}

/// Names the loops that take messages.
fn message_loops(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for MessageLoop { site, door, file, line } in report.message_loops.iter().take(ENTRY_POINTS) {
        writeln!(
            out,
            "messages: {} takes them in a loop ({} at {}:{line}): what they lead to has its cause, and not the sender's, unless they carry one",
            clean(site),
            clean(door),
            clean(&shorten_file(file, FILE))
        )?;
    }
    let more = report.message_loops.len().saturating_sub(ENTRY_POINTS);
    if more > 0 {
        writeln!(out, "… and {}: --json lists them", counted(more as u64, "other loop"))?;
    }
    Ok(())
}

/// Names files in which entry points may have doors that are not known.
fn unsearched_files(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let count = report.unsearched_files.len();
    if count == 0 || report.entry_points.is_empty() {
        return Ok(());
    }
    let files: Vec<String> = report
        .unsearched_files
        .iter()
        .take(ENTRY_POINTS)
        .map(|file| clean(&shorten_file(file, FILE)).into_owned())
        .collect();
    let more = count - files.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(
        out,
        "doors in {}{more} are not known: not readable from here, or changed since the build",
        files.join(", ")
    )
}

/// Returns why there is no row. The filter may require facts that are known of stored events alone.
pub fn nothing(report: &Report, store: &Store) -> String {
    let Totals { emitted, folded, counted, .. } = report.totals;
    match folded + counted {
        _ if emitted == 0 => unrecorded(store).to_owned(),
        calls @ 1.. if !report.exact && report.absent_files.is_none() => {
            let sees_all = store.sites().iter().all(RecordedSite::knows_outcomes);
            let known =
                if sees_all { "site, subject, outcome and number" } else { "site and number" };
            let calls = crate::text::counted(calls, "call");
            format!(
                "no stored event passes, and {calls} have no event: of these only {known} are known"
            )
        }
        _ => "no event passes".to_owned(),
    }
}

/// Returns why a recording has no events, and what to do.
pub fn unrecorded(store: &Store) -> &'static str {
    let is_whole = store.missing().is_empty() && store.absent_files().is_none();
    let profiles = store.united_profiles();
    let has_profile = |name: &str| profiles.iter().any(|profile| profile.name == name);
    if has_profile(functions::PROFILE) {
        "it has samples and no events: --functions lists them, and `metaspy blueprint flame` draws them"
    } else if !is_whole || !profiles.is_empty() {
        "it has no events: record with METASPY_RECORD=run.spy"
    } else if store.sites().is_empty() {
        "the program has no hooks: `cargo metaspy run` gives it some, as does `#[observe]` with metaspy's feature `record`"
    } else if store.views().is_empty() {
        "no profiler was installed: call `Profiler::install` and keep what it returns, or set METASPY_RECORD=run.spy"
    } else {
        "no hook ran while a profiler was installed: the program ended before its first one, or METASPY_OBSERVE selects none of \
         them (METASPY_OBSERVE='*' selects all)"
    }
}

/// How a recording ended, in a word.
pub fn state(ended: EndState) -> &'static str {
    match ended {
        EndState::Live => "live",
        EndState::Closed => "closed",
        EndState::Snapshot => "snapshot",
        EndState::Killed => "killed",
        EndState::Unknown => "unknown",
    }
}

/// A length of time without its sign.
fn length(ns: i64) -> String {
    time(ns.unsigned_abs())
}

/// Returns a sentence about incoming contexts from other processes that named no cause.
pub fn ignored(malformed: u64) -> String {
    format!(
        "{} malformed: ignored, so what they came with has no cause here",
        counted(malformed, "traceparent")
    )
}

/// The title of a recording in reports and in the crawler: the profilers whose views it has,
/// otherwise its program, and which part of a rotation it is.
pub fn title(store: &Store) -> String {
    let name = name(store);
    match store.absent_files() {
        Some(absent) => format!("{name} ({})", absent.what_is_read()),
        None => name,
    }
}

fn name(store: &Store) -> String {
    // Each process may have its own views.
    let is_merged = !store.processes().is_empty();
    let mut names: Vec<&str> = Vec::new();
    for view in store.views().iter().filter(|_| !is_merged) {
        if !names.contains(&view.view.name.as_str()) {
            names.push(&view.view.name);
        }
    }
    let title = match names[..] {
        [] => store.program().name.clone(),
        [only] => only.to_owned(),
        [first, ref rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    clean(&title).into_owned()
}

/// Writes the state of the recording, and the doubts about its numbers.
pub fn summary(out: &mut impl Write, store: &Store, report: &Report) -> io::Result<()> {
    let totals = &report.totals;
    let header = store.header();
    let state = state(store.end_state());
    let whole = clock(store.time_ns(header.last_tick));
    let processes: BTreeSet<_> =
        store.processes().iter().map(|process| (process.clock, process.pid)).collect();
    let of = match processes.len() {
        0 => format!("process {}", header.pid),
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    let recordings = match store.processes().len() {
        more if more > processes.len() => format!(" in {more} recordings"),
        _ => String::new(),
    };
    let title = title(store);
    let program = clean(&store.program().name);
    let program = if name(store) == program { String::new() } else { format!(" of {program}") };
    writeln!(out, "{title}  {state}  {whole}  {of}{recordings}{program}")?;
    for process in store.processes() {
        let moved = match (process.clock, process.moved_ns) {
            (0, _) => String::new(),
            (_, 0) => ", another clock".into(),
            (_, by) => format!(
                ", another clock, moved by {}{}",
                if by < 0 { "-" } else { "+" },
                length(by)
            ),
        };
        let (label, ended, source) =
            (clean(&process.label), self::state(process.ended), clean(&process.source));
        writeln!(out, "  {label}  process {}, {ended}{moved}, {source}", process.pid)?;
    }
    if store.order_is_uncertain() {
        writeln!(out, "the order of events across processes is uncertain: see the notes below")?;
    }
    let kept = store.kept().map_or(0, |kept| kept.events);
    let window = totals.stored.saturating_sub(kept);
    let mut parts = vec![
        format!("{} emitted", grouped(totals.emitted)),
        format!("{} in the window", grouped(window)),
    ];
    if kept > 0 {
        parts.push(format!("{} kept", grouped(kept)));
    }
    if totals.folded > 0 {
        parts.push(format!("{} folded into the tallies", grouped(totals.folded)));
    }
    if totals.counted > 0 {
        parts.push(format!("{} counted without an event", grouped(totals.counted)));
    }
    parts.push(format!("{} lost", grouped(totals.lost + totals.unnamed)));
    let exact = doubt(report, store).unwrap_or_else(|| "exact".to_owned());
    writeln!(out, "{}  ({exact})", parts.join(", "))?;
    report.losses.sentences().iter().try_for_each(|sentence| writeln!(out, "{sentence}"))
}

/// Returns why counts are not exact: `at least: subjects beyond the table of their site share the
/// row of others`.
pub fn doubt(report: &Report, store: &Store) -> Option<String> {
    let why = match report.absent_files {
        _ if report.exact => return None,
        _ if !report.damage.is_empty() => "not exact: it is damaged",
        Some(absent) => return Some(format!("at least: {absent}")),
        None if report.totals.unnamed > 0 => {
            "at least: of some lost calls only the number is known"
        }
        None if store.is_live() => "about: it is being written",
        None if store.end_state() == EndState::Snapshot => {
            "about: it was being written while it was read"
        }
        None if report.has_others => {
            "at least: subjects beyond the table of their site share the row of others"
        }
        None if report.by.is_of_causes() => {
            "not exact: the causes of some calls, or of their ends, left the window"
        }
        None => "not exact: the filter asks what is not known of calls that left the window",
    };
    Some(why.to_owned())
}

fn table(
    out: &mut impl Write,
    store: &Store,
    report: &Report,
    rows: &[ReportRow],
    numbers: Numbers,
) -> io::Result<()> {
    let name = |row: &ReportRow| match (&row.key, &row.label) {
        (Key::Site(_), Some(label)) if row.part.is_some() => shorten_path(&clean(label), NAME),
        (Key::Site(path), _) => shorten_path(&clean(path), NAME),
        _ => shorten(&clean(row.label.as_deref().unwrap_or("(no subject)")), NAME),
    };
    let cells =
        |of: &dyn Fn(&ReportRow) -> String| -> Vec<String> { rows.iter().map(of).collect() };
    let kind = |row: &ReportRow| clean(row.kind.as_deref().unwrap_or("–")).into_owned();
    let has_parts = rows.iter().any(|row| row.part.is_some());
    let title = match report.by {
        By::Cause => "root cause",
        By::SiteSubject => "subject",
        By::Sender => "direct cause",
        By::SenderSubject => "subject of the cause",
        by => by.name(),
    };
    let is_all = numbers == Numbers::All;
    let share = |name: &str, of: fn(&Shares, &Measure) -> Option<f64>| {
        let cell = |row: &ReportRow| {
            of(&report.shares, &row.measure).map_or("–".into(), |share| format!("{share:.1}"))
        };
        let title = if is_all { "%".to_owned() } else { format!("{name} %") };
        Column::numbers(title, cells(&cell)).at_least(5)
    };
    let mut columns = Vec::new();
    if let By::SiteSubject | By::SenderSubject = report.by {
        let site = |row: &ReportRow| shorten_path(&clean(row.site.as_deref().unwrap_or("–")), NAME);
        let title = if report.by == By::SenderSubject { "direct cause" } else { "site" };
        columns.push(Column::words(title, cells(&site)));
    }
    columns.extend([
        Column::words(title, cells(&name)),
        Column::words("kind", cells(&kind)).at_most(14),
    ]);
    if is_all {
        let cell =
            |row: &ReportRow| format!("{}{}", row.measure.sign(), grouped(row.measure.count));
        columns.push(Column::numbers("calls", cells(&cell)).at_least(13));
    }
    columns.push(share("calls", Shares::calls));
    if has_parts {
        let part = |of: &dyn Fn(&Part) -> String| {
            cells(&|row| row.part.as_ref().map_or(String::new(), of))
        };
        columns.push(Column::numbers("ran", part(&ran)).at_least(9));
        columns.push(
            Column::numbers("receivers", part(&|part| part.receivers.to_string())).at_least(10),
        );
        if rows.iter().any(|row| row.part.as_ref().is_some_and(|part| part.receivers.places > 0)) {
            columns.push(Column::numbers("places", part(&|part| grouped(part.receivers.places))));
        }
    }
    let times =
        TIMES.into_iter().filter(|time| rows.iter().any(|row| (time.of)(row, store).is_some()));
    for Time { title, of, sign, share: share_of } in times {
        let cell = |row: &ReportRow| {
            of(row, store).map_or("–".into(), |ns| format!("{}{}", sign(&row.measure), time(ns)))
        };
        if is_all {
            columns.push(Column::numbers(title, cells(&cell)).at_least(10));
        }
        let share_of = share_of.filter(|_| title != "total" || !report.is_filtered);
        columns.extend(share_of.map(|of| share(title, of)));
    }
    if let Some(cpu) = report.cpu {
        let error =
            |row: &ReportRow| format!("{:.1}", error_percent(row.cpu().samples, cpu.all.samples));
        columns.push(Column::numbers("cpu", cells(&|row| time(row.cpu().ns))).at_least(8));
        columns.push(
            Column::numbers("%", cells(&|row| format!("{:.1}", row.cpu().percent(cpu.all))))
                .at_least(5),
        );
        columns.push(Column::numbers("±", cells(&error)).at_least(4));
    }
    if is_all {
        // The profiler of calls takes the same times between clocks of its own. One row has one
        // total.
        let has_times =
            rows.iter().any(|row| row.total_ns(store).is_some() && !row.measure.is_partly_timed());
        columns.extend(profile_columns(rows, |name| {
            name == built_in::CALLS && has_times && !report.has_chosen_profiles
        }));
    }
    let ended = cells(&|row| outcomes(&row.measure, row.failure, ""));
    if ended.iter().any(|cell| !cell.is_empty()) {
        columns.push(Column::words("outcome", ended));
    }
    Table::new(columns).lines().try_for_each(|line| writeln!(out, "{line}"))
}

/// The columns that method profilers declared and that a row has a value for, without those of
/// profilers that are `left_out`.
fn profile_columns(rows: &[ReportRow], left_out: impl Fn(&str) -> bool) -> Vec<Column> {
    let mut declared: BTreeMap<(&str, &str), &ColumnValue> = BTreeMap::new();
    let others = |(name, _): &(&String, _)| *name != cpu::PROFILE && !left_out(name);
    for (profile, columns) in rows.iter().flat_map(|row| row.profiles.iter().filter(others)) {
        declared
            .extend(columns.iter().map(|(name, value)| ((profile.as_str(), name.as_str()), value)));
    }
    let column = |((profile, name), of): ((&str, &str), &ColumnValue)| {
        let unit =
            if of.column.unit.is_empty() { String::new() } else { format!(" {}", of.column.unit) };
        let cell = |row: &ReportRow| {
            row.profiles
                .get(profile)
                .and_then(|columns| columns.get(name))
                .map_or("–".into(), value)
        };
        Column::numbers(
            clean(&format!("{name}{unit}")).into_owned(),
            rows.iter().map(cell).collect::<Vec<_>>(),
        )
    };
    declared.into_iter().map(column).collect()
}

/// A value of a column as text.
pub fn value(of: &ColumnValue) -> String {
    match &of.value {
        Value::Ns(ns) => time(*ns),
        Value::AtLeastNs(ns) => format!("≥{}", time(*ns)),
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
