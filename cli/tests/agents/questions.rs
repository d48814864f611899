//! The questions of `docs/agents.md`: the calls that answer them, how many they are, and how long
//! their answers.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::client::{Client, metaspy, workspace};

const DOCUMENT: &str = include_str!("../../../docs/agents.md");
/// Calls for a question at most.
const CALLS: usize = 5;
/// Bytes of all answers to a question at most.
const BYTES: usize = 20 * 1024;
/// A kind of finding that each layout of a page has.
const SETTINGS: &str = r#"
[[findings.own]]
kind = "laid-out"
by = ["subject"]
when = "count(site:Scene::layout) > 20"
title = "{site} runs {count} times on one subject"
"#;

/// A call of the table: the tool, and its arguments.
fn calls_of(row: &str) -> Vec<(String, Value)> {
    let cells = row.split('`').skip(1).step_by(2);
    let call = |cell: &str| {
        let (tool, arguments) = cell.split_once(' ').unwrap_or((cell, "{}"));
        let arguments =
            serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{cell}: {error}"));
        (tool.to_owned(), arguments)
    };
    cells.map(call).collect()
}

/// The arguments with what earlier answers have in the place of `$/a/0/b`.
fn filled(arguments: &Value, answers: &[Value]) -> Value {
    let fill = |value: &Value| match value.as_str().and_then(|text| text.strip_prefix('$')) {
        Some(pointer) => {
            let found = answers.iter().rev().find_map(|answer| answer.pointer(pointer));
            found.unwrap_or_else(|| panic!("no answer has {pointer}: {answers:#?}")).clone()
        }
        None => value.clone(),
    };
    let arguments = arguments.as_object().expect("arguments are an object");
    Value::Object(
        arguments.iter().map(|(name, value)| (name.clone(), fill(value))).collect::<Map<_, _>>(),
    )
}

/// Adds the sources of the demo to a workspace.
fn add_sources(directory: &Path) {
    let layout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/layout/src/tree");
    fs::create_dir_all(directory.join("examples/layout/src/tree")).unwrap();
    for file in fs::read_dir(layout).expect("the repository has it").filter_map(Result::ok) {
        fs::copy(file.path(), directory.join("examples/layout/src/tree").join(file.file_name()))
            .unwrap();
    }
}

#[test]
fn ten_questions_are_answered_by_few_calls_with_small_answers() {
    let directory = workspace("questions");
    let sections: String = (0..60)
        .map(|n| format!("<section><h2>Title {n}</h2><p>Words of {n}</p></section>"))
        .collect();
    fs::write(
        directory.join("page.html"),
        format!("<html><body><main>{sections}</main></body></html>"),
    )
    .unwrap();
    fs::write(directory.join("metaspy.toml"), SETTINGS).unwrap();
    for (recording, events) in [("before.spy", "20000"), ("after.spy", "10000")] {
        let arguments = ["demo", "page.html", "--record", recording, "--events", events];
        let output = metaspy(&directory, &arguments).output().expect("it was built for this test");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    add_sources(&directory);
    let mut client = Client::start(&directory, &["before.spy"]);
    let table = DOCUMENT.lines().skip_while(|line| *line != "| question | calls |").skip(2);
    let rows: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let calls = calls_of(row);
        assert!((1..=CALLS).contains(&calls.len()), "{row}");
        let (mut answers, mut bytes) = (Vec::new(), 0);
        for (tool, arguments) in calls {
            let answer = client.call(&tool, filled(&arguments, &answers));
            assert!(!answer.is_error, "{row}: {}", answer.text);
            let is_list = answer.content.get("total").and_then(Value::as_u64);
            assert_ne!(is_list, Some(0), "{row}: {tool} found nothing: {:#}", answer.content);
            bytes += answer.bytes;
            answers.push(answer.content);
        }
        println!("{bytes:>6} bytes: {row}");
        assert!(bytes <= BYTES, "{bytes} bytes: {row}");
    }
}

/// A line without its times and shares of them, which differ from run to run.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_unit =
        |word: &str| ["ns", "µs", "ms", "s", "%"].contains(&word.trim_end_matches([',', '.']));
    let is_number = |at: usize| words.get(at + 1).is_some_and(|next| is_unit(next));
    let mut shown: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        shown.push(if is_number(at) || is_unit(word) { "#" } else { word });
    }
    shown.join(" ").replace("of the events:", "of the time:")
}

#[test]
fn the_calls_from_a_question_to_the_line_have_the_answers_of_the_document() {
    let directory = workspace("transcript");
    // What takes long depends on the machine.
    fs::write(directory.join("metaspy.toml"), "[findings.kinds.hot-subject]\noff = true\n")
        .unwrap();
    let output =
        metaspy(&directory, &["demo", "--record", "run.spy", "--events", "100k"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    add_sources(&directory);
    let mut client = Client::start(&directory, &["run.spy"]);
    let transcript =
        DOCUMENT.split("```").find_map(|block| block.strip_prefix("text\n")).expect("it is there");
    let (mut answers, mut text, mut bytes) = (Vec::new(), String::new(), 0);
    for line in transcript.lines().filter(|line| !line.is_empty()) {
        if let Some(quoted) = line.strip_prefix("  ") {
            let is_said = text.lines().any(|line| timeless(line) == timeless(quoted));
            assert!(is_said || quoted == "…", "{quoted}\n{text}");
            continue;
        }
        let (call, size) = line.rsplit_once("  ").expect("a call has a size");
        let (tool, arguments) = call.split_once(' ').expect("a call has arguments");
        let arguments: Value =
            serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{line}: {error}"));
        let answer = client.call(tool, filled(&arguments, &answers));
        assert!(!answer.is_error, "{line}: {}", answer.text);
        let kilobytes: f64 = size.trim().trim_end_matches(" kB").parse().expect("it is a number");
        let is_near = (answer.bytes as f64 / 1e3 - kilobytes).abs() < 0.3;
        assert!(is_near, "{line}: it has {} bytes", answer.bytes);
        bytes += answer.bytes;
        answers.push(answer.content);
        text = answer.text;
    }
    assert!(
        (1..=CALLS).contains(&answers.len()) && bytes <= BYTES,
        "{} calls, {bytes} bytes",
        answers.len()
    );
}
