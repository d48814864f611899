//! The sampler: what it costs, the rate that it holds, the time it takes to name a large program's
//! samples, and how much of a full profile `Mode::Sampled` finds (M30), and five published
//! programs. Beside it: `perf record`, samply and pprof-rs, where they are.
//!
//! `--rounds N` (15), `--only cost,rate,symbols,overlap,suites`, `--binary FILE` (a program with
//! debug information, in place of `metaspy` itself), `--smoke`.

mod cost;
mod overlap;
mod program;
mod rate;
mod suites;
mod symbols;

use std::process::ExitCode;

use metaspy_benches::child;

/// A figure beside its goal.
pub struct Goal {
    what: String,
    is: f64,
    limit: Limit,
}

/// What a figure must be.
pub enum Limit {
    /// This much or less.
    AtMost(f64),
    /// This much or more.
    AtLeast(f64),
}

impl Goal {
    fn print(&self) {
        let (word, value, is_met) = match self.limit {
            Limit::AtMost(most) => ("at most", most, self.is <= most),
            Limit::AtLeast(least) => ("at least", least, self.is >= least),
        };
        let verdict = if is_met { "met" } else { "MISSED" };
        println!("{:<64} {:>8.2}  {word} {value:.2}: {verdict}", self.what, self.is);
    }
}

fn main() -> ExitCode {
    // A program that `metaspy sample --timer` starts finds its ring.
    metaspy_sampler::environment::start();
    if let Some(case) = child::case() {
        match case.split_once(':') {
            Some(("layout", mode)) => overlap::run(mode),
            _ => program::run(&case),
        }
        return ExitCode::SUCCESS;
    }
    let only = child::option("--only");
    let parts: [(&str, fn() -> Result<Vec<Goal>, String>); 5] = [
        ("cost", cost::measure),
        ("rate", rate::measure),
        ("symbols", symbols::measure),
        ("overlap", overlap::measure),
        ("suites", suites::measure),
    ];
    let mut goals = Vec::new();
    for (name, measure) in parts {
        if only.as_ref().is_some_and(|only| !only.split(',').any(|part| part == name)) {
            continue;
        }
        match measure() {
            Ok(found) => goals.extend(found),
            Err(why) => {
                eprintln!("{name}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!();
    goals.iter().for_each(Goal::print);
    ExitCode::SUCCESS
}

/// Rounds of cases that are compared.
fn rounds() -> usize {
    match child::option("--rounds").and_then(|number| number.parse().ok()) {
        Some(rounds) => rounds,
        None if child::is_smoke() => 1,
        None => 15,
    }
}
