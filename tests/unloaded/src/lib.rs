//! Records what it does, and closes the recording.

use metaspy::Recording;
use metaspy::prelude::*;

#[observe]
fn work() -> u32 {
    1
}

/// The number of recorded calls.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> u64 {
    let recording = Recording::memory().budget(4 << 20).start().expect("there is memory");
    let (_, profile) =
        Profiler::new("library").observe(methods("work")).profile(work).expect("it is observed");
    recording.close();
    profile.counts().total()
}
