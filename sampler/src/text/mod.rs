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

use metaspy_report::table::Top;

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

#[cfg(test)]
mod tests;
