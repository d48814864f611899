//! `metaspy sample` from outside: its files, its JSON beside a program that prints, and bad input.

use serde_json::Value;

use crate::{ended, fixture, text};

/// A program that prints a line and uses some processor time.
const BUSY: [&str; 4] = ["--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo printed"];

/// Runs it; `None`, said aloud, where the system does not permit sampling.
fn sampled(options: &[&str]) -> Option<(i32, String, String)> {
    let (code, out, error) = ended(&[&["sample"], options, &BUSY].concat());
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return None;
    }
    Some((code, out, error))
}

#[test]
fn the_report_follows_what_the_program_prints() {
    let Some((code, out, error)) = sampled(&["--top", "3"]) else { return };
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("printed\n"), "{out}");
    for part in ["sampling frequency", "% of total", "Methods", "Memory"] {
        assert!(out.contains(part), "{part} in {out}");
    }
}

#[test]
fn json_on_standard_output_is_json_alone() {
    let Some((code, out, error)) = sampled(&["--json", "--rate", "2kHz"]) else { return };
    assert_eq!((code, error.contains("printed")), (0, true), "{error}");
    let report: Value = serde_json::from_str(&out).expect("standard output is JSON");
    assert_eq!((&report["format"], &report["requested_hz"]), (&1.into(), &2000.into()));
    let samples = report["samples"].as_u64().expect("a number");
    let sections = report["sections"].as_array().expect("a list").iter();
    assert_eq!(sections.map(|section| section["samples"].as_u64().expect("a number")).sum::<u64>(), samples);
    for method in report["methods"].as_array().expect("a list") {
        assert!(method["self_ns"].as_u64() <= method["total_ns"].as_u64(), "{method}");
    }
}

#[test]
fn files_for_other_tools_have_the_same_samples() {
    let (stacks, speedscope) = (fixture::directory().join("stacks.txt"), fixture::directory().join("run.json"));
    let files = ["--collapsed", text(&stacks), "--speedscope", text(&speedscope), "--json=/dev/null"];
    let Some((code, _, error)) = sampled(&files) else { return };
    assert_eq!(code, 0, "{error}");
    let lines = std::fs::read_to_string(&stacks).expect("it was written");
    let of_lines: u64 = lines.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    let file: Value = serde_json::from_slice(&std::fs::read(&speedscope).expect("it was written")).expect("JSON");
    let profiles = file["profiles"].as_array().expect("a list").iter();
    let of_file: usize = profiles.map(|profile| profile["samples"].as_array().expect("a list").len()).sum();
    assert!(of_lines > 0 && of_lines == of_file as u64, "{of_lines} and {of_file}");
}

#[test]
fn a_target_that_cannot_be_sampled_is_an_error_with_a_hint() {
    let cases: [(&[&str], &str); 6] = [
        (&["sample"], "CMD"),
        (&["sample", "--rate", "1M", "--", "true"], "1kHz"),
        (&["sample", "--stack-size", "1G", "--", "true"], "64k"),
        (&["sample", "--seconds", "3", "--", "true"], "cannot be used"),
        (&["sample", "--pid", "4194304999"], "no process"),
        (&["sample", "--collapsed", "/no/such/directory/file", "--", "true"], "a directory that exists"),
    ];
    for (arguments, part) in cases {
        let (code, out, error) = ended(arguments);
        assert_eq!((code, &*out), (2, ""), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}

#[test]
fn a_program_that_fails_ends_the_command_with_1() {
    let (code, out, error) = ended(&["sample", "--", "sh", "-c", "exit 3"]);
    if code == 2 && error.contains("the kernel refuses to sample") {
        println!("SKIPPED: sampling: {error}");
        return;
    }
    assert_eq!(code, 1, "{error}");
    assert!(out.contains("exit status: 3"), "{out}");
}
