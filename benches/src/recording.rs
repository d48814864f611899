//! A large recording, for the benches that read one: calls on many subjects, by the thousand under
//! a batch.
//!
//! `--events 10M`, `--subjects 1M`.

use std::path::Path;
use std::time::Instant;

use metaspy::instrumenter::Arming;
use metaspy::recording::Policy;
use metaspy::{Mode, Recording, site};

use crate::arming::observe;
use crate::child::{self, CaseResult, option};
use crate::things::{self, Thing, batch};
use crate::workload::{BATCH, Workload};

/// `100M` is a number.
pub fn number(name: &str, default: u64) -> u64 {
    let Some(text) = option(name) else { return default };
    let unit = match text.as_bytes().last() {
        Some(b'k' | b'K') => 1_000,
        Some(b'm' | b'M') => 1_000_000,
        _ => 1,
    };
    text.trim_end_matches(['k', 'K', 'm', 'M'])
        .parse::<u64>()
        .map_or(default, |number| number * unit)
}

/// Makes a recording in a file: calls on many subjects, by the thousand under a batch.
pub fn make(path: &Path) -> CaseResult {
    let smoke = child::is_smoke();
    let events = number("--events", if smoke { 20_000 } else { 10_000_000 });
    let subjects = number("--subjects", if smoke { 100 } else { 1_000_000 });
    let recording =
        Recording::file(path).policy(Policy::Grow).start().expect("the file can be made");
    let installed = observe(
        &[site!(Thing::by_dense).site(), site!(things::batch).site()],
        Arming::all(Mode::Full),
    );
    let mut workload = Workload::new(subjects as usize, 1, Thing::new);
    let began = Instant::now();
    while workload.done() < events {
        workload.run(BATCH, |run| batch(run), Thing::by_dense);
        // At the speed of the disk, so that nothing is lost.
        if workload.done().is_multiple_of(100 * BATCH) {
            recording.collect();
        }
    }
    let ns = began.elapsed().as_nanos() as f64 / workload.done() as f64;
    drop(installed);
    recording.close();
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, workload.done() + workload.done() / BATCH, "{totals:?}");
    CaseResult { ns, cpu_ns: ns, emitted: totals.emitted, lost: totals.lost }
}
