//! What sampling costs a program: its processor time, with each sampler and without one,
//! interleaved over rounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use metaspy_benches::report::target;
use metaspy_benches::stats::{median, quantile};
use metaspy_sampler::options::{Choice, Output};
use metaspy_sampler::{Options, Stacks, Target, sample};
use serde_json::Value;

use crate::program::{self, Measured, used_ns};
use crate::{Goal, Limit, rounds};

/// A sampler with its settings.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Unsampled,
    Ours {
        choice: Choice,
        stacks: Stacks,
        rate_hz: u32,
    },
    /// `perf record`, with the option for its stacks.
    Perf {
        graph: &'static str,
        rate_hz: u32,
    },
    /// samply, which copies 32 KiB of each stack.
    Samply,
    /// pprof-rs, in the program, by `setitimer`.
    Pprof,
}

const fn ours(stacks: Stacks, rate_hz: u32) -> Way {
    Way::Ours { choice: Choice::Best, stacks, rate_hz }
}

const fn timer(rate_hz: u32) -> Way {
    Way::Ours { choice: Choice::Timer, stacks: Stacks::Dwarf, rate_hz }
}

const WAYS: [(&str, Way); 11] = [
    ("not sampled", Way::Unsampled),
    ("metaspy, perf, dwarf, 1 kHz", ours(Stacks::Dwarf, 1_000)),
    ("metaspy, perf, dwarf, 100 Hz", ours(Stacks::Dwarf, 100)),
    ("metaspy, perf, fp, 1 kHz", ours(Stacks::FramePointers, 1_000)),
    ("metaspy, timer, 1 kHz", timer(1_000)),
    ("metaspy, timer, 100 Hz", timer(100)),
    ("perf record, dwarf, 1 kHz", Way::Perf { graph: "dwarf,16384", rate_hz: 1_000 }),
    ("perf record, dwarf, 100 Hz", Way::Perf { graph: "dwarf,16384", rate_hz: 100 }),
    ("perf record, fp, 1 kHz", Way::Perf { graph: "fp", rate_hz: 1_000 }),
    ("samply, 1 kHz", Way::Samply),
    ("pprof-rs, 1 kHz", Way::Pprof),
];

/// Cost of a run with a sampler.
struct SamplerCost {
    program: Measured,
    /// Processor time of the sampler itself, in ns.
    sampler_ns: f64,
}

/// Runs all ways in each round, each time beginning with another one.
pub fn measure() -> Result<Vec<Goal>, String> {
    let ways: Vec<_> = WAYS.iter().filter(|(name, way)| is_there(name, *way)).collect();
    let mut found: Vec<Vec<SamplerCost>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds() {
        eprint!("\rcost: round {} of {} ", round + 1, rounds());
        for step in 0..ways.len() {
            let at = (round + step) % ways.len();
            found[at].push(run(ways[at].1).map_err(|why| format!("{}: {why}", ways[at].0))?);
        }
    }
    eprintln!();
    println!(
        "\n{:<30} {:>8} {:>15} {:>8} {:>9} {:>9}",
        "cost", "cpu +%", "quartiles", "wall +%", "Hz", "sampler %"
    );
    let mut goals = Vec::new();
    for ((name, way), runs) in ways.iter().zip(&found) {
        let added = |of: fn(&Measured) -> f64| -> Vec<f64> {
            let pairs = runs.iter().zip(&found[0]);
            pairs.map(|(run, base)| 100.0 * (of(&run.program) / of(&base.program) - 1.0)).collect()
        };
        let (cpu, wall) = (added(|it| it.cpu_ns), added(|it| it.wall_ns));
        let each = |of: fn(&SamplerCost) -> f64| median(&runs.iter().map(of).collect::<Vec<_>>());
        println!(
            "{name:<30} {:>8.2} {:>7.2} {:>7.2} {:>8.2} {:>9.0} {:>9.2}",
            median(&cpu),
            quantile(&cpu, 0.25),
            quantile(&cpu, 0.75),
            median(&wall),
            each(|run| run.program.samples * 1e9 / run.program.cpu_ns),
            each(|run| 100.0 * run.sampler_ns / run.program.cpu_ns),
        );
        if let Way::Ours { rate_hz, .. } = way {
            let limit = Limit::AtMost(if *rate_hz > 100 { 5.0 } else { 1.0 });
            goals.push(Goal {
                what: format!("cost of {name}: % of processor time"),
                is: median(&cpu),
                limit,
            });
        }
    }
    Ok(goals)
}

/// True if a sampler is installed, and may be used.
fn is_there(name: &str, way: Way) -> bool {
    let mut command = match way {
        Way::Perf { .. } => Command::new("perf"),
        Way::Samply => Command::new(samply()),
        _ => return true,
    };
    let command = match way {
        // It refuses where the kernel permits less than it asks for.
        Way::Samply => {
            command.args(["record", "--save-only", "--no-open", "-o", "/dev/null", "--", "true"])
        }
        _ => command.arg("--version"),
    };
    match command.output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => {
            println!("SKIPPED: {name}: {}", String::from_utf8_lossy(&output.stderr).trim())
        }
        Err(error) => println!("SKIPPED: {name}: {error}"),
    }
    false
}

/// The path in `SAMPLY`, or the program of that name.
fn samply() -> PathBuf {
    std::env::var_os("SAMPLY").map_or("samply".into(), PathBuf::from)
}

/// Runs the program once.
fn run(way: Way) -> Result<SamplerCost, String> {
    let words = program::command(if way == Way::Pprof { "pprof" } else { "work" })?;
    let file = target().join("sampled.out");
    let before = used_ns();
    let samples = match way {
        Way::Unsampled | Way::Pprof => {
            start(Command::new(&words[0]).args(&words[1..]))?;
            None
        }
        Way::Ours { choice, stacks, rate_hz } => {
            let options = Options {
                back_end: choice,
                stacks,
                rate_hz,
                output: Output::Shared,
                ..Options::default()
            };
            let run = sample(&Target::Command(words), &options, &AtomicBool::new(false))
                .map_err(|it| it.to_string())?;
            Some(run.samples.samples.len() as f64)
        }
        Way::Perf { graph, rate_hz } => {
            let mut perf = Command::new("perf");
            perf.args([
                "record",
                "-e",
                "cpu-clock",
                "-F",
                &rate_hz.to_string(),
                "--call-graph",
                graph,
                "-o",
            ]);
            let text = start(perf.arg(&file).arg("--").args(words))?;
            // `[ perf record: Captured and wrote 0.072 MB FILE (123 samples) ]`
            text.rsplit_once(" samples)")
                .and_then(|(head, _)| head.rsplit_once('(')?.1.parse().ok())
        }
        Way::Samply => {
            let mut samply = Command::new(samply());
            samply.args(["record", "--save-only", "--no-open", "--rate", "1000", "-o"]);
            start(samply.arg(&file).arg("--").args(words))?;
            samples_of_firefox(&file)
        }
    };
    let _ = fs::remove_file(&file);
    let mut program = program::result()?;
    program.samples += samples.unwrap_or(0.0);
    Ok(SamplerCost { program, sampler_ns: (used_ns() - before - program.cpu_ns).max(0.0) })
}

/// Runs a command; returns what it wrote to standard error.
fn start(command: &mut Command) -> Result<String, String> {
    let output = command.stdout(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{}: {text}", output.status)) }
}

/// The samples in a profile of the Firefox Profiler.
fn samples_of_firefox(file: &Path) -> Option<f64> {
    let profile: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let threads = profile["threads"].as_array()?;
    Some(threads.iter().filter_map(|thread| thread["samples"]["length"].as_f64()).sum())
}
