//! Naming a million samples of a program of 100 MB with debug information: `metaspy` itself, as it
//! is built for tests.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, SystemTime};

use metaspy_benches::child;
use metaspy_sampler::run::{Ended, Run};
use metaspy_sampler::samples::{
    CodeLocation, Counts, Module, NO_EVENT, Sample, Samples, Stack, StackEnd, Thread,
};
use metaspy_sampler::statistics::Statistics;
use metaspy_sampler::{Options, Profile, text};
use object::read::ReadCache;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::program::processor_ns;
use crate::{Goal, Limit};

/// Samples.
const SAMPLES: u32 = 1_000_000;
/// Frames of each.
const FRAMES: usize = 20;
/// Distinct stacks of each address.
const STACKS: u32 = 2;

/// Names samples at 100,000 and at a million distinct addresses, and writes the report.
pub fn measure() -> Result<Vec<Goal>, String> {
    let program = match child::option("--binary") {
        Some(file) => PathBuf::from(file),
        None if child::is_smoke() => std::env::current_exe().map_err(|error| error.to_string())?,
        None => build()?,
    };
    let megabytes =
        program.metadata().map_err(|error| format!("{}: {error}", program.display()))?.len() as f64
            / 1e6;
    let code = functions(&program)?;
    println!(
        "\n{:<30} {:>9} {:>9} {:>9} {:>9}",
        "symbols of a million samples", "MB", "addresses", "named %", "cpu s"
    );
    let (samples, cases) =
        if child::is_smoke() { (1_000, [100, 1_000]) } else { (SAMPLES, [100_000, SAMPLES]) };
    let mut goals = Vec::new();
    for addresses in cases {
        let run = synthetic(&program, &code, addresses, samples);
        let began = processor_ns();
        let profile = Profile::new(run);
        let layout = text::Layout { top: Default::default(), callers: false };
        text::write(&mut io::sink(), &profile, layout).map_err(|error| error.to_string())?;
        let seconds = (processor_ns() - began) as f64 / 1e9;
        let has_line = |resolved: &&metaspy_sampler::symbols::Resolved| {
            resolved.frames.iter().any(|it| it.line > 0)
        };
        let named =
            profile.symbols.addresses.iter().filter(has_line).count() as f64 / f64::from(addresses);
        println!(
            "{:<30} {megabytes:>9.0} {addresses:>9} {:>9.1} {seconds:>9.2}",
            "",
            named * 100.0
        );
        let what = format!(
            "a million samples at {addresses} addresses, {megabytes:.0} MB: s of processor time"
        );
        goals.push(Goal { what, is: seconds, limit: Limit::AtMost(5.0) });
    }
    Ok(goals)
}

/// Where the functions of a program are.
fn functions(program: &Path) -> Result<Vec<(u64, u64)>, String> {
    let refused = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
    let cache = ReadCache::new(File::open(program).map_err(|error| refused(&error))?);
    let file = object::File::parse(&cache).map_err(|error| refused(&error))?;
    let code =
        file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let code: Vec<_> = code.map(|symbol| (symbol.address(), symbol.size())).collect();
    if code.is_empty() { Err(refused(&"it has no symbols")) } else { Ok(code) }
}

/// Samples at random addresses in the functions, each as often.
fn synthetic(program: &Path, code: &[(u64, u64)], addresses: u32, samples: u32) -> Run {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut place = |_| {
        let (start, size) = code[random(code.len() as u64) as usize];
        CodeLocation::Module { module: 0, address: start + random(size) }
    };
    let places: Vec<CodeLocation> = (0..addresses).map(&mut place).collect();
    let count = (addresses * STACKS).min(samples);
    let stack = |number: u32| {
        let mut frames: Box<[u32]> = (0..FRAMES).map(|_| random(addresses.into()) as u32).collect();
        frames[0] = number % addresses;
        Stack { frames, end: StackEnd::Whole }
    };
    let stacks = (0..count).map(stack).collect();
    let sample = |number: u32| {
        let time_ns = u64::from(number) * 1_000_000;
        Sample {
            time_ns,
            thread: 0,
            stack: number % count,
            events: NO_EVENT,
            event: None,
            cpu_ns: 0,
            wall_ns: 0,
        }
    };
    let samples = Samples {
        samples: (0..samples).map(sample).collect(),
        stacks,
        addresses: places,
        threads: vec![Thread { pid: 1, tid: 1, name: "main".into() }],
        modules: vec![Module { path: program.to_owned(), is_replaced: false, is_program: true }],
        counts: Counts::default(),
        ..Samples::default()
    };
    Run {
        target: vec![program.display().to_string()],
        pid: 1,
        started_at: SystemTime::now(),
        elapsed: Duration::from_secs(1_000),
        processor_ns: 1_000_000_000_000,
        back_end: metaspy_sampler::run::PERF,
        refused: None,
        untimed: 0,
        with_kernel: false,
        options: Options::default(),
        ended: Ended::Exited(ExitStatus::from_raw(0)),
        statistics: Statistics::default(),
        samples,
        recordings: Vec::new(),
    }
}

/// `metaspy` itself, as it is built for tests.
fn build() -> Result<PathBuf, String> {
    let workspace =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the benches are in the workspace");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .args(["build", "-p", "metaspy-cli", "--bin", "metaspy", "--target-dir"])
        .arg(workspace.join("target"));
    let status = cargo.current_dir(workspace).status().map_err(|error| error.to_string())?;
    let program = workspace.join("target/debug/metaspy");
    if status.success() { Ok(program) } else { Err(format!("metaspy does not compile: {status}")) }
}
