//! The time of a machine is at the positions of the program that it runs: the paper's table, for
//! each machine.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use metaspy_sampler::profile::Span;
use metaspy_sampler::{Options, Profile, SampleError, Target, sample};

/// One program at a time: each has a processor for itself.
static ALONE: Mutex<()> = Mutex::new(());

/// A sampled machine.
struct Sampled {
    profile: Profile,
    /// The processor time of both benchmarks, as the program itself measured it, in µs.
    measured: [f64; 2],
}

/// Samples a machine, and prints the report. `None` where sampling is not permitted.
fn run(machine: &str) -> Option<Sampled> {
    let _alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
    let output =
        std::env::temp_dir().join(format!("metaspy-machines-{}-{machine}", std::process::id()));
    let shell = format!(
        "exec {} {machine} 800 > {}",
        env!("CARGO_BIN_EXE_metaspy-machines"),
        output.display()
    );
    let words = ["sh", "-c", &shell].map(Into::into).to_vec();
    let run = match sample(&Target::Command(words), &Options::default(), &AtomicBool::new(false)) {
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            println!("SKIPPED: sampling: {error}");
            return None;
        }
        run => run.expect("it starts"),
    };
    let printed = std::fs::read_to_string(&output).expect("it printed");
    std::fs::remove_file(&output).expect("it is there");
    let numbers: Vec<f64> = printed.split(' ').filter_map(|word| word.parse().ok()).collect();
    let profile = Profile::new(run);
    let mut text = Vec::new();
    let layout = metaspy_sampler::text::Layout { top: Default::default(), callers: false };
    metaspy_sampler::text::write(&mut text, &profile, layout).expect("memory has room");
    println!("{}", String::from_utf8_lossy(&text));
    Some(Sampled { profile, measured: numbers.try_into().expect("two numbers") })
}

impl Sampled {
    /// Samples with both benchmarks on their stack.
    fn totals(&self, names: [&str; 2]) -> [f64; 2] {
        let functions = &self.profile.symbols.functions;
        let methods = self.profile.methods();
        names.map(|name| {
            let of =
                methods.iter().filter(|method| functions[method.function as usize].name == name);
            of.map(|method| method.total_samples).sum::<u64>() as f64
        })
    }

    /// Checks that samples and the program's own clock agree: each function has its processor time,
    /// within the error of sampling.
    fn agrees(&self, names: [&str; 2]) {
        let totals = self.totals(names);
        for ((name, samples), us) in names.iter().zip(totals).zip(self.measured) {
            // 1,000 samples a second; the error is of 99.9 %, and one percent is for the edges of
            // the measured time.
            let expected = us / 1000.0;
            let error = 3.3 * (expected * 0.05).sqrt() + expected * 0.02;
            assert!(
                (samples - expected).abs() < error,
                "{name}: {samples} samples in {expected} ms, ± {error}"
            );
        }
    }

    /// The share of each range of a function, by its first position or line.
    fn ranges(&self, name: &str) -> HashMap<u64, f64> {
        let sections = self.profile.sections();
        let rows = sections.iter().flat_map(|section| &section.functions);
        let is = |function: u32| self.profile.symbols.functions[function as usize].name == name;
        let row = rows.into_iter().find(|row| is(row.function)).expect("it has samples");
        let mut shares = HashMap::new();
        for range in &row.ranges {
            match range.span {
                Span::Positions(from, _) => {
                    *shares.entry(from).or_default() += range.samples as f64
                }
                _ => range.lines.iter().for_each(|&(line, samples)| {
                    *shares.entry(line.into()).or_default() += samples as f64;
                }),
            }
        }
        shares.values_mut().for_each(|samples| *samples /= row.samples as f64);
        shares
    }
}

/// The share of some positions.
fn share(shares: &HashMap<u64, f64>, positions: std::ops::RangeInclusive<u64>) -> f64 {
    shares.iter().filter(|(at, _)| positions.contains(at)).map(|(_, share)| share).sum()
}

/// The paper's reader finds the loop of `benchmark` that strikes multiples out by its hottest
/// range, 74 to 78: 35.36 % of the function, and 25.5 % more in the rest of the loop. `positions`
/// are of this loop.
fn the_loop_is_hottest(shares: &HashMap<u64, f64>, positions: std::ops::RangeInclusive<u64>) {
    let of_loop = share(shares, positions);
    assert!(of_loop > 0.4, "{of_loop} of {shares:?}");
}

#[test]
fn an_interpreter_s_time_is_at_its_bytecodes() {
    let Some(sampled) = run("bytecode") else { return };
    let [fib, sieve] = ["Integer>>benchFib (bytecode)", "Integer>>benchmark (bytecode)"];
    sampled.agrees([fib, sieve]);
    // 18 instructions.
    let shares = sampled.ranges(fib);
    assert!(shares.keys().all(|at| (1..=18).contains(at)) && shares.len() > 14, "{shares:?}");
    the_loop_is_hottest(&sampled.ranges(sieve), 31..=41);
}

#[test]
fn webassembly_s_time_is_at_its_offsets() {
    let Some(sampled) = run("wasm") else { return };
    sampled.agrees(["benchFib", "benchmark"]);
    let shares = sampled.ranges("benchFib");
    // As in the paper, the entry has the time of the calls, and the end has the returns.
    assert!(shares.len() > 3 && shares[&1] > 0.05, "{shares:?}");
    assert!(
        sampled.totals(["wasm (stub)", "benchFib"])[0] > 0.0,
        "calls from the host come through a stub"
    );
}

#[test]
fn webassembly_with_debug_information_has_lines() {
    let Some(sampled) = run("wasm-lines") else { return };
    sampled.agrees(["benchFib", "benchmark"]);
    let text = include_str!("../src/benchmarks.wat");
    let line = |part: &str| {
        1 + text.lines().position(|line| line.contains(part)).expect("the text has it") as u64
    };
    // How long a processor waits at the branch that it cannot guess differs from one to the next by
    // a quarter of the function: what is compared is the rest.
    let mut sieve = sampled.ranges("benchmark");
    let guessed = sieve.remove(&line("(if (i32.load8_u")).unwrap_or_default();
    sieve.values_mut().for_each(|share| *share /= 1.0 - guessed);
    the_loop_is_hottest(&sieve, line("(loop $strike")..=line("(br $strike)"));
    // Its four lines that do something have samples, and no other line. How much of the time is the
    // entry's, which has no line, is the processor's: a third in one run and half in the next.
    let mut lines: Vec<u64> = sampled.ranges("benchFib").into_keys().collect();
    lines.sort_unstable();
    let calls = line("(call $benchFib");
    assert_eq!(lines, [line("(i64.lt_s"), calls, calls + 1, calls + 2]);
}

#[test]
fn a_jit_s_time_is_at_the_positions_that_cranelift_has() {
    let Some(sampled) = run("jit") else { return };
    sampled.agrees(["Integer>>benchFib", "Integer>>benchmark"]);
    the_loop_is_hottest(&sampled.ranges("Integer>>benchmark"), 0x20..=0x22);
    let fib = sampled.ranges("Integer>>benchFib");
    assert!(fib.keys().all(|at| (1..=0xB).contains(at)), "{fib:?}");
}

#[test]
fn rust_s_time_is_at_its_lines() {
    let Some(sampled) = run("rust") else { return };
    sampled.agrees(["metaspy_machines::native::bench_fib", "metaspy_machines::native::benchmark"]);
}

#[test]
fn without_a_sampler_nothing_is_written() {
    let program = env!("CARGO_BIN_EXE_metaspy-machines");
    let output = Command::new(program)
        .args(["jit", "10"])
        .env_remove("METASPY_CODE_MAP")
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let output = Command::new(program).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
