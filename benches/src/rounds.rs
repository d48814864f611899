//! Cases, interleaved over rounds: what disturbs the machine for a while disturbs them all.

use std::path::PathBuf;

use crate::child::{self, CaseResult};

/// A case and the program that runs it.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The case.
    pub case: &'static str,
    /// What it is.
    pub what: &'static str,
    /// The program.
    pub program: PathBuf,
}

/// A case and its result in each round.
#[derive(Clone, Debug)]
pub struct CaseRounds {
    /// The case.
    pub case: &'static str,
    /// What it is.
    pub what: &'static str,
    /// One for each round.
    pub rounds: Vec<CaseResult>,
}

/// Runs all cases in each round, each time beginning with another one.
pub fn interleave(runners: &[Runner], rounds: usize) -> Result<Vec<CaseRounds>, String> {
    let mut rows: Vec<CaseRounds> = runners
        .iter()
        .map(|runner| CaseRounds { case: runner.case, what: runner.what, rounds: Vec::new() })
        .collect();
    for round in 0..rounds {
        eprint!("\rround {} of {rounds} ", round + 1);
        for step in 0..runners.len() {
            let at = (round + step) % runners.len();
            rows[at].rounds.push(child::start(&runners[at].program, runners[at].case, &[])?);
        }
    }
    eprintln!();
    Ok(rows)
}

/// The number behind `--rounds`, else 9, and 1 in a smoke test.
pub fn wanted() -> usize {
    child::option("--rounds")
        .and_then(|number| number.parse().ok())
        .unwrap_or(if child::is_smoke() { 1 } else { 9 })
}
