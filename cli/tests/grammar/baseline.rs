//! `--baseline`: what is better and what is worse than before.

use serde_json::{Value, json};

use crate::{LIST, TestDirectory};

const RULE: [&str; 3] = ["list.pest", "--rule", "list"];

/// The comparison of a run on `after` with one on `before`, as text and as JSON, and the exit code
/// of both.
fn compare(test: &str, grammar_after: &str, before: &str, after: &str) -> (i32, String, Value) {
    let place = TestDirectory::new(test)
        .file("list.pest", LIST)
        .file("before", before)
        .file("after", after);
    let (code, old, error) = place.run(&[&RULE[..], &["before", "--json"]].concat());
    assert_eq!(code, 0, "{error}");
    let place = place.file("old.json", old).file("list.pest", grammar_after);
    let arguments = [&RULE[..], &["after", "--baseline", "old.json"]].concat();
    let (code, out, _) = place.run(&arguments);
    let (json_code, report) = place.json(&arguments);
    assert_eq!(code, json_code);
    (code, out, report["comparison"].clone())
}

fn expected(changed: bool, [gained, lost, new, gone]: [&[&str]; 4]) -> Value {
    json!({"grammar_changed": changed, "gained": gained, "lost": lost, "rejected": [], "new": new, "gone": gone})
}

/// Every production still matches, in the rejected input too: only the inputs show the fault.
#[test]
fn an_input_that_is_accepted_no_more_ends_with_1() {
    let place = TestDirectory::new("rejected")
        .file("list.pest", LIST)
        .file("in/a", "1,x!")
        .file("in/b", "2,y?");
    let (_, old, _) = place.run(&[&RULE[..], &["in", "--json"]].concat());
    let place = place.file("old.json", old).file("in/b", "2,y?,").file("in/new", "#");
    let arguments = [&RULE[..], &["in", "--baseline", "old.json"]].concat();
    let (code, out, _) = place.run(&arguments);
    assert!(code == 1 && out.contains("FAILED: --baseline (no longer accepted: in/b)\n"), "{out}");
    assert!(out.contains("NO LONGER ACCEPTED since the baseline: in/b\n"), "{out}");
    let (code, report) = place.json(&arguments);
    let comparison = &report["comparison"];
    assert_eq!(
        (code, &comparison["rejected"], &comparison["lost"]),
        (1, &json!(["in/b"]), &json!([]))
    );
}

#[test]
fn the_same_run_changes_nothing() {
    let (code, out, comparison) = compare("same", LIST, "1,x", "1,x");
    assert_eq!((code, comparison), (0, expected(false, [&[], &[], &[], &[]])));
    assert!(out.contains("nothing that is in use changed its state since the baseline"), "{out}");
}

#[test]
fn what_matches_now_is_gained() {
    let (code, out, comparison) = compare("gained", LIST, "1", "1,x!");
    assert_eq!((code, comparison), (0, expected(false, [&["word", "mark"], &[], &[], &[]])));
    assert!(out.contains("since the baseline newly matched:\n  word "), "{out}");
    assert!(out.contains("entered 0 → 1, matched 0 → 1\n"), "{out}");
}

#[test]
fn what_matches_no_more_is_lost_and_ends_with_1() {
    let (code, out, comparison) = compare("lost", LIST, "1,x!", "1,x");
    assert_eq!((code, comparison), (1, expected(false, [&[], &["mark"], &[], &[]])));
    assert!(out.contains("since the baseline NO LONGER MATCHED:\n  mark "), "{out}");
    assert!(out.contains("FAILED: --baseline (no longer matched: mark)\n"), "{out}");
}

#[test]
fn a_changed_grammar_is_reported_and_a_renamed_production_is_not_lost() {
    let grammar = LIST.replace("word", "name").replace("hex ", "hexadecimal ");
    let (code, out, comparison) = compare("changed", &grammar, "1,x", "1,x");
    assert_eq!((code, comparison), (0, expected(true, [&[], &[], &["name"], &["word"]])));
    assert!(
        out.contains("the grammar has changed since the baseline\nnew in use: name\n"),
        "{out}"
    );
    assert!(out.contains("gone or no longer in use: word\n"), "{out}");
}

#[test]
fn another_start_rule_is_reported() {
    let place = TestDirectory::with_lists("other_rule");
    let (_, old, _) = place.run(&["list.pest", "--rule", "value", "in", "--json"]);
    let place = place.file("old.json", old);
    let (_, out, _) = place.run(&[&RULE[..], &["in", "--baseline", "old.json"]].concat());
    assert!(out.contains("the baseline began at another rule, value\n"), "{out}");
}

#[test]
fn a_baseline_of_another_grammar_ends_with_2() {
    let place = TestDirectory::new("other_grammar").file("list.pest", LIST).file("in/a", "1,x");
    let (_, old, _) = place.run(&[&RULE[..], &["in", "--json"]].concat());
    let other: Value = serde_json::from_str(&old).expect("it is JSON");
    let mut other = other;
    for production in other["productions"].as_array_mut().expect("there are some") {
        production["name"] =
            format!("other_{}", production["name"].as_str().expect("it has a name")).into();
    }
    let place = place.file("old.json", other.to_string());
    let (code, _, error) = place.run(&[&RULE[..], &["in", "--baseline", "old.json"]].concat());
    assert!(
        code == 2 && error.contains("--baseline cannot be decided: no production is in use both"),
        "{error}"
    );
}

#[test]
fn a_baseline_that_cannot_be_read_ends_with_2_before_anything_is_parsed() {
    let place = TestDirectory::with_lists("unreadable")
        .file("list.txt", "1,2")
        .file("other.json", "{\"format\": 1}");
    let place =
        place.file("newer.json", r#"{"format": 2, "rule": "a", "digest": "", "productions": []}"#);
    for (name, word) in [
        ("missing.json", "cannot be read"),
        ("list.txt", "not a report of `metaspy grammar`"),
        ("other.json", "missing field"),
        ("newer.json", "its format is 2"),
    ] {
        let (code, out, error) = place.run(&[&RULE[..], &["in", "--baseline", name]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{name}");
        assert!(error.contains(name) && error.contains(word), "{name}: {error}");
    }
}
