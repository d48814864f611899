//! The files of `metaspy sample`, read by programs that are not ours: this process samples itself.

use std::hint::black_box;
use std::process::Command;

use metaspy_report::export::Exporter;
use metaspy_sampler::export::{Collapsed, Firefox, Pprof, Speedscope};
use metaspy_sampler::{Profile, Sampler};
use serde_json::Value;

use crate::fixture;
use crate::programs::load_in_firefox_profiler;

/// The function that most samples are in.
#[inline(never)]
fn spin_for_samples(rounds: u64) -> u64 {
    (0..rounds)
        .fold(1, |value: u64, round| black_box(value.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ round))
}

/// Samples of this process: at least ten of `spin_for_samples`. `None`, said aloud, where there is
/// no sampler.
fn sampled() -> Option<Profile> {
    for _ in 0..50 {
        let sampler = match Sampler::start() {
            Ok(sampler) => sampler,
            Err(error) => {
                println!("SKIPPED: sampling: {error}");
                return None;
            }
        };
        black_box(spin_for_samples(black_box(20_000_000)));
        let profile = sampler.stop().expect("it was sampled");
        if samples_of_spin(&profile) >= 10 {
            return Some(profile);
        }
    }
    panic!("the function has no samples");
}

/// Samples with the function on their stack.
fn samples_of_spin(profile: &Profile) -> u64 {
    let is_spin = |function: u32| {
        profile.symbols.functions[function as usize].name.ends_with("spin_for_samples")
    };
    let stacks =
        (0..profile.counts.len()).filter(|&stack| profile.methods_of(stack as u32).any(is_spin));
    stacks.map(|stack| profile.counts[stack]).sum()
}

fn export(profile: &Profile, exporter: &dyn Exporter<Profile>) -> Vec<u8> {
    let mut out = Vec::new();
    let written = exporter.export(profile, &mut out).expect("memory can be written");
    assert_eq!(written.events, profile.total());
    out
}

#[test]
fn inferno_draws_the_samples() {
    let Some(profile) = sampled() else { return };
    let stacks = String::from_utf8(export(&profile, &Collapsed)).expect("it is text");
    let (mut options, mut svg) = (inferno::flamegraph::Options::default(), Vec::new());
    inferno::flamegraph::from_lines(&mut options, stacks.lines(), &mut svg)
        .expect("inferno reads the stacks");
    let svg = String::from_utf8(svg).expect("a picture is UTF-8");
    // `NAME (N samples, P%)`
    let all = format!("all ({} samples", grouped(profile.total()));
    assert!(svg.contains(&all) && svg.contains("spin_for_samples ("), "{all} in {svg}");
}

#[test]
fn speedscope_accepts_the_samples() {
    let Some(profile) = sampled() else { return };
    let document: Value =
        serde_json::from_slice(&export(&profile, &Speedscope)).expect("it is JSON");
    let schema: Value =
        serde_json::from_str(include_str!("schemas/speedscope.json")).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let profiles = document["profiles"].as_array().expect("a list").iter();
    let samples: usize =
        profiles.map(|thread| thread["samples"].as_array().expect("a list").len()).sum();
    assert_eq!(samples as u64, profile.total());
}

/// Prints the names of the values, all samples, and those with the function on their stack.
const READ_PPROF: &str = "
const { Profile } = require('pprof-format');
const profile = Profile.decode(require('fs').readFileSync(process.argv[1]));
const text = at => profile.stringTable.strings[Number(at)];
const functions = new Map(profile.function.map(of => [Number(of.id), text(of.name)]));
const names = new Map(profile.location.map(of =>
    [Number(of.id), of.line.map(line => functions.get(Number(line.functionId)))]));
const isSpin = sample => sample.locationId.some(id =>
    names.get(Number(id)).some(name => name.endsWith('spin_for_samples')));
const sum = samples => samples.reduce((sum, sample) => sum + Number(sample.value[0]), 0);
const kinds = profile.sampleType.map(kind => `${text(kind.type)}/${text(kind.unit)}`);
const threads = profile.sample.filter(sample => sample.label.some(label => text(label.key) === 'thread'));
console.log(kinds.join(' '), sum(profile.sample), sum(profile.sample.filter(isSpin)), sum(threads));
";

#[test]
fn the_reader_of_pprof_for_node_finds_the_same_samples() {
    let Some(profile) = sampled() else { return };
    let modules = std::env::var("METASPY_NODE_MODULES").unwrap_or_default();
    let node = |script: &str, file: &std::ffi::OsStr| {
        Command::new("node").env("NODE_PATH", &modules).args(["-e", script]).arg(file).output().ok()
    };
    if !node("require('pprof-format')", "".as_ref()).is_some_and(|output| output.status.success()) {
        println!(
            "SKIPPED: pprof-format: METASPY_NODE_MODULES names no directory with it, for `node`"
        );
        return;
    }
    let file = fixture::directory().join("samples.pb");
    std::fs::write(&file, export(&profile, &Pprof)).expect("the test's directory can be written");
    let read = node(READ_PPROF, file.as_os_str()).expect("node was just started");
    let (all, spin) = (profile.total(), samples_of_spin(&profile));
    let expected = format!("samples/count cpu/nanoseconds {all} {spin} {all}");
    let (out, error) =
        (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
    assert_eq!(out.trim(), expected, "{error}");
}

#[test]
fn the_firefox_profiler_itself_loads_the_samples() {
    let Some(profile) = sampled() else { return };
    let file = fixture::directory().join("samples.firefox.json");
    std::fs::write(&file, export(&profile, &Firefox)).expect("the test's directory can be written");
    // The system keeps 15 characters of a thread's name.
    let of_this_test = "samples::the_fi";
    let Some(threads) = load_in_firefox_profiler(&file, &["thread", "list"], of_this_test) else {
        return;
    };
    assert!(threads.contains("exports"), "{threads}");
}

/// A number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|it| std::str::from_utf8(it).expect("digits"))
        .collect();
    groups.join(",")
}
