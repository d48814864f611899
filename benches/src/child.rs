//! Each case runs in a process of its own, so that no global of one is another's.
//!
//! The child measures, checks and prints one line of JSON; the parent collects the lines.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::clock::Ns;
use crate::stats::median;
use crate::workload::{BATCH, Workload};

/// How much a case does.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Calls before the clock starts.
    pub warm: u64,
    /// Calls that are timed together: whole batches.
    pub calls: u64,
    /// How often that is repeated; the median counts.
    pub repetitions: usize,
}

impl Size {
    /// With this many calls before, and timed at once.
    pub const fn of(warm: u64, calls: u64) -> Size {
        Size { warm, calls, repetitions: 5 }
    }

    /// The same case for CI: it shows that everything works, and no number.
    pub const fn smoke(self) -> Size {
        Size { warm: 2 * BATCH, calls: 5 * BATCH, repetitions: 2 }
    }
}

/// Measured result of a case, which a child process reports.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct CaseResult {
    /// ns a call, by the clock on the wall.
    pub ns: f64,
    /// ns a call, on the processor.
    pub cpu_ns: f64,
    /// Events and counted calls that were read back.
    #[serde(default)]
    pub emitted: u64,
    /// Those that found no room in the log: counted, but not stored.
    #[serde(default)]
    pub lost: u64,
}

impl CaseResult {
    /// A measurement with nothing to read back.
    pub fn of(ns: Ns) -> CaseResult {
        CaseResult::default().taking(ns)
    }

    /// The same, with the time it took.
    pub fn taking(self, ns: Ns) -> CaseResult {
        CaseResult { ns: ns.wall, cpu_ns: ns.cpu, ..self }
    }
}

/// Runs a workload, and reports the median time of a call in ns.
pub fn time<T>(
    size: Size,
    workload: &mut Workload<T>,
    mut around: impl FnMut(&mut dyn FnMut()),
    one: impl Fn(&mut T, u64) -> u64,
) -> Ns {
    workload.run(size.warm, &mut around, &one);
    middle(
        (0..size.repetitions).map(|_| workload.run(size.calls, &mut around, &one).each(size.calls)),
    )
}

/// The median of repetitions.
pub fn middle(repetitions: impl Iterator<Item = Ns>) -> Ns {
    let (wall, cpu): (Vec<f64>, Vec<f64>) = repetitions.map(|ns| (ns.wall, ns.cpu)).unzip();
    Ns { wall: median(&wall), cpu: median(&cpu) }
}

/// The word that makes a program run one case.
pub const CHILD: &str = "--case";

/// The case that this process was started for; `None` in the parent.
pub fn case() -> Option<String> {
    option(CHILD)
}

/// The value of an option among the arguments: `--rounds 9`.
pub fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// True if only a tiny round runs.
pub fn is_smoke() -> bool {
    std::env::var_os(SMOKE).is_some_and(|value| value == "1")
        || std::env::args().any(|argument| argument == "--smoke")
}

const SMOKE: &str = "METASPY_BENCH_SMOKE";

/// Passes what the child measured to its parent.
pub fn report<T: Serialize>(found: &T) {
    println!("{}", serde_json::to_string(found).expect("numbers become JSON"));
}

/// Starts a program for one case, and reads what it reports.
pub fn start<T: for<'a> Deserialize<'a>>(
    program: &Path,
    case: &str,
    more: &[String],
) -> Result<T, String> {
    let mut command = Command::new(program);
    command.arg(CHILD).arg(case).args(more).env(SMOKE, if is_smoke() { "1" } else { "0" });
    // Whoever set these did not mean this bench.
    for variable in ["METASPY_RECORD", "METASPY_BUDGET", "RUST_LOG"] {
        command.env_remove(variable);
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{case} cannot start: {error}"))?;
    if !output.status.success() {
        return Err(format!("{case} failed: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|error| format!("{case} printed `{last}`: {error}"))
}
