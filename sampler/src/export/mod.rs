//! Exporters of a [`Profile`]: a page for a browser, and the formats of other tools. Each format
//! has a file, and implements [`Exporter`].

mod collapsed;
mod firefox;
mod flame;
mod pprof;
mod speedscope;

pub use collapsed::Collapsed;
pub use flame::Flame;
pub use metaspy_report::export::{Exporter, Firefox, Speedscope};
pub use pprof::Pprof;

use crate::profile::Profile;

/// Formats a thread's name and number.
fn thread_name(profile: &Profile, thread: u32) -> String {
    let thread = &profile.run.samples.threads[thread as usize];
    if thread.name.is_empty() { format!("thread {}", thread.tid) } else { thread.name.clone() }
}
