//! The two benchmarks of the MetaSpy paper (section 6; M29).
//!
//! A million calls of an instrumented method, where the paper's cost 35 times the plain call; and a
//! thousand re-layouts of the story's page with every node's layout method observed, where the
//! paper's cost 20 %. A re-layout comes in two cases: the whole page is dirty, and one letter has
//! changed.
//!
//! `--rounds N` (9), `--relayouts N` (1,000), `--cpu`, `--smoke`.

use std::process::ExitCode;

use metaspy::Installation;
use metaspy::Mode;
use metaspy::instrumenter::Arming;
use metaspy::{InstallError, Installed, Instrumenter, Profiler, Recording, Session, site};
use metaspy_benches::arming::observe;
use metaspy_benches::child::{self, CaseResult, Size, time};
use metaspy_benches::clock::Took;
use metaspy_benches::report::{self, Budget, Clock};
use metaspy_benches::rounds::{self, CaseRounds, Runner, interleave};
use metaspy_benches::stats::median;
use metaspy_benches::things::Thing;
use metaspy_benches::workload::{Workload, nothing};
use metaspy_layout_story::Page;
use metaspy_layout_story::bench::{Case, Relayouts};

/// Cases of a million calls.
const CALLS: [(&str, &str); 6] = [
    ("plain", "a million plain calls"),
    ("floor", "... between two reads of the clock"),
    ("off", "... with a hook that is not armed"),
    ("tally", "... counted by subject"),
    ("sampled", "... an event each, 1 in 16 timed"),
    ("full", "... an event each, all timed"),
];

/// Cases of re-layouts.
const RELAYOUTS: [(&str, &str); 8] = [
    ("whole_off", "the whole page is dirty, not armed"),
    ("whole_tally", "... layouts counted by node"),
    ("whole_sampled", "... an event each, 1 in 16 timed"),
    ("whole_full", "... an event each, all timed"),
    ("one_off", "one letter has changed, not armed"),
    ("one_tally", "... layouts counted by node"),
    ("one_sampled", "... an event each, 1 in 16 timed"),
    ("one_full", "... an event each, all timed"),
];

fn main() -> ExitCode {
    if let Some(name) = child::case() {
        child::report(&run(&name));
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("a bench knows its own program");
    let runner =
        |&(case, what): &(&'static str, &'static str)| Runner { case, what, program: own.clone() };
    let runners: Vec<Runner> = CALLS.iter().chain(&RELAYOUTS).map(runner).collect();
    match interleave(&runners, rounds::wanted()) {
        Ok(rows) => {
            let (calls, relayouts) = rows.split_at(CALLS.len());
            print(calls, "plain", "ns a call", 1.0);
            print(&relayouts[..4], "whole_off", "us a re-layout", 1e3);
            print(&relayouts[4..], "one_off", "us a re-layout", 1e3);
            println!();
            report::print_budgets(&budgets(&rows));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one case.
fn run(case: &str) -> CaseResult {
    let mode = match case.rsplit('_').next().unwrap_or_default() {
        "tally" => Mode::Tally,
        "sampled" => Mode::Sampled,
        "full" => Mode::Full,
        _ => Mode::Off,
    };
    match case.split_once('_') {
        Some(("whole", _)) => relayouts(Case::WholePage, mode),
        Some(("one", _)) => relayouts(Case::OneChange, mode),
        _ => calls(case, mode),
    }
}

fn calls(case: &str, mode: Mode) -> CaseResult {
    let size = Size::of(100_000, 1_000_000);
    let size = if child::is_smoke() { size.smoke() } else { size };
    let mut workload = Workload::new(1_000, 1, Thing::new);
    let recording = Recording::memory().start().expect("a recording starts");
    let by_dense = site!(Thing::by_dense).site();
    let _installed = (mode != Mode::Off).then(|| observe(&[by_dense], Arming::all(mode)));
    let ns = match case {
        "plain" => time(size, &mut workload, nothing, Thing::plain),
        "floor" => time(size, &mut workload, nothing, Thing::between_clocks),
        _ => time(size, &mut workload, nothing, Thing::by_dense),
    };
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, if mode == Mode::Off { 0 } else { workload.done() }, "{totals:?}");
    CaseResult { emitted: totals.emitted, lost: totals.lost, ..CaseResult::of(ns) }
}

/// Every node's layout method.
struct Layouts(Mode);

impl Instrumenter for Layouts {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"Scene::layout".parse()?, &Arming::all(self.0))?;
        Ok(Installation::none())
    }
}

fn install(mode: Mode) -> Option<Installed> {
    let profiler = Profiler::new("layouts").observe(Layouts(mode));
    (mode != Mode::Off).then(|| profiler.install().expect("the story has layouts"))
}

fn relayouts(case: Case, mode: Mode) -> CaseResult {
    let wanted =
        child::option("--relayouts").and_then(|number| number.parse().ok()).unwrap_or(1_000);
    let times = if child::is_smoke() { 4 } else { wanted };
    let mut page =
        Relayouts::of(Page::shipped().scene()).expect("the shipped page can be laid out");
    page.run(case, (times / 10).max(2)).expect("it still can");
    let recording = Recording::memory().start().expect("a recording starts");
    let _installed = install(mode);
    let before = page.scene().counts().layouts;
    let (took, sum) = Took::by(|| page.run(case, times));
    assert!(sum.is_ok_and(|sum| sum > 0.0));
    let layouts = page.scene().counts().layouts - before;
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, if mode == Mode::Off { 0 } else { layouts }, "{totals:?}");
    // The layouts are in the column of events: one event for each.
    let each = CaseResult {
        emitted: layouts / times as u64,
        lost: totals.lost / times as u64,
        ..CaseResult::default()
    };
    each.taking(took.each(times as u64))
}

/// What the rounds found, by the clock that is wanted.
fn values(row: &CaseRounds) -> Vec<f64> {
    let by = Clock::wanted();
    row.rounds.iter().map(|found| if by == Clock::Wall { found.ns } else { found.cpu_ns }).collect()
}

/// Each row beside its base, paired by round.
fn ratio(rows: &[CaseRounds], case: &str, base: &str) -> Option<f64> {
    let of = |case: &str| rows.iter().find(|row| row.case == case).map(values);
    Some(median(&of(case)?.iter().zip(of(base)?).map(|(own, base)| own / base).collect::<Vec<_>>()))
}

fn print(rows: &[CaseRounds], base: &str, unit: &str, scale: f64) {
    println!("\n{:<14} {unit:>14} {:>9} {:>10} {:>8}  what", "case", "x base", "events", "lost");
    for row in rows {
        let ns = median(&values(row)) / scale;
        let times = ratio(rows, row.case, base).unwrap_or(f64::NAN);
        let found = row.rounds.last().copied().unwrap_or_default();
        println!(
            "{:<14} {ns:>14.2} {times:>9.3} {:>10} {:>8}  {}",
            row.case, found.emitted, found.lost, row.what
        );
    }
}

/// The measured figures.
fn budgets(rows: &[CaseRounds]) -> Vec<Budget> {
    let percent = |case, base, what, pass| {
        Some(Budget { what, is: (ratio(rows, case, base)? - 1.0) * 100.0, pass, aim: pass })
    };
    let ns = |case: &str| rows.iter().find(|row| row.case == case).map(|row| median(&values(row)));
    let clocks = || {
        let events = rows.iter().find(|row| row.case == "whole_full")?.rounds.last()?.emitted;
        let added = (ns("whole_full")? - ns("whole_off")?) / events as f64;
        let is = added / (ns("floor")? - ns("plain")?);
        Some(Budget {
            what: "whole page, full: added, times two clock reads",
            is,
            pass: 1.5,
            aim: 1.25,
        })
    };
    let calls =
        |case, what| Some(Budget { what, is: ratio(rows, case, "plain")?, pass: 35.0, aim: 35.0 });
    let budgets = [
        calls("full", "a million calls, full: times plain (the paper: 35)"),
        calls("tally", "a million calls, tally: times plain"),
        percent("whole_tally", "whole_off", "whole page, tally: % added", 5.0),
        percent("whole_sampled", "whole_off", "whole page, sampled: % added", 12.0),
        percent("whole_full", "whole_off", "whole page, full: % added (the paper: 20)", 20.0),
        clocks(),
        percent("one_full", "one_off", "one change, full: % added", 3.0),
    ];
    budgets.into_iter().flatten().collect()
}
