//! Processor time by domain object, from the recorded events that samples were in.

use std::io::{self, Write};

use metaspy_report::table::Column;
use metaspy_report::text::{clean, short_path, shorten, shorten_label};

use crate::profile::{EventRow, Profile};
use crate::text::{time_columns, write_table};

/// Width of a subject, in columns.
const SUBJECT: usize = 36;
/// Width of a site, in columns.
const SITE: usize = 40;

/// Writes the subjects with the most self time, if a sampled process records.
pub fn write(out: &mut dyn Write, profile: &Profile, top: usize) -> io::Result<()> {
    let events = profile.events();
    if events.rows.is_empty() {
        return Ok(());
    }
    let all = profile.total();
    let shown = &events.rows[..top.min(events.rows.len())];
    let of = |row: &EventRow| &profile.run.samples.events[row.event as usize];
    let subject = |row: &EventRow| {
        of(row).subject.as_deref().map_or("–".into(), |it| shorten_label(&clean(it), SUBJECT))
    };
    let mut columns =
        time_columns(profile, shown.iter().map(|row| (Some(row.self_samples), row.total_samples)));
    columns.push(Column::words("subject", shown.iter().map(subject)));
    columns.push(Column::words(
        "site",
        shown.iter().map(|row| shorten(&clean(short_path(&of(row).site)), SITE)),
    ));
    writeln!(out, "\nSubjects: the recorded events that samples were in")?;
    write_table(out, columns, events.rows.len() - shown.len())?;
    let percent = |samples: u64| format!("{:.1} %", 100.0 * samples as f64 / all as f64);
    writeln!(out, "{} of samples are in no recorded event", percent(events.outside))?;
    if events.unknown > 0 {
        writeln!(
            out,
            "{} of samples are in events that left the window too soon: METASPY_BUDGET=1GB keeps more",
            percent(events.unknown)
        )?;
    }
    Ok(())
}
