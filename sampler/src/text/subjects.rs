//! Processor time by domain object, from the recorded events that samples were in.

use std::io::{self, Write};

use metaspy_report::rows::cpu::error_percent;
use metaspy_report::table::{Column, Table};
use metaspy_report::text::{clean, grouped, short_path, shorten, shorten_label, time};

use crate::profile::{EventRow, Profile};

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
    let cells = |of: &dyn Fn(&EventRow) -> String| shown.iter().map(of).collect::<Vec<_>>();
    let length = |samples: u64| time(profile.ns(samples));
    let share = |samples: u64| format!("{:.1}", 100.0 * samples as f64 / all as f64);
    let of = |row: &EventRow| &profile.run.samples.events[row.event as usize];
    let subject =
        |row: &EventRow| of(row).subject.as_deref().map_or("–".into(), |it| shorten_label(&clean(it), SUBJECT));
    let table = Table::new([
        Column::numbers("self", cells(&|row| length(row.self_samples))).at_least(9),
        Column::numbers("%", cells(&|row| share(row.self_samples))).at_least(5),
        Column::numbers("±", cells(&|row| format!("{:.1}", error_percent(row.self_samples, all)))).at_least(4),
        Column::numbers("total", cells(&|row| length(row.total_samples))).at_least(9),
        Column::numbers("%", cells(&|row| share(row.total_samples))).at_least(5),
        Column::words("subject", cells(&subject)),
        Column::words("site", cells(&|row| shorten(&clean(short_path(&of(row).site)), SITE))),
    ]);
    writeln!(out, "\nSubjects: the recorded events that samples were in")?;
    table.lines().try_for_each(|line| writeln!(out, "{line}"))?;
    if events.rows.len() > shown.len() {
        let more = grouped((events.rows.len() - shown.len()) as u64);
        writeln!(out, "… and {more} more: --top N or --top all shows them")?;
    }
    let percent = |samples: u64| format!("{} %", share(samples));
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
