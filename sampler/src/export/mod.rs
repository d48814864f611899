//! Samples as a page for a browser, and in the formats of other tools, one file each. Each is an
//! [`Exporter`] of a [`Profile`].

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

/// The name of a thread, as other tools show it.
fn thread_name(profile: &Profile, thread: u32) -> String {
    let thread = &profile.run.samples.threads[thread as usize];
    if thread.name.is_empty() { format!("thread {}", thread.tid) } else { thread.name.clone() }
}
