//! Samples in the formats of other tools, one file each. Each stack begins with the name of its thread.

pub mod collapsed;
pub mod speedscope;

use crate::profile::Profile;

/// The name of a thread, as other tools show it.
fn thread_name(profile: &Profile, thread: u32) -> String {
    let thread = &profile.run.samples.threads[thread as usize];
    if thread.name.is_empty() { format!("thread {}", thread.tid) } else { thread.name.clone() }
}
