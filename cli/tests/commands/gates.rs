//! Conditions on recordings that know less than the program did: a gate never passes because calls
//! are missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use metaspy_core::Recording;
use metaspy_core::arm::Mode;
use metaspy_core::recording::Policy;
use metaspy_reader::Filter;
use metaspy_report::coverage::{Baseline, Comparison, Run, gate};
use metaspy_report::gate::Decision;
use serde_json::Value;

use crate::report::json;
use crate::{ended, fixture, text};

/// Frames that a recording has no room for.
const MANY: usize = 8_000;

/// What a condition of the table decides in each recording.
struct Case {
    condition: &'static str,
    /// Nothing is missing.
    whole: Verdict,
    /// The oldest events were folded into the tallies.
    folded: Verdict,
    /// The newest calls are only counted.
    lost: Verdict,
    /// One in 16 calls is timed.
    sampled: Verdict,
    /// The file ends too early.
    cut: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passes,
    Fails,
    Unknown,
}
use Verdict::{Fails, Passes, Unknown};

#[rustfmt::skip]
const CASES: [Case; 14] = [
    Case { condition: "count(*) > 151999", whole: Fails, folded: Fails, lost: Fails, sampled: Fails, cut: Unknown },
    Case { condition: "count(*) > 152000", whole: Passes, folded: Passes, lost: Passes, sampled: Passes, cut: Unknown },
    Case { condition: "count(outcome:panicked) > 7999", whole: Fails, folded: Fails, lost: Fails, sampled: Fails, cut: Unknown },
    Case { condition: "count(outcome:panicked) != 8000", whole: Passes, folded: Passes, lost: Passes, sampled: Passes, cut: Unknown },
    Case { condition: "count(outcome:panicked) > 0", whole: Fails, folded: Fails, lost: Fails, sampled: Fails, cut: Fails },
    Case { condition: "count(site:frame took:>10ms) > 0", whole: Passes, folded: Passes, lost: Unknown, sampled: Unknown, cut: Unknown },
    Case { condition: "count(site:frame took:>1ms) > 0", whole: Fails, folded: Fails, lost: Fails, sampled: Fails, cut: Fails },
    Case { condition: "count(site:frame took:>1ms) > 8000", whole: Passes, folded: Passes, lost: Passes, sampled: Passes, cut: Unknown },
    Case { condition: "count(site:measure cause:Scene::layout) < 48000", whole: Passes, folded: Unknown, lost: Unknown, sampled: Passes, cut: Unknown },
    Case { condition: "count(site:measure -cause:Scene::layout) > 0", whole: Passes, folded: Unknown, lost: Unknown, sampled: Passes, cut: Unknown },
    Case { condition: "count(lane:page) < 152000", whole: Passes, folded: Unknown, lost: Unknown, sampled: Passes, cut: Unknown },
    Case { condition: "max(site:frame) > 10ms", whole: Passes, folded: Passes, lost: Unknown, sampled: Unknown, cut: Unknown },
    Case { condition: "total(site:frame) > 1ms", whole: Fails, folded: Fails, lost: Fails, sampled: Fails, cut: Fails },
    Case { condition: "self(site:frame) > 1h", whole: Passes, folded: Unknown, lost: Unknown, sampled: Unknown, cut: Unknown },
];

/// A closed recording with this budget.
fn recorded(name: &str, policy: Policy, mode: Mode, budget: u64) -> PathBuf {
    let _turn = fixture::turn();
    let path = fixture::directory().join(name);
    let builder = Recording::file(&path).policy(policy);
    let (recording, installed) = fixture::begin_with(builder, mode, budget, MANY);
    drop(installed);
    recording.close();
    path
}

fn check(path: &Path, expected: fn(&Case) -> Verdict) {
    let mut arguments = vec!["report", text(path)];
    CASES.iter().for_each(|case| arguments.extend(["--fail-if", case.condition]));
    let (code, report) = json(&arguments);
    let conditions = report["conditions"].as_array().expect("there are conditions");
    for (case, judged) in CASES.iter().zip(conditions) {
        let verdict = match judged["failed"] {
            Value::Bool(true) => Fails,
            Value::Bool(false) => Passes,
            _ => Unknown,
        };
        assert_eq!(verdict, expected(case), "{}: {judged}", path.display());
        let says_what_is_missing = judged["gaps"].as_array().is_some_and(|gaps| !gaps.is_empty());
        assert!(verdict != Unknown || says_what_is_missing, "{}: {judged}", path.display());
    }
    // One that fails wins over those that cannot be decided.
    assert_eq!(code, 1, "{}", path.display());
}

/// The recordings that know less than the program did, each with the frames that it ran.
pub struct Recorded {
    pub name: &'static str,
    pub path: PathBuf,
    pub frames: usize,
    /// Nothing is missing, so that each gate is decided.
    pub is_whole: bool,
}

/// One of each kind. A file that is cut decides the least, so it is a copy.
pub fn recordings(name: &str) -> Vec<Recorded> {
    const ENOUGH: u64 = 64 << 20;
    const LITTLE: u64 = 4 << 20;
    let of = |kind, policy, mode, budget| Recorded {
        name: kind,
        path: recorded(&format!("{name}-{kind}.spy"), policy, mode, budget),
        frames: MANY,
        is_whole: kind == "whole",
    };
    let mut all = vec![
        of("whole", Policy::KeepNewest, Mode::Full, ENOUGH),
        of("folded", Policy::KeepNewest, Mode::Full, LITTLE),
        of("lost", Policy::KeepOldest, Mode::Full, LITTLE),
        of("sampled", Policy::KeepNewest, Mode::Sampled, ENOUGH),
        of("counted", Policy::KeepNewest, Mode::Tally, ENOUGH),
    ];
    let cut = cut(&all[0].path, name);
    all.push(Recorded { name: "cut", path: cut, frames: MANY, is_whole: false });
    let empty = fixture::closed(&format!("{name}-empty.spy"), 0);
    all.push(Recorded { name: "empty", path: empty, frames: 0, is_whole: false });
    let (path, frames) = rotated(name);
    all.push(Recorded { name: "rotated", path, frames, is_whole: false });
    all
}

/// A copy of a recording without the last blocks.
fn cut(whole: &Path, name: &str) -> PathBuf {
    let cut = fixture::directory().join(format!("{name}-cut.spy"));
    fs::copy(whole, &cut).expect("it can be copied");
    let header = fixture::open(&cut).header();
    let before_blocks = header.total_bytes - header.blocks * 4096;
    let file = fs::File::options().write(true).open(&cut).expect("it was just written");
    file.set_len(before_blocks + header.fresh / 2 * 4096).expect("a file can be truncated");
    cut
}

/// Frames between two looks at the directory of a recording that rotates.
const BURST: usize = 500;

/// What a process does whose recording rotates: frames until there are three files. It prints how
/// many.
#[test]
fn rotates() {
    let Some(directory) = std::env::var_os("METASPY_ROTATED").map(PathBuf::from) else { return };
    let files = || fs::read_dir(&directory).expect("it is there").count();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut frames = 0;
    while files() < 3 && Instant::now() < deadline {
        (0..BURST).for_each(|_| fixture::frame());
        frames += BURST;
        thread::sleep(Duration::from_millis(1));
    }
    println!("frames={frames}");
}

/// The directory of a recording that continued in further files, and its frames.
fn rotated(name: &str) -> (PathBuf, usize) {
    let directory = fixture::directory().join(format!("{name}-rotated"));
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command.args(["gates::rotates", "--exact", "--nocapture"]).env("METASPY_ROTATED", &directory);
    command.env("METASPY_RECORD", directory.join("run.spy")).env("METASPY_ROTATE", "1MiB");
    let output = command.env("METASPY_BUDGET", "64MiB").env_remove("METASPY_OBSERVE").output();
    let output = output.expect("it can be run again");
    let out = String::from_utf8_lossy(&output.stdout);
    let frames = out.lines().find_map(|line| line.split_once("frames=")?.1.parse().ok());
    (
        directory,
        frames.unwrap_or_else(|| panic!("{out}{}", String::from_utf8_lossy(&output.stderr))),
    )
}

/// A gate, and what a program of so many frames does to it, by an account of [`fixture::frame`].
type Gate = (&'static str, fn(frames: usize) -> String, fn(frames: usize) -> Verdict);

fn fails_if(is_failure: bool) -> Verdict {
    if is_failure { Fails } else { Passes }
}

#[rustfmt::skip]
const GATES: [Gate; 27] = [
    ("--fail-if", |n| format!("count(*) > {}", n * 19), |_| Passes),
    ("--fail-if", |n| format!("count(*) >= {}", n * 19), |_| Fails),
    ("--fail-if", |n| format!("count(outcome:panicked) != {n}"), |_| Passes),
    ("--fail-if", |_| "count(outcome:panicked) > 0".into(), |n| fails_if(n > 0)),
    ("--fail-if", |n| format!("count(site:measure -outcome:failed) > {}", n * 5), |_| Passes),
    ("--fail-if", |_| "count(site:frame took:>10ms) > 0".into(), |_| Passes),
    ("--fail-if", |_| "count(site:frame took:>1ms) > 0".into(), |n| fails_if(n > 0)),
    ("--fail-if", |n| format!("count(site:frame -took:>10ms) < {n}"), |_| Passes),
    ("--fail-if", |n| format!("count(site:measure cause:Scene::layout) < {}", n * 6), |_| Passes),
    ("--fail-if", |_| "count(site:measure -cause:Scene::layout) > 0".into(), |_| Passes),
    ("--fail-if", |n| format!("count(lane:page) < {}", n * 19), |_| Passes),
    ("--fail-if", |_| "count(subject:#7 outcome:failed) > 0".into(), |n| fails_if(n > 0)),
    ("--fail-if", |_| "max(site:frame) > 10ms".into(), |_| Passes),
    ("--fail-if", |_| "max(site:frame) > 1ms".into(), |n| fails_if(n > 0)),
    ("--fail-if", |n| format!("total(site:measure) > {}us", n * 6 * 61), |_| Passes),
    ("--fail-if", |n| format!("total(site:measure) > {}us", n * 6 * 60), |n| fails_if(n > 0)),
    // All calls are inside a frame of 1,803 us.
    ("--fail-if", |n| format!("total(*) > {}us", n * 1_803), |_| Passes),
    ("--fail-if", |_| "self(site:frame) > 1h".into(), |_| Passes),
    ("--expect", |_| "site:measure => cause:Scene::layout".into(), |_| Passes),
    ("--expect", |_| "site:measure => took:<1ms".into(), |_| Passes),
    ("--expect", |_| "site:frame => took:<1ms".into(), |_| Fails),
    ("--expect", |_| "site:frame => -took:>1ms".into(), |_| Fails),
    ("--expect", |_| "site:frame => -outcome:panicked".into(), |_| Passes),
    ("--expect", |_| "site:layout => -outcome:panicked".into(), |_| Fails),
    ("--expect", |_| "site:measure => outcome:succeeded".into(), |_| Fails),
    ("--expect", |_| "site:measure => lane:page".into(), |_| Passes),
    ("--expect", |_| "site:paint => cause:Scene::layout".into(), |_| Fails),
];

/// What a gate decided, as JSON: with what is missing, if that is nothing.
fn decided(judged: &Value) -> Verdict {
    match &judged["failed"] {
        Value::Bool(true) => Fails,
        Value::Bool(false) => Passes,
        _ => {
            let gaps = judged["gaps"].as_array().map_or(0, Vec::len);
            assert!(gaps > 0, "it states what is missing: {judged}");
            Unknown
        }
    }
}

/// The table over all gates of `report`: what is decided is true, and what is not ends with 2 and
/// states why.
#[test]
fn every_gate_decides_what_is_true_or_states_what_is_missing() {
    for Recorded { name, path, frames, is_whole } in recordings("gate-table") {
        // In the program that rotates, another thread makes the frames, and by another clock.
        let other = ["lane:", "took:", "max(", "total("];
        let is_other =
            |gate: &str| name == "rotated" && other.iter().any(|word| gate.contains(word));
        let gates: Vec<(&str, String, Verdict)> = GATES
            .iter()
            .map(|(option, gate, truth)| (*option, gate(frames), truth(frames)))
            .filter(|(_, gate, _)| !is_other(gate))
            .collect();
        let mut arguments = vec!["report", text(&path), "--allow-empty"];
        gates.iter().for_each(|(option, gate, _)| arguments.extend([option, gate.as_str()]));
        let (_, report) = json(&arguments);
        let list = |of: &str| report[of].as_array().cloned().unwrap_or_default();
        let (conditions, expectations) = (list("conditions"), list("expectations"));
        let judged = conditions.iter().chain(&expectations);
        assert_eq!(judged.clone().count(), gates.len(), "{name}");
        let mut undecided = 0;
        for ((_, gate, truth), judged) in gates.iter().zip(judged) {
            // Nothing is expected of nothing, so that holds.
            let truth =
                if frames == 0 && judged["expectation"].is_string() { Passes } else { *truth };
            let verdict = decided(judged);
            assert!(
                verdict == truth || verdict == Unknown && !is_whole,
                "{name}: {gate} is {truth:?}: {judged}"
            );
            undecided += usize::from(verdict == Unknown);
        }
        assert!(undecided <= gates.len() * 2 / 3 || name == "cut", "{name}: {undecided} undecided");
        // The exit code of those that are true: 0, or 2 and each that is not decided.
        let mut arguments = vec!["report", text(&path), "--allow-empty"];
        let passing = gates.iter().filter(|(.., truth)| *truth == Passes);
        passing.for_each(|(option, gate, _)| arguments.extend([option, gate.as_str()]));
        let (code, out, error) = ended(&arguments);
        let stated = error.lines().filter(|line| line.contains("cannot be decided")).count();
        let expected = if stated > 0 { 2 } else { i32::from(name == "cut") };
        assert_eq!(code, expected, "{name}: {out}{error}");
        // One that fails for certain wins, and the others are still stated.
        if frames > 0 && name != "cut" {
            arguments.extend(["--fail-if", "count(*) > 0"]);
            let (code, out, error) = ended(&arguments);
            let still = error.lines().filter(|line| line.contains("cannot be decided")).count();
            assert_eq!((code, still), (1, stated), "{name}: {out}{error}");
        }
    }
}

/// The same for `diff`: against a version with half of the frames, and against one with as many.
#[test]
fn every_gate_of_a_diff_decides_what_is_true_or_states_what_is_missing() {
    const CHECKS: [&str; 3] = ["count +10%", "time +10%", "self +10%"];
    let all = recordings("gate-diff");
    let whole = text(&all[0].path).to_owned();
    let half = fixture::closed("gate-diff-half.spy", 60);
    for Recorded { name, path, is_whole, .. } in
        all.iter().filter(|it| !["empty", "rotated"].contains(&it.name))
    {
        for (before, truth) in [(whole.as_str(), Passes), (text(&half), Fails)] {
            let mut arguments = vec!["diff", before, text(path), "--json"];
            CHECKS.iter().for_each(|check| arguments.extend(["--fail-on", check]));
            let (code, out, error) = ended(&arguments);
            let diff: Value =
                serde_json::from_str(&out).unwrap_or_else(|_| panic!("{name}: {out}{error}"));
            let (mut has_failed, mut undecided) = (false, 0);
            for judged in diff["conditions"].as_array().expect("there are conditions") {
                if judged["undecided"] == true {
                    assert!(!is_whole, "{name}: {judged}");
                    assert!(
                        error.contains(judged["condition"].as_str().expect("it is named")),
                        "{name}: {error}"
                    );
                    undecided += 1;
                    continue;
                }
                // Without times there is nothing to compare, and that fails.
                let is_failure = judged["failed"] == true;
                assert!(
                    is_failure == (truth == Fails) || judged["compared"] == 0,
                    "{name} of {before}: {judged}"
                );
                has_failed |= is_failure;
            }
            let expected = if has_failed {
                1
            } else if undecided > 0 {
                2
            } else {
                0
            };
            assert_eq!(code, expected, "{name} of {before}: {error}");
        }
    }
    let empty = all.iter().find(|it| it.name == "empty").expect("it is one of them");
    let (code, out, _) = ended(&["diff", &whole, text(&empty.path), "--fail-on", "count +10%"]);
    assert!(code == 1 && out.contains("nothing to compare"), "{out}");
}

/// And for the gates of coverage, by the methods that such a program ran.
#[test]
fn every_gate_of_coverage_decides_what_is_true_or_states_what_is_missing() {
    let before =
        br#"{ "format": 1, "methods": [{ "path": "page::Scene::measure", "executions": 1 }] }"#;
    let before = Baseline::parse(before).expect("it is a baseline");
    for Recorded { name, path, frames, is_whole } in recordings("gate-coverage") {
        if name == "rotated" {
            continue;
        }
        let run = Run::of_recording(&fixture::open(&path), &Filter::all());
        let comparison = Comparison::new(&before, &run.program);
        // Four methods of the page run.
        let methods = f64::from(run.program.ratio().methods);
        let reached = if frames == 0 { 0.0 } else { 400.0 / methods };
        for (gate, decision, truth) in [
            ("fail-under what ran", gate::fail_under(reached, &run), Passes),
            ("fail-under more", gate::fail_under(reached + 1.0, &run), Fails),
            ("baseline", gate::baseline(&before, &comparison, &run), fails_if(frames == 0)),
        ] {
            let verdict = match &decision {
                Decision::Holds => Passes,
                Decision::Fails(_) => Fails,
                Decision::Undecided(why) => {
                    assert!(why.contains("cannot be decided"), "{why}");
                    Unknown
                }
            };
            assert!(
                verdict == truth || verdict == Unknown && !is_whole,
                "{name}: {gate}: {decision:?}"
            );
        }
    }
}

#[test]
fn a_condition_is_decided_by_what_is_known_of_all_calls_or_not_at_all() {
    const ENOUGH: u64 = 64 << 20;
    const LITTLE: u64 = 4 << 20;
    let whole = recorded("gate-whole.spy", Policy::KeepNewest, Mode::Full, ENOUGH);
    check(&whole, |case| case.whole);
    check(&recorded("gate-folded.spy", Policy::KeepNewest, Mode::Full, LITTLE), |case| case.folded);
    check(&recorded("gate-lost.spy", Policy::KeepOldest, Mode::Full, LITTLE), |case| case.lost);
    check(&recorded("gate-sampled.spy", Policy::KeepNewest, Mode::Sampled, ENOUGH), |case| {
        case.sampled
    });
    let header = fixture::open(&whole).header();
    let before_blocks = header.total_bytes - header.blocks * 4096;
    let file = fs::File::options().write(true).open(&whole).expect("it was just written");
    file.set_len(before_blocks + header.fresh / 2 * 4096).expect("a file can be truncated");
    check(&whole, |case| case.cut);
}

#[test]
fn an_undecided_condition_states_what_is_missing_and_what_to_do() {
    let path = recorded("gate-doubt.spy", Policy::KeepOldest, Mode::Full, 4 << 20);
    let (code, _, error) =
        ended(&["report", text(&path), "--fail-if", "count(site:frame took:>10ms) > 0"]);
    assert_eq!(code, 2, "{error}");
    for words in ["cannot be decided", "without an event in the window", "METASPY_BUDGET"] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn an_empty_recording_passes_no_condition() {
    let path = fixture::closed("gate-empty.spy", 0);
    for case in CASES {
        let (code, out, error) = ended(&["report", text(&path), "--fail-if", case.condition]);
        assert_eq!(code, 1, "{}: {out}{error}", case.condition);
    }
}

/// No gate passes where there is nothing to compare, and no output looks whole that is not.
#[test]
fn what_is_missing_fails_a_command_or_leaves_it_undecided() {
    let whole = fixture::closed("gate-nothing.spy", MANY);
    let cut = cut(&whole, "gate-nothing");
    let [whole, cut] = [text(&whole), text(&cut)];
    let nothing = "epoch:99";
    let copy = fixture::directory().join("gate-nothing-copy.spy");
    let spy: &[&str] = &["export", cut, "--to", "spy", "-o", text(&copy)];
    let commands: [(&[&str], i32, &str); 9] = [
        (&["report", whole, "--fail-if", "max(site:frame took:>1h) > 1ns"], 2, "no call that"),
        (&["report", whole, "--fail-if", "count(* outcome:panicked) > 0"], 1, "FAILED"),
        (&["report", whole, "--fail-if", "count(site:frame) > 1,9k"], 2, "is not a number"),
        (&["diff", whole, whole, "--fail-on", "count +1%", "--filter", nothing], 1, "nothing to"),
        (&["findings", cut, "--fail-on", "any"], 2, "the recording is damaged"),
        (&["export", cut, "--to", "jsonl"], 1, "damaged: "),
        (&["blueprint", "structural", cut], 1, "damaged: "),
        (&["diff", cut, whole], 1, "damaged: "),
        (spy, 2, "would look like a whole recording"),
    ];
    for (arguments, expected, words) in commands {
        let (code, out, error) = ended(arguments);
        assert_eq!(code, expected, "{arguments:?}: {out}{error}");
        assert!(format!("{out}{error}").contains(words), "{arguments:?}: {out}{error}");
    }
    assert!(!copy.exists());
}
