//! The test suite of a published crate, plain and woven.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::{Line, row};
use metaspy_benches::package::Package;

const CRATE: &str = "taffy";

/// Variables, and what they say.
type Environment = &'static [(&'static str, &'static str)];

/// The suite as it is built, and its environment.
const CASES: [(&str, bool, Environment); 7] = [
    ("plain", false, &[]),
    ("woven, not armed", true, &[]),
    ("counted", true, &[("METASPY_RECORD", "live"), ("METASPY_MODE", "tally")]),
    ("coverage", true, &[("METASPY_PROFILE", "coverage")]),
    ("callers and time", true, &[("METASPY_PROFILE", "calls")]),
    // As `cargo metaspy test` with `--timed` and with `--contexts`.
    ("coverage, callers and time", true, &[("METASPY_PROFILE", "coverage,calls")]),
    ("coverage and contexts", true, &[("METASPY_PROFILE", "coverage,contexts")]),
];

/// What *Spy: A flexible code profiling framework* reports of such cases, of its own benchmarks and
/// suites: times the plain one.
const SPY: [(&str, &str, f64); 2] = [
    ("woven, not armed", "empty wrapping", 1.25),
    ("coverage", "coverage of Mondrian's tests", 3.0),
];

/// Measures the run time of the suite, optimised, on one thread: so many runs of it a sample.
pub fn measure(command: &Path, rounds: usize) -> Vec<Line> {
    let package = Package::published(CRATE);
    let plain =
        built(&package, Path::new(env!("CARGO")), &["test", "--no-run", "--lib", "--release"]);
    let woven = Package { dir: package.dir.clone(), target: package.target.join("woven") };
    let woven = built(&woven, command, &["metaspy", "build", "--tests", "--lib", "--release"]);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); CASES.len()];
    for round in 0..rounds {
        eprint!("\rsuite: round {} of {rounds} ", round + 1);
        for step in 0..CASES.len() {
            let at = (round + step) % CASES.len();
            let (_, is_woven, environment) = CASES[at];
            found[at].push(time(if is_woven { &woven } else { &plain }, environment));
        }
    }
    eprintln!();
    let mut lines = Vec::new();
    for (at, (case, ..)) in CASES.iter().enumerate() {
        lines.push(row("suite", case, &found[at], &found[0], "s"));
        for (_, what, ratio) in SPY.iter().filter(|(beside, ..)| beside == case) {
            println!("{:<8} {what:<36} {ratio:>9.2} x", "  SPY");
        }
    }
    lines
}

/// The program of the tests.
fn built(package: &Package, program: &Path, line: &[&str]) -> PathBuf {
    let output =
        package.command(program, line).arg("--message-format=json").output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    let messages =
        text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    programs.next().expect("it has a program")
}

/// Seconds of two runs.
fn time(program: &Path, environment: Environment) -> f64 {
    let dir = std::env::temp_dir().join(format!("metaspy-bench-{}", std::process::id()));
    let started = Instant::now();
    for _ in 0..2 {
        let mut command = Command::new(program);
        command
            .args(["--test-threads=1", "--quiet"])
            .envs(environment.iter().copied())
            .env("METASPY_DIR", &dir);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let took = started.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(dir);
    took
}
