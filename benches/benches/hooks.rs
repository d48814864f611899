//! What one observed call costs: metaspy in each mode, the floor, and the peers.
//!
//! `--readme` prints the table of the README too. `--rounds N` (9), `--smoke` or
//! `METASPY_BENCH_SMOKE=1` for one tiny round without peers, `--only NAME,NAME`, `--cpu` to judge
//! by processor time on a busy machine.

use std::path::PathBuf;
use std::process::ExitCode;

use metaspy_benches::cases::CASES;
use metaspy_benches::child;
use metaspy_benches::report::{self, Budget, Clock, Line};
use metaspy_benches::rounds::{self, Runner, interleave};

/// Spans of peers: the case, its description, and `true` if it records every call with its time.
const PEERS: [(&str, &str, bool); 7] = [
    ("tracing_off", "tracing, no subscriber", false),
    ("tracing", "tracing, registry and a recording layer", true),
    ("fastrace", "fastrace, local spans", true),
    ("puffin", "puffin, scopes on", true),
    ("tracy", "tracy-client, no server", true),
    ("hotpath", "hotpath, measure", true),
    ("hotpath_sampled", "hotpath, 1 in 16 timed", false),
];

/// The rows of the README's table, before those of the peers.
const README: [(&str, &str); 10] = [
    ("unarmed", "a hook that is not armed"),
    ("tally_site", "counted by site"),
    ("tally_dense", "counted by subject, dense keys"),
    ("tally_wide", "counted by subject, arbitrary keys"),
    ("object", "full events for 1 of the 1,000 objects"),
    ("sampled", "an event each, 1 in 16 timed"),
    ("full", "**an event each, all timed**"),
    ("ten_profilers", "... for ten profilers at once"),
    ("file", "... into a `.spy` file"),
    ("floor", "the floor"),
];

fn main() -> ExitCode {
    if let Some(name) = child::case() {
        let case = CASES
            .iter()
            .find(|case| case.name == name)
            .expect("the parent asks for a case that there is");
        child::report(&case.run());
        return ExitCode::SUCCESS;
    }
    match interleave(&runners(), rounds::wanted()) {
        Ok(rows) => {
            let lines = report::lines(&rows, Clock::wanted());
            report::print(&lines);
            println!();
            report::print_budgets(&budgets(&lines));
            if std::env::args().any(|argument| argument == "--readme") {
                println!();
                report::print_readme(&lines, &README, &PEERS.map(|(case, what, _)| (case, what)));
            }
            match report::write("hooks.json", &lines) {
                Ok(path) => println!("\nwritten to {}", path.display()),
                Err(error) => eprintln!("the results cannot be written: {error}"),
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn runners() -> Vec<Runner> {
    let own = std::env::current_exe().expect("a bench knows its own program");
    let mut runners: Vec<Runner> = CASES
        .iter()
        .map(|case| Runner { case: case.name, what: case.what, program: own.clone() })
        .collect();
    let programs = (option_env!("CARGO_BIN_EXE_peers"), option_env!("CARGO_BIN_EXE_tracy"));
    if let ((Some(peers), Some(tracy)), false) = (programs, child::is_smoke()) {
        runners.extend(PEERS.map(|(case, what, _)| {
            let program = PathBuf::from(if case == "tracy" { tracy } else { peers });
            Runner { case, what, program }
        }));
    }
    if let Some(only) = child::option("--only") {
        let named: Vec<&str> = only.split(',').collect();
        // Everything is compared with these two.
        runners.retain(|runner| {
            ["plain", "floor"].contains(&runner.case) || named.contains(&runner.case)
        });
    }
    runners
}

/// Section 11 of the design.
fn budgets(lines: &[Line]) -> Vec<Budget> {
    let line = |case: &str| lines.iter().find(|line| line.case == case);
    let added = |case, what, pass| {
        line(case).map(|line| Budget { what, is: line.added_ns, pass, aim: pass })
    };
    let fastest = PEERS.iter().filter(|(.., records)| *records).filter_map(|(case, ..)| line(case));
    // By the clock that the rows were made with.
    let ns = |line: &Line| if Clock::wanted() == Clock::Cpu { line.cpu_ns } else { line.ns };
    let fastest = fastest.map(ns).min_by(f64::total_cmp);
    let full = line("full");
    let ratio = |other: Option<&Line>, what, pass, aim| {
        Some(Budget { what, is: ns(other?) / ns(full?), pass, aim })
    };
    let budgets = [
        added("unarmed", "unarmed: ns added", 0.6),
        added("tally_site", "tally by site: ns added", 1.0),
        added("tally_dense", "tally by subject, dense keys: ns added", 2.5),
        added("tally_wide", "tally by subject, arbitrary keys: ns added", 10.0),
        added("sampled", "sampled: ns added", 8.0),
        full.map(|full| Budget {
            what: "full: times the floor",
            is: full.floor_ratio,
            pass: 1.5,
            aim: 1.25,
        }),
        full.zip(fastest).map(|(full, fastest)| Budget {
            what: "full: times the fastest peer's span",
            is: ns(full) / fastest,
            pass: 0.5,
            aim: 0.4,
        }),
        ratio(line("ten_profilers"), "ten profilers: times one", 1.05, 1.0),
        ratio(line("two_threads"), "two threads, each: times one", 1.15, 1.15),
        ratio(line("file"), "file: times memory", 1.1, 1.1),
    ];
    budgets.into_iter().flatten().collect()
}
