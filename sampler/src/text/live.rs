//! Live view of a run on a single screen: the methods of the last seconds, the lines of the hottest
//! function, and the subjects.

use std::io::{self, Write};

use metaspy_report::table::Top;
use metaspy_report::text::{clean, counted, grouped};

use crate::profile::Profile;
use crate::text::{functions, methods, subjects};

/// Default number of rows in a table.
const TOP: usize = 8;

/// Writes the view for [`sample_live`](crate::sample_live).
pub fn write(out: &mut dyn Write, profile: &Profile, top: Top) -> io::Result<()> {
    let run = &profile.run;
    let top = top.limit(TOP);
    let times = || run.samples.samples.iter().map(|sample| sample.time_ns);
    let window_ns = times().max().unwrap_or(0) - times().min().unwrap_or(0) + profile.sample_ns;
    let cpu_ns: u64 = profile.cpu_ns.iter().sum();
    writeln!(
        out,
        "{}  process {}  {:.0} s; the last {:.1} s: {:.2} processors busy; {}, {} samples in {}, {} lost so far",
        clean(&run.target.join(" ")),
        run.pid,
        run.elapsed.as_secs_f64(),
        window_ns as f64 / 1e9,
        cpu_ns as f64 / window_ns.max(1) as f64,
        run.back_end,
        grouped(profile.total()),
        counted(run.samples.threads.len() as u64, "thread"),
        grouped(run.samples.counts.lost),
    )?;
    if profile.total() == 0 {
        return writeln!(out, "there are no samples yet: its threads wait");
    }
    methods::write(out, profile, top, false)?;
    functions::write_hottest(out, profile)?;
    subjects::write(out, profile, top)
}
