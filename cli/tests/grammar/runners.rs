//! Whoever runs the tests, the same was exercised: `tests/sample_test_package` under all runners of
//! tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::TestDirectory;
use crate::schemas::assert_changes_are_noticed;

/// Cargo in the package `tests/sample_test_package`; what it runs is recorded in this directory.
fn cargo(parts: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/sample_test_package"));
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("suite"));
    command.env("CARGO_NET_OFFLINE", "true").env_remove("RUSTFLAGS");
    recorded(&mut command, parts);
    command
}

fn recorded(command: &mut Command, parts: &Path) {
    // Where these tests are run by nextest themselves, theirs is another run.
    command.env_remove("NEXTEST_RUN_ID").env_remove("METASPY_RUN");
    command
        .env("METASPY_RECORD", "live")
        .env("METASPY_DIR", parts)
        .env("METASPY_BUDGET", "4000000");
}

fn succeed(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let printed = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy);
    assert!(output.status.success(), "{command:?}:\n{}\n{}", printed[0], printed[1]);
    output
}

/// The programs with tests in them.
fn programs(parts: &Path) -> Vec<PathBuf> {
    let output = succeed(cargo(parts, &["test", "--no-run", "--tests", "--message-format=json"]));
    let lines = String::from_utf8(output.stdout).unwrap();
    let messages = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?))).collect()
}

/// Runs each test in a process of its own.
fn one_by_one(parts: &Path) {
    for program in programs(parts) {
        let listed = Command::new(&program).args(["--list", "--format", "terse"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        for test in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
            let mut command = Command::new(&program);
            command.args(["--exact", test]);
            recorded(&mut command, parts);
            succeed(command);
        }
    }
}

/// What was exercised: entered, matched, failed.
fn exercised(place: &TestDirectory, parts: &str) -> BTreeMap<String, [u64; 3]> {
    let (code, out, error) = place.run(&["report", parts, "--json"]);
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["exact"], true);
    assert_changes_are_noticed(&["metaspy", "grammar", "report", "--json"], &report);
    let numbers =
        |row: &Value| ["entered", "matched", "failed"].map(|field| row[field].as_u64().unwrap());
    let rows = report["productions"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), numbers(row))).collect()
}

#[test]
fn every_runner_of_tests_exercises_the_same() {
    let place = TestDirectory::new("runners");
    // Numbers: 3, a word's two refusals, 100, one beside the `?`, which is none, and the four of
    // `x`.
    let expected = BTreeMap::from([
        ("suite::list".into(), [1 + 1 + 100 + 1 + 4, 1 + 1 + 100 + 1 + 4, 0]),
        ("suite::never".into(), [0, 0, 0]),
        ("suite::nothing".into(), [1, 0, 1]),
        ("suite::number".into(), [3 + 2 + 200 + 2 + 4, 3 + 100 + 1, 2 + 100 + 1 + 4]),
        ("suite::word".into(), [2 + 100 + 1 + 4, 2 + 100 + 4, 1]),
    ]);
    succeed(cargo(&place.path("threads"), &["test"]));
    succeed(cargo(&place.path("one-thread"), &["test", "--", "--test-threads=1"]));
    one_by_one(&place.path("one-by-one"));
    for parts in ["threads", "one-thread", "one-by-one"] {
        assert_eq!(exercised(&place, parts), expected, "{parts}");
    }
    if Command::new("cargo-nextest").args(["nextest", "--version"]).output().is_err() {
        println!("SKIPPED: nextest: it is not installed");
        return;
    }
    succeed(cargo(&place.path("nextest"), &["nextest", "run"]));
    assert_eq!(exercised(&place, "nextest"), expected);
    // Its parts are those of a run with a name, so a second run is not added to the first.
    succeed(cargo(&place.path("nextest"), &["nextest", "run"]));
    assert_eq!(exercised(&place, "nextest"), expected);
    let (_, out, _) = place.run(&["report", "nextest"]);
    assert!(
        out.contains(" recordings of run ") && out.contains("\nOther runs are left out: "),
        "{out}"
    );
}

#[test]
fn what_failed_and_what_was_killed_is_kept_and_named() {
    let place = TestDirectory::new("failing");
    let parts = place.path("parts");
    let output =
        cargo(&parts, &["test", "--no-fail-fast", "--", "--include-ignored"]).output().unwrap();
    assert_eq!(output.status.code(), Some(101));
    let counted = exercised(&place, "parts");
    assert_eq!(
        (counted["suite::list"][0], counted["suite::number"][1]),
        (107 + 1 + 1, 104 + 1 + 3)
    );
    let (_, out, _) = place.run(&["report", "parts"]);
    let line = |name: &str, end: &str| {
        assert!(
            out.lines().any(|line| line.contains(name) && line.ends_with(end)),
            "{name} {end}:\n{out}"
        );
    };
    assert!(out.contains("\n1 recording killed, and counted as far as they went:\n"), "{out}");
    line("parts/dies_", ")");
    // Only there the system tells how a process ended.
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert!(out.contains("\n1 recording of processes that failed, and counted:\n"), "{out}");
        line("parts/suite_", "(exit status 101)");
    }
}

#[test]
fn a_run_with_a_name_is_separate_from_the_others() {
    let place = TestDirectory::new("named_runs");
    for (run, times) in [("first", 2), ("second/one", 1)] {
        for _ in 0..times {
            let mut command = cargo(&place.path("parts"), &["test", "--test", "others"]);
            command.env("METASPY_RUN", run);
            succeed(command);
        }
    }
    assert_eq!(exercised(&place, "parts")["suite::list"][0], 5);
    let (_, out, _) = place.run(&["report", "parts", "--run", "first"]);
    assert!(
        out.starts_with("2 recordings of run first\nOther runs are left out: second_one."),
        "{out}"
    );
    let (code, _, error) = place.run(&["report", "parts", "--run", "third"]);
    assert!(
        code == 2 && error.contains("has no run third; the newest first: second_one, first"),
        "{error}"
    );
}
