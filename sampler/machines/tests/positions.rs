//! The time of a machine is at the positions of the program that it runs: the paper's table, for three machines.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use metaspy_sampler::profile::Span;
use metaspy_sampler::symbols::Category;
use metaspy_sampler::{Options, Profile, SampleError, Target, sample};

/// The profile of a machine, which is also printed. `None` where sampling is not permitted.
fn profile_of(machine: &str, times: &str) -> Option<Profile> {
    let words = [env!("CARGO_BIN_EXE_metaspy-machines"), machine, times].map(Into::into).to_vec();
    match sample(&Target::Command(words), &Options::default(), &AtomicBool::new(false)) {
        Ok(run) => {
            let profile = Profile::new(run);
            let mut text = Vec::new();
            let layout = metaspy_sampler::text::Layout { top: Default::default(), callers: false };
            metaspy_sampler::text::write(&mut text, &profile, layout).expect("memory has room");
            println!("{}", String::from_utf8_lossy(&text));
            Some(profile)
        }
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            println!("SKIPPED: sampling: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Samples on whose stack each function is, and the ranges of the functions that were registered.
fn registered(profile: &Profile) -> (HashMap<&str, u64>, HashMap<&str, Vec<(Span, u64)>>) {
    let mut totals: HashMap<&str, u64> = HashMap::new();
    for method in profile.methods() {
        let function = &profile.symbols.functions[method.function as usize];
        if function.category == Category::Registered {
            *totals.entry(&function.name).or_default() += method.total_samples;
        }
    }
    let sections = profile.sections();
    let rows = sections.iter().filter(|section| section.category == Category::Registered);
    let ranges = rows.flat_map(|section| &section.functions).map(|row| {
        let name = &*profile.symbols.functions[row.function as usize].name;
        (name, row.ranges.iter().map(|range| (range.span, range.samples)).collect())
    });
    (totals, ranges.collect())
}

#[test]
fn an_interpreter_s_time_is_at_its_bytecodes() {
    let Some(profile) = profile_of("bytecode", "1") else { return };
    let (totals, ranges) = registered(&profile);
    let of = |name: &str| totals.get(name).copied().unwrap_or(0);
    let (fib, sieve) = (of("Integer>>benchFib (bytecode)"), of("Integer>>benchmark (bytecode)"));
    assert!(
        fib > 20 && sieve > 20 && (fib + sieve) * 10 > profile.total() * 9,
        "{fib} and {sieve} of {}",
        profile.total()
    );
    // Each instruction is a range; the program has 18 of them, and the last one ends the function.
    for (span, _) in &ranges["Integer>>benchFib (bytecode)"] {
        let Span::Positions(from, to) = *span else { panic!("{span:?}") };
        assert!((1..=18).contains(&from) && (to == from + 1 || to == u64::MAX), "{from} to {to}");
    }
}

#[test]
fn webassembly_s_time_is_at_its_offsets() {
    let Some(profile) = profile_of("wasm", "20") else { return };
    let (totals, ranges) = registered(&profile);
    let of = |name: &str| totals.get(name).copied().unwrap_or(0);
    // The rest is the compiler, which is not optimised here.
    assert!(of("benchFib") > 10 && of("benchmark") > 10, "{totals:?} of {}", profile.total());
    let spans = &ranges["benchFib"];
    assert!(spans.len() > 3 && spans.iter().all(|(span, _)| matches!(span, Span::Positions(..))), "{spans:?}");
}

#[test]
fn rust_s_time_is_at_its_lines() {
    let Some(profile) = profile_of("rust", "20") else { return };
    let functions = &profile.symbols.functions;
    let samples = |name: &str| -> u64 {
        let methods = profile.methods();
        let is = |function: u32| functions[function as usize].name.ends_with(name);
        methods.iter().filter(|method| is(method.function)).map(|method| method.total_samples).sum()
    };
    assert!(samples("native::bench_fib") > 10 && samples("native::benchmark") > 10);
}
