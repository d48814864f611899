//! Builds of a published crate: from nothing, and with nothing to do.

use std::fs;
use std::path::Path;

use crate::package::Package;
use crate::{Line, row};

/// What is built: a layout engine of some 30,000 lines.
const CRATE: &str = "taffy";

/// Measures plain and woven builds, interleaved. The core that programs are given is built once before.
pub fn measure(command: &Path, rounds: usize) -> Vec<Line> {
    let package = Package::published(CRATE);
    let cargo = Path::new(env!("CARGO"));
    let cases: [(&str, &Path, &[&str]); 3] = [
        ("plain", cargo, &["test", "--no-run", "--lib", "--quiet"]),
        ("woven", command, &["metaspy", "test", "--no-run", "--lib", "--quiet"]),
        ("woven, returns seen", command, &["metaspy", "test", "--no-run", "--lib", "--quiet", "--returns"]),
    ];
    let mut first: [Vec<f64>; 3] = Default::default();
    let mut second: [Vec<f64>; 3] = Default::default();
    for (_, program, line) in &cases {
        package.time(program, line);
    }
    for round in 0..rounds {
        for step in 0..cases.len() {
            eprint!("\rbuilds: round {} of {rounds}, {} of {} ", round + 1, step + 1, cases.len());
            let at = (round + step) % cases.len();
            let (_, program, line) = cases[at];
            for built in ["debug", "metaspy/debug"] {
                let _ = fs::remove_dir_all(package.target.join(built));
            }
            first[at].push(package.time(program, line));
            second[at].push(package.time(program, line));
        }
    }
    eprintln!();
    let mut lines = Vec::new();
    for (at, (case, ..)) in cases.iter().enumerate() {
        lines.push(row("build", case, &first[at], &first[0], "s"));
    }
    for (at, (case, ..)) in cases.iter().enumerate() {
        lines.push(row("again", case, &second[at], &second[0], "s"));
    }
    lines
}
