//! `metaspy schema`, and what commands write about recordings of every kind. All tests of commands
//! validate their JSON, too.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::gates::{self, Recorded};
use crate::schemas::{Schema, assert_changes_are_noticed};
use crate::{ended, fixture, metaspy, text};

/// Commands that write JSON about the recording `IN`.
const OUTPUTS: [&str; 25] = [
    "report IN --json",
    "report IN --by subject --json",
    "report IN --by site,subject --top 3 --json",
    "report IN --by cause --json",
    "report IN --by sender --json",
    "report IN --by cause,subject --json",
    "report IN --by type --json",
    "report IN --by package --top all --filter site:Scene::* --json",
    "report IN --fail-if count(*)>1 --fail-if self(site:frame)>1h --expect site:layout=>cause:frame --json",
    "report IN IN2 --json",
    "findings IN --fail-on any --json",
    "verify IN --json",
    "diff IN IN2 --fail-on count+10% --json",
    "diff IN IN2 --by subject --json",
    "diff IN,IN2,IN2 IN,IN2,IN2 --by type --json",
    "blueprint structural IN --json",
    "blueprint coverage IN --json",
    "blueprint calls IN --json",
    "blueprint behavioural IN --json",
    "blueprint domain IN --view VIEW --json",
    "blueprint evolution IN IN2 --json",
    "blueprint evolution IN IN2 IN --json",
    "export IN --to json",
    "export IN --to jsonl --filter site:Scene::layout",
    "export IN2 --to jsonl",
];
const VIEW: &str = "subjects = \"node\"\nfill = { value = \"count\", query = \"site:measure\" }\n";
/// Outputs that a recording of frames cannot have: the tests of their commands validate them.
const OF_OTHER_TESTS: [&str; 9] = [
    "allocations",
    "contexts",
    "functions",
    "grammar",
    "grammar-report",
    "instructions",
    "kept",
    "sample",
    "types",
];

/// What a command wrote about a recording, unless the recording cannot have it.
fn written(
    command: &str,
    path: &str,
    other: &str,
    view: &str,
) -> Option<(Vec<String>, Vec<Value>)> {
    let word = |word: &str| word.replace("IN2", other).replace("IN", path).replace("VIEW", view);
    let arguments: Vec<String> = command.split(' ').map(word).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (code, out, error) = ended(&words);
    let is_event = command.contains("jsonl");
    assert!(
        !out.is_empty() || is_event || code == 2 && error.starts_with("metaspy: "),
        "{command} {path}: {error}"
    );
    let documents = if is_event { out.lines().collect() } else { vec![&*out] };
    let parse = |text| {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{command} {path}: {error}"))
    };
    let values: Vec<Value> =
        documents.into_iter().filter(|text| !text.is_empty()).map(parse).collect();
    let command = [&["metaspy".to_owned()], &arguments[..]].concat();
    (!values.is_empty()).then_some((command, values))
}

#[test]
fn what_is_written_about_every_recording_is_as_the_schemas_have_it() {
    let view = fixture::directory().join("schema-view.toml");
    fs::write(&view, VIEW).expect("it is written");
    let repeating = fixture::repeating("schema-repeating.spy");
    let mut recordings = gates::recordings("schema");
    // The tests of gates ask these, too, and they are the largest.
    recordings.retain(|recorded| !["whole", "sampled"].contains(&recorded.name));
    recordings.push(Recorded {
        name: "repeating",
        path: repeating.clone(),
        frames: 30,
        is_whole: true,
    });
    let mut seen = BTreeSet::new();
    let mut changed = BTreeSet::new();
    for Recorded { path, .. } in &recordings {
        for command in OUTPUTS {
            let Some((line, values)) = written(command, text(path), text(&repeating), text(&view))
            else {
                continue;
            };
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            seen.insert(Schema::of(&line).expect("it is valid").name.as_str());
            if changed.insert(command) {
                assert_changes_are_noticed(&line, &values[0]);
            }
        }
    }
    let missing: Vec<&str> =
        OUTPUTS.into_iter().filter(|command| !changed.contains(command)).collect();
    assert!(missing.is_empty(), "no recording has an output of {missing:?}");
    seen.extend(OF_OTHER_TESTS.iter().chain(&["list"]));
    let all: BTreeSet<&str> = Schema::all().iter().map(|schema| schema.name.as_str()).collect();
    assert_eq!(seen, all);
}

#[test]
fn the_list_of_live_recordings_is_as_the_schema_has_it() {
    let directory = fixture::directory().join("schema-live");
    let of_run = directory.join("nightly");
    fs::create_dir_all(&of_run).expect("the test's directory can be written");
    // Their processes are ones that there cannot be.
    let recording = fixture::closed("schema-live.spy", 3);
    for path in [directory.join("layout-4194999-7.spy"), of_run.join("layout-4194998-7.spy")] {
        fs::copy(&recording, path).expect("it can be copied");
    }
    let output = metaspy(&["list", "--json"])
        .env("METASPY_DIR", &directory)
        .output()
        .expect("it can be started");
    let listed: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_changes_are_noticed(&["metaspy", "list", "--json"], &listed);
}

#[test]
fn schemas_are_listed_and_printed() {
    let (code, list, error) = ended(&["schema"]);
    assert_eq!((code, error.as_str()), (0, ""), "{list}");
    assert!(list.contains("report          Counts of a recording"), "{list}");
    for schema in Schema::all() {
        // A whole document: nothing is behind a reference to another file.
        let references = schema.document.to_string();
        let references = references.split("\"$ref\":\"").skip(1);
        let outside: Vec<&str> = references.filter(|rest| !rest.starts_with('#')).collect();
        assert!(outside.is_empty(), "{}: {outside:?}", schema.name);
    }
    let (code, out, error) = ended(&["schema", "raport"]);
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("a similar value exists: 'report'"), "{error}");
}
