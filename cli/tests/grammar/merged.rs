//! What the processes of a test run recorded, merged.

use std::fs;

use metaspy_core::format::superblock as sb;
use serde_json::Value;

use crate::{TestDirectory, production};

/// A grammar of which each of two processes exercises a part.
fn parts(test: &str) -> TestDirectory {
    let place = TestDirectory::with_lists(test).file("parts/notes.txt", "no recording");
    for (part, input) in [("parts/a.spy", "in/a.txt"), ("parts/b.spy", "in/sub")] {
        let (code, _, error) = place.run(&["list.pest", "--rule", "list", input, "--record", part]);
        assert_eq!((code, error.as_str()), (0, ""));
    }
    place
}

#[test]
fn the_parts_of_a_run_add_up_to_the_whole() {
    let place = parts("merged");
    let (_, whole) = place.json(&["list.pest", "--rule", "list", "in/a.txt", "in/sub"]);
    let (code, merged) = place.json(&["report", "parts"]);
    assert_eq!(
        (code, &merged["exact"], &merged["coverage"]),
        (0, &Value::Bool(true), &whole["coverage"])
    );
    for expected in whole["productions"].as_array().unwrap() {
        let path = format!("list::{}", expected["name"].as_str().unwrap());
        let found = production(&merged, &path);
        for field in ["entered", "matched", "failed", "state", "role", "file", "line"] {
            assert_eq!(found[field], expected[field], "{path}: {field}");
        }
    }
}

#[test]
fn the_text_begins_with_what_no_part_matched() {
    let (code, out, error) = parts("merged_text").run(&["report", "parts", "--fail-under", "90"]);
    assert_eq!((code, error.as_str()), (1, ""));
    insta::assert_snapshot!("merged", out);
}

#[test]
fn a_part_that_was_killed_counts_and_is_named() {
    let place = parts("merged_killed");
    let path = place.path("parts/b.spy");
    let mut bytes = fs::read(&path).unwrap();
    let mut set = |word: usize, value: u64| {
        bytes[word * 8..word * 8 + 8].copy_from_slice(&value.to_le_bytes())
    };
    set(sb::STATE, 0);
    // No process has this number.
    set(sb::PID, 0x7FFF_FFF0);
    fs::write(&path, bytes).unwrap();
    let (code, out, _) = place.run(&["report", "parts"]);
    assert!(
        out.contains("1 recording killed, and counted as far as they went:\n  parts/b.spy (process 2147483632)"),
        "{out}"
    );
    assert_eq!(code, 0);
}

/// Calls that were counted without their production may have matched.
#[test]
fn counts_that_are_too_low_fail_no_gate_and_pass_none() {
    let place = parts("merged_inexact");
    let path = place.path("parts/b.spy");
    let mut bytes = fs::read(&path).unwrap();
    bytes[sb::UNNAMED * 8..sb::UNNAMED * 8 + 8].copy_from_slice(&3_u64.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let (code, _, error) = place.run(&["report", "parts", "--fail-under", "99"]);
    assert!(
        code == 2
            && error.contains("--fail-under 99 cannot be decided: ")
            && error.contains("METASPY_BUDGET"),
        "{error}"
    );
    let (code, _, error) = place.run(&["report", "parts", "--fail-under", "1"]);
    assert_eq!((code, error.as_str()), (0, ""), "more calls would cover more");
}

#[test]
fn files_that_are_no_recordings_are_named_and_an_empty_directory_has_a_hint() {
    let place =
        parts("merged_unreadable").file("parts/c.spy", "a letter").file("empty/none.txt", "");
    let (code, out, _) = place.run(&["report", "parts"]);
    assert!(code == 1 && out.contains("1 recording unreadable:"), "{out}");
    let (code, _, error) = place.run(&["report", "empty"]);
    assert!(code == 2 && error.contains("METASPY_RECORD=live METASPY_DIR=empty"), "{error}");
    let (code, _, error) = place.run(&["report", "nowhere"]);
    assert!(code == 2 && error.contains("cannot read nowhere"), "{error}");
}
