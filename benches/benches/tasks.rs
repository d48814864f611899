//! The cost of carrying a cause into a task: 100,000 tasks of tokio, plain, and by `tasks::spawn`,
//! armed and not armed. Each yields once, so it is polled twice. Then an uncontended lock,
//! likewise.
//!
//! `--rounds N` (9). By the processor time of the thread, on a runtime of one thread.

use std::hint::black_box;
use std::process::ExitCode;

use metaspy::Mode;
use metaspy::tasks::tasks;
use metaspy::{Profiler, Recording, locks, methods};
use metaspy_benches::clock::Took;
use metaspy_benches::report;
use metaspy_benches::rounds;
use metaspy_benches::stats::{median, quantile};
use serde::Serialize;
use tokio::runtime::Builder;

/// Tasks a round.
const TASKS: u64 = 100_000;
/// Tasks that there are at once.
const AT_ONCE: u64 = 1_000;
/// Locks a round.
const LOCKS: u64 = 100_000;

const CASES: [&str; 4] = ["plain", "unarmed", "tally", "full"];

/// A row.
#[derive(Serialize)]
struct Line {
    what: &'static str,
    case: &'static str,
    /// ns for one of them.
    ns: f64,
    low: f64,
    high: f64,
    ratio: f64,
}

async fn work() {
    tokio::task::yield_now().await;
}

/// Spawns all tasks, so many at once, and waits for them.
macro_rules! spawn {
    ($spawn:path) => {{
        let runtime = Builder::new_current_thread().build().expect("a runtime starts");
        let (took, ()) = Took::by(|| {
            runtime.block_on(async {
                let mut handles = Vec::with_capacity(AT_ONCE as usize);
                for _ in 0..TASKS / AT_ONCE {
                    handles.extend((0..AT_ONCE).map(|_| $spawn(work())));
                    for handle in handles.drain(..) {
                        handle.await.expect("it ends well");
                    }
                }
            })
        });
        took.each(TASKS).cpu
    }};
}

fn main() -> ExitCode {
    let recording = Recording::memory().start().expect("a recording starts");
    let (plain, watched) =
        (std::sync::Mutex::new(0_u64), locks::Mutex::new("tasks_bench::lock", 0_u64));
    let mut times: [[Vec<f64>; 4]; 2] = Default::default();
    for _ in 0..rounds::wanted() {
        for (case, at) in CASES.iter().zip(0..) {
            let mode = match *case {
                "tally" => Some(Mode::Tally),
                "full" => Some(Mode::Full),
                _ => None,
            };
            let installed = mode.map(|mode| {
                let profiler = Profiler::new("bench").observe(tasks().mode(mode));
                profiler
                    .observe(methods("tasks_bench::lock::*").mode(mode))
                    .install()
                    .expect("it is known")
            });
            times[0][at].push(if at == 0 {
                spawn!(tokio::spawn)
            } else {
                spawn!(metaspy::tasks::spawn)
            });
            let (took, ()) = Took::by(|| match at {
                0 => (0..LOCKS)
                    .for_each(|n| *plain.lock().expect("no holder panicked") += black_box(n)),
                _ => (0..LOCKS)
                    .for_each(|n| *watched.lock().expect("no holder panicked") += black_box(n)),
            });
            times[1][at].push(took.each(LOCKS).cpu);
            if let Some(installed) = installed {
                assert_eq!(installed.uninstall().counts().total(), TASKS + 2 * LOCKS, "{case}");
            }
        }
    }
    println!(
        "{TASKS} tasks, {LOCKS} locks a round; {} events lost\n",
        recording.store().totals().lost
    );
    println!("{:<6} {:<9} {:>9} {:>19} {:>7}", "what", "case", "ns", "quartiles", "ratio");
    let mut lines = Vec::new();
    for (what, times) in ["task", "lock"].into_iter().zip(&times) {
        for (case, own) in CASES.into_iter().zip(times) {
            let (ns, low, high) = (median(own), quantile(own, 0.25), quantile(own, 0.75));
            let ratios: Vec<f64> =
                own.iter().zip(&times[0]).map(|(ns, plain)| ns / plain).collect();
            let ratio = median(&ratios);
            println!("{what:<6} {case:<9} {ns:>9.1} {low:>9.1}-{high:<9.1} {ratio:>7.2}");
            lines.push(Line { what, case, ns, low, high, ratio });
        }
    }
    match report::write("tasks.json", &lines) {
        Ok(path) => println!("\nwritten to {}", path.display()),
        Err(error) => eprintln!("the results cannot be written: {error}"),
    }
    ExitCode::SUCCESS
}
