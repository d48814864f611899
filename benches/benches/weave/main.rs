//! What weaving costs: a call of a woven function in each mode, the build of a published crate, its
//! test suite, and whole programs of small functions, beside the compiler's own counters.
//!
//! `--rounds N` (9), `--only calls,builds,suite,programs`, `--crates NAME,…` (programs),
//! `--weaver PATH` (a `cargo-metaspy` in place of the one of this repository). Builds are measured
//! in a third of the rounds. In the suite's table the figures of *Spy: A flexible code profiling
//! framework* stand beside ours: 25 % for empty wrapping, and three times the time for coverage.

mod builds;
mod calls;
mod programs;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use metaspy_benches::child;
use metaspy_benches::report::target;
use metaspy_benches::rounds;
use metaspy_benches::weaver::weaver;

/// A measured row, as a line of JSON in `target/weave.json`.
#[derive(serde::Serialize)]
struct Line {
    what: &'static str,
    case: &'static str,
    /// What it took: nanoseconds a call, else seconds; of whole programs only ratios are kept.
    took: Option<f64>,
    /// To what it is compared.
    ratio: f64,
    added: Option<f64>,
    /// The ratio of instructions, where valgrind counted them.
    instructions: Option<f64>,
}

fn main() -> ExitCode {
    let rounds = rounds::wanted();
    let only = child::option("--only");
    let is_wanted =
        |part: &str| only.as_ref().is_none_or(|only| only.split(',').any(|it| it == part));
    let command = child::option("--weaver").map_or_else(weaver, PathBuf::from);
    let mut lines = Vec::new();
    if is_wanted("calls") {
        lines.extend(calls::measure(&command, rounds));
    }
    if is_wanted("builds") {
        lines.extend(builds::measure(&command, rounds.div_ceil(3)));
    }
    if is_wanted("suite") {
        lines.extend(suite::measure(&command, rounds));
    }
    if is_wanted("programs") {
        lines.extend(programs::measure(&command));
    }
    let text: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).expect("it is JSON")).collect();
    std::fs::write(target().join("weave.json"), text.join("\n") + "\n").expect("it is written");
    ExitCode::SUCCESS
}

/// Prints the rows of one table: the median, what it is compared to, and what it adds.
fn row(what: &'static str, case: &'static str, took: &[f64], base: &[f64], unit: &str) -> Line {
    use metaspy_benches::stats::{median, quantile};
    let paired = |f: fn(f64, f64) -> f64| {
        median(&took.iter().zip(base).map(|(a, b)| f(*a, *b)).collect::<Vec<_>>())
    };
    let (ratio, added) = (paired(|a, b| a / b), paired(|a, b| a - b));
    println!(
        "{what:<8} {case:<26} {:>8.2} {unit} {ratio:>8.2} x {added:>+9.2} {unit}   {:.2} to {:.2}",
        median(took),
        quantile(took, 0.25),
        quantile(took, 0.75)
    );
    Line { what, case, took: Some(median(took)), ratio, added: Some(added), instructions: None }
}
