//! Samples as a page for a browser, and in the formats of other tools, one file each.

pub mod collapsed;
pub mod flame;
pub mod speedscope;

use crate::profile::Profile;

/// The name of a thread, as other tools show it.
fn thread_name(profile: &Profile, thread: u32) -> String {
    let thread = &profile.run.samples.threads[thread as usize];
    if thread.name.is_empty() { format!("thread {}", thread.tid) } else { thread.name.clone() }
}
