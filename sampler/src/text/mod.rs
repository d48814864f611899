//! Report for people, with the parts and the columns of *A detailed VM profiler for the Cog VM*
//! (figure 7).
//!
//! It has a header, a section for each owner of code with its functions and their ranges, the
//! methods with self and total time, and a trailer of process statistics.

mod functions;
mod header;
mod live;
mod methods;
mod subjects;

use std::io::{self, Write};

use metaspy_report::cpu::error_percent;
use metaspy_report::table::{Column, Table, Top};
use metaspy_report::text::{grouped, time};

use crate::profile::Profile;

pub use header::notes;
pub use live::write as write_live;

/// Selection of a report's parts.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Maximum number of functions in a section, and of methods.
    pub top: Top,
    /// Set to write the callers and callees of each method.
    pub callers: bool,
}

/// Default number of functions in a section, and of methods.
const TOP: usize = 10;

/// Writes a report.
pub fn write(out: &mut dyn Write, profile: &Profile, layout: Layout) -> io::Result<()> {
    let top = layout.top.limit(TOP);
    header::write(out, profile)?;
    if profile.total() > 0 {
        functions::write(out, profile, top)?;
        methods::write(out, profile, top, layout.callers)?;
        subjects::write(out, profile, top)?;
    }
    header::write_statistics(out, profile)
}

/// Formats a share with two decimals, in at most seven columns: `46.55%`, as in the paper.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}%", if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 })
}

/// Makes the columns of time, for rows of self samples, if they are known, and total samples: self
/// time with its share and its error, and total time with its share.
fn time_columns(
    profile: &Profile,
    rows: impl Iterator<Item = (Option<u64>, u64)> + Clone,
) -> Vec<Column> {
    let all = profile.total();
    let share = |samples: u64| format!("{:.1}", 100.0 * samples as f64 / all as f64);
    let own = |of: &dyn Fn(u64) -> String| -> Vec<String> {
        rows.clone().map(|(own, _)| own.map_or(String::new(), of)).collect()
    };
    vec![
        Column::numbers("self", own(&|samples| time(profile.ns(samples)))).at_least(9),
        Column::numbers("%", own(&share)).at_least(5),
        Column::numbers("±", own(&|samples| format!("{:.1}", error_percent(samples, all))))
            .at_least(4),
        Column::numbers("total", rows.clone().map(|(_, total)| time(profile.ns(total))))
            .at_least(9),
        Column::numbers("%", rows.map(|(_, total)| share(total))).at_least(5),
    ]
}

/// Writes a table, and the number of rows that it leaves out.
fn write_table(out: &mut dyn Write, columns: Vec<Column>, hidden: usize) -> io::Result<()> {
    Table::new(columns).lines().try_for_each(|line| writeln!(out, "{line}"))?;
    if hidden > 0 {
        writeln!(out, "… and {} more: --top N or --top all shows them", grouped(hidden as u64))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
