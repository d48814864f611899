//! Builds of a published crate: from nothing, and with nothing to do.

use std::fs;
use std::path::Path;

use crate::{Line, row};
use metaspy_benches::package::Package;

/// What is built: a layout engine of some 30,000 lines.
const CRATE: &str = "taffy";

/// Which builds, and to which of them each is compared. The crate's own release profile has
/// link-time optimisation, of the core, too.
const CASES: [(&str, bool, &[&str], usize); 5] = [
    ("plain", false, &[], 0),
    ("woven", true, &[], 0),
    ("woven, returns seen", true, &["--returns"], 0),
    ("optimised, plain", false, &["--release"], 3),
    ("optimised, woven", true, &["--release"], 3),
];

/// Measures plain and woven builds, interleaved. The core that programs are given is built once
/// before.
pub fn measure(command: &Path, rounds: usize) -> Vec<Line> {
    let package = Package::published(CRATE);
    let time = |at: usize| {
        let (_, is_woven, flags, _) = CASES[at];
        let (program, first) = if is_woven {
            (command, &["metaspy"][..])
        } else {
            (Path::new(env!("CARGO")), &[][..])
        };
        package.time(program, &[first, &["test", "--no-run", "--lib", "--quiet"], flags].concat())
    };
    let mut first: [Vec<f64>; CASES.len()] = Default::default();
    let mut second: [Vec<f64>; CASES.len()] = Default::default();
    time(1);
    for round in 0..rounds {
        for step in 0..CASES.len() {
            eprint!("\rbuilds: round {} of {rounds}, {} of {} ", round + 1, step + 1, CASES.len());
            let at = (round + step) % CASES.len();
            for built in ["debug", "release", "metaspy/debug", "metaspy/release"] {
                let _ = fs::remove_dir_all(package.target.join(built));
            }
            first[at].push(time(at));
            second[at].push(time(at));
        }
    }
    eprintln!();
    let mut lines = Vec::new();
    for (what, found) in [("build", &first), ("again", &second)] {
        lines.extend(
            CASES
                .iter()
                .zip(found)
                .map(|((case, .., base), took)| row(what, case, took, &found[*base], "s")),
        );
    }
    lines
}
