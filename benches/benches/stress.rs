//! Threads at full speed for a while: what a recording holds afterwards, beside what the threads
//! counted themselves.
//!
//! `--seconds N` (60), `--threads 2,8`, `--policy newest,oldest,grow`, `--subjects N` (1,000),
//! `--mebibytes N` (64), `--file` to record *newest* into a file too, `--smoke` or
//! `METASPY_BENCH_SMOKE=1` for a fifth of a second of each.
//!
//! The bench fails if a call is counted twice or not at all, or if a subject's row differs from its
//! number of calls.

use std::process::ExitCode;

use metaspy_benches::child;
use metaspy_benches::stress::{Case, Measured};

fn main() -> ExitCode {
    if let Some(name) = child::case() {
        let case: Case = serde_json::from_str(&name).expect("the parent passes a case");
        child::report(&case.run());
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("a bench knows its own program");
    Measured::print_head();
    for case in Case::wanted() {
        let name = serde_json::to_string(&case).expect("a case becomes JSON");
        match child::start::<Measured>(&own, &name, &[]) {
            Ok(measured) => measured.print(&case),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
