//! Sections of a report: functions with their ranges, their inlined functions, and the lines of hot
//! ranges.

use std::io::{self, Write};

use metaspy_report::source_line::SourceFiles;
use metaspy_report::text::{clean, fit, grouped, shorten, shorten_file, shorten_path};

use crate::profile::{FunctionRow, Profile, RangeRow, Section, Span};
use crate::text::percent;

/// Width of a name, in columns.
const NAME: usize = 60;
/// Maximum number of ranges of a function.
const RANGES: usize = 8;
/// Maximum number of inlined functions of a range.
const INLINED: usize = 8;
/// Maximum number of lines of a hot range.
const LINES: usize = 6;
/// Smallest share of its function that makes a range hot, in percent.
const HOT_PERCENT: u64 = 10;
/// Smallest share of all samples for which a function's ranges are written, in percent.
const SPLIT_PERCENT: u64 = 1;
/// Smallest number of samples for which a function's parts are written. Fewer are not significant.
const SPLIT_SAMPLES: u64 = 10;
/// Smallest share of its function for which an inlined function is written, in percent.
const INLINED_PERCENT: u64 = 2;

/// Writes all sections.
pub fn write(out: &mut dyn Write, profile: &Profile, top: usize) -> io::Result<()> {
    let mut sources = SourceFiles::default();
    let sections = profile.sections();
    sections.iter().try_for_each(|section| write_section(out, profile, section, top, &mut sources))
}

/// Writes the function with the most samples, and its ranges.
pub(crate) fn write_hottest(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let sections = profile.sections();
    let rows = sections.iter().filter_map(|section| Some((section, section.functions.first()?)));
    let Some((section, row)) = rows.max_by_key(|(_, row)| row.samples) else { return Ok(()) };
    writeln!(
        out,
        "\nHottest: % of {}  (% of total)  (samples)  (cumulative)",
        section.category.name()
    )?;
    let name = &profile.symbols.functions[row.function as usize].name;
    let name = shorten_path(&clean(name), NAME);
    line(out, &name, row.samples, section.samples, profile.total(), row.samples)?;
    write_ranges(out, profile, row, &mut SourceFiles::default())
}

fn write_section(
    out: &mut dyn Write,
    profile: &Profile,
    section: &Section,
    top: usize,
    sources: &mut SourceFiles,
) -> io::Result<()> {
    let total = profile.total();
    writeln!(out, "\n% of {}  (% of total)  (samples)  (cumulative)", section.category.name())?;
    let mut so_far = 0;
    let shown = &section.functions[..top.min(section.functions.len())];
    for row in shown {
        so_far += row.samples;
        let name = &profile.symbols.functions[row.function as usize].name;
        line(out, &shorten_path(&clean(name), NAME), row.samples, section.samples, total, so_far)?;
        if row.samples >= SPLIT_SAMPLES && row.samples * 100 >= total * SPLIT_PERCENT {
            write_ranges(out, profile, row, sources)?;
        }
    }
    let others = section.samples - so_far;
    if others > 0 {
        line(out, "...others...", others, section.samples, total, section.samples)?;
    }
    Ok(())
}

fn line(
    out: &mut dyn Write,
    name: &str,
    part: u64,
    section: u64,
    total: u64,
    so_far: u64,
) -> io::Result<()> {
    let samples = format!("({})", grouped(part));
    let (of_section, of_total, sum) =
        (percent(part, section), percent(part, total), percent(so_far, section));
    writeln!(out, "{of_section:>7} ({of_total:>6})  {} {samples:>9} ({sum:>7})", fit(name, NAME))
}

/// Writes the ranges of a function in source order. Ranges beyond the largest are summed in a last
/// row.
fn write_ranges(
    out: &mut dyn Write,
    profile: &Profile,
    row: &FunctionRow,
    sources: &mut SourceFiles,
) -> io::Result<()> {
    let function = &profile.symbols.functions[row.function as usize];
    // A single range without a line adds nothing to the function.
    if matches!(&row.ranges[..], [RangeRow { span: Span::NoLine, inlined, .. }] if inlined.is_empty())
    {
        return Ok(());
    }
    let mut sizes: Vec<u64> = row.ranges.iter().map(|range| range.samples).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let least = sizes.get(RANGES - 1).copied().unwrap_or(0);
    let mut written = 0;
    let mut so_far = 0;
    for range in &row.ranges {
        if range.samples < least || written == RANGES {
            continue;
        }
        written += 1;
        so_far += range.samples;
        let name = span(function.file.as_deref(), range.span);
        sub_line(out, 4, &name, range.samples, row.samples, Some(so_far))?;
        let shown = range
            .inlined
            .iter()
            .filter(|inlined| inlined.samples * 100 >= row.samples * INLINED_PERCENT);
        for inlined in shown.take(INLINED) {
            let name = &profile.symbols.functions[inlined.function as usize].name;
            let name = format!("inlined: {}", shorten_path(&clean(name), NAME - 15));
            sub_line(out, 6, &name, inlined.samples, row.samples, None)?;
        }
        if range.samples * 100 >= row.samples * HOT_PERCENT {
            write_lines(out, function.file.as_deref(), range, row.samples, sources)?;
        }
    }
    let others = row.samples - so_far;
    if others > 0 {
        sub_line(out, 4, "...others...", others, row.samples, Some(row.samples))
    } else {
        Ok(())
    }
}

/// Writes a line below a function, with its share of the function.
fn sub_line(
    out: &mut dyn Write,
    indent: usize,
    name: &str,
    part: u64,
    whole: u64,
    sum: Option<u64>,
) -> io::Result<()> {
    let samples = format!("({})", grouped(part));
    let share = percent(part, whole);
    let sum = sum.map_or(String::new(), |sum| format!(" ({:>7})", percent(sum, whole)));
    let name = fit(name, NAME + 9 - indent);
    writeln!(out, "{:indent$}{share:>7}  {name} {samples:>9}{sum}", "")
}

/// Formats a range: `src/main.rs:12-15`, or `26->29` in a code map.
fn span(file: Option<&str>, span: Span) -> String {
    let file = file.map_or_else(
        || "line ".to_owned(),
        |file| format!("{}:", shorten_file(&clean(file), NAME - 12)),
    );
    match span {
        Span::NoLine => "code without a line".to_owned(),
        Span::Lines(first, last) if first == last => format!("{file}{first}"),
        Span::Lines(first, last) => format!("{file}{first}-{last}"),
        Span::Positions(from, u64::MAX) => format!("{from}->end"),
        Span::Positions(from, to) => format!("{from}->{to}"),
    }
}

/// Writes the lines of a hot range with the most samples, in source order, with their text.
fn write_lines(
    out: &mut dyn Write,
    file: Option<&str>,
    range: &RangeRow,
    whole: u64,
    sources: &mut SourceFiles,
) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let mut hot = range.lines.clone();
    hot.sort_by_key(|&(line, samples)| (std::cmp::Reverse(samples), line));
    hot.truncate(LINES);
    hot.sort_unstable();
    for (line, samples) in hot {
        let Some(text) = sources.line(file, line) else { continue };
        let text = shorten(clean(text).trim_end(), NAME);
        writeln!(out, "{:>16}  {line:>5} | {text}", percent(samples, whole))?;
    }
    Ok(())
}
