//! Conditions on recordings that know less than the program did: a gate never passes because calls are missing.

use std::fs;
use std::path::{Path, PathBuf};

use metaspy_core::Recording;
use metaspy_core::arm::Mode;
use metaspy_core::recording::Policy;
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
    let is_undecided = CASES.iter().any(|case| expected(case) == Unknown);
    assert_eq!(code, if is_undecided { 2 } else { 1 }, "{}", path.display());
}

#[test]
fn a_condition_is_decided_by_what_is_known_of_all_calls_or_not_at_all() {
    const ENOUGH: u64 = 64 << 20;
    const LITTLE: u64 = 4 << 20;
    let whole = recorded("gate-whole.spy", Policy::KeepNewest, Mode::Full, ENOUGH);
    check(&whole, |case| case.whole);
    check(&recorded("gate-folded.spy", Policy::KeepNewest, Mode::Full, LITTLE), |case| case.folded);
    check(&recorded("gate-lost.spy", Policy::KeepOldest, Mode::Full, LITTLE), |case| case.lost);
    check(&recorded("gate-sampled.spy", Policy::KeepNewest, Mode::Sampled, ENOUGH), |case| case.sampled);
    let header = fixture::open(&whole).header();
    let before_blocks = header.total_bytes - header.blocks * 4096;
    let file = fs::File::options().write(true).open(&whole).expect("it was just written");
    file.set_len(before_blocks + header.fresh / 2 * 4096).expect("a file can be truncated");
    check(&whole, |case| case.cut);
}

#[test]
fn an_undecided_condition_states_what_is_missing_and_what_to_do() {
    let path = recorded("gate-doubt.spy", Policy::KeepOldest, Mode::Full, 4 << 20);
    let (code, _, error) = ended(&["report", text(&path), "--fail-if", "count(site:frame took:>10ms) > 0"]);
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
