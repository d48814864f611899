//! The table of findings.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use metaspy_reader::Store;
use metaspy_report::findings::{self, json};
use serde_json::{Value, json};

use crate::fixture::{directory, metaspy, printed, recording, spool};
use crate::ship::text;

/// Settings with a kind of the project's own, and a finding that is accepted.
const SETTINGS: &str = r#"
[[findings.own]]
kind = "painted"
by = ["site"]
when = "count(site:NodeId::paint) > 0"
title = "{site} paints"
"#;

/// Runs a query in a directory.
fn query_in(dir: &Path, sql: &str, sources: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    command
        .args(["query", "--json", sql])
        .args(sources)
        .current_dir(dir)
        .output()
        .expect("it starts")
}

/// A row of SQL, with the names and the shape of the command's JSON.
fn as_of_command(row: &Value) -> Value {
    let or = |key: &str, other: Value| if row[key].is_null() { other } else { row[key].clone() };
    let numbers: Value =
        serde_json::from_str(row["numbers"].as_str().expect("a text")).expect("it is JSON");
    json!({
        "number": row["number"], "kind": row["kind"], "title": row["title"], "site": row["site"],
        "file": or("file", json!("")), "line": or("line", json!(0)), "subject": row["subject"],
        "key": row["subject_key"], "subjects": row["subjects"],
        "cost": {
            "time_ns": row["time_ns"], "time_of": row["time_of"], "events": row["events"],
            "time_share": or("time_share", json!(0.0)), "events_share": row["events_share"], "at_least": row["at_least"],
        },
        "text": row["evidence"], "numbers": numbers, "filter": or("filter", json!("")), "event": row["event"],
        "certainty": row["certainty"], "certain_because": row["certain_because"], "advice": or("advice", json!("")),
        "needs": or("needs", json!("")), "fingerprint": row["fingerprint"],
        "implied_by": row["implied_by"], "small": row["small"], "state": row["state"],
    })
}

/// A finding of the command's JSON, with the first of its sites, subjects and events.
fn first_of_each(finding: &Value) -> Value {
    let (site, subject, evidence) =
        (&finding["sites"][0], &finding["subjects"]["worst"][0], &finding["evidence"]);
    let event = evidence["events"][0]
        .as_str()
        .map(|id| id.parse::<metaspy_reader::EventId>().expect("an id").raw());
    json!({
        "number": finding["number"], "kind": finding["kind"], "title": finding["title"], "site": site["path"],
        "file": site["file"].as_str().unwrap_or(""), "line": site["line"].as_u64().unwrap_or(0),
        "subject": subject["text"], "key": subject["key"], "subjects": finding["subjects"]["count"],
        "cost": finding["cost"], "text": evidence["text"], "numbers": evidence["numbers"], "filter": evidence["filter"],
        "event": event, "certainty": finding["certainty"], "certain_because": finding["certain_because"],
        "advice": finding["advice"], "needs": finding["needs"], "fingerprint": finding["fingerprint"],
        "implied_by": finding["implied_by"], "small": finding["small"], "state": finding["state"],
    })
}

#[test]
fn the_table_has_what_the_command_states() {
    let dir = directory("findings");
    let spy = recording().display().to_string();
    let found = |sql: &str| -> Vec<Value> {
        let output = query_in(&dir, sql, &[&spy]);
        assert!(output.status.success(), "{}", text(&output));
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    };
    // The last settings accept a finding of the recording.
    let some = || found("SELECT fingerprint FROM findings WHERE kind = 'failing-subject'");
    for settings in ["", SETTINGS, "accept"] {
        let settings = match settings {
            "accept" => {
                let fingerprint = some()[0]["fingerprint"].as_str().expect("a text").to_owned();
                format!(
                    "{SETTINGS}\n[[findings.accepted]]\nfingerprint = \"{fingerprint}\"\nreason = \"on purpose\"\n"
                )
            }
            settings => settings.to_owned(),
        };
        fs::write(dir.join("metaspy.toml"), &settings).expect("there is room");
        let rows = found("SELECT * FROM findings ORDER BY number");
        let mut json = Vec::new();
        let config = findings::settings_of_project(&dir).expect("they are settings");
        let store = Store::open(recording().as_path()).expect("it was recorded");
        json::write(&mut json, &findings::find(&store, &config), &[]).expect("a buffer takes it");
        let command: Value = serde_json::from_slice(&json).expect("it is JSON");
        let of_command: Vec<Value> =
            command["findings"].as_array().expect("a list").iter().map(first_of_each).collect();
        assert_eq!(rows.iter().map(as_of_command).collect::<Vec<_>>(), of_command, "{settings}");
        assert!(
            !rows.is_empty()
                && rows.iter().any(|row| row["subject"].is_string() && row["event"].is_u64()),
            "{rows:#?}"
        );
        // The number that the crawler opens is the place among those that are listed.
        let listed = rows.iter().filter(|row| row["small"] == false && row["state"] == "open");
        for (number, row) in (1..).zip(listed) {
            assert_eq!(row["command"], format!("metaspy open {spy} --finding {number}"));
        }
        assert_eq!(
            rows.iter().any(|row| row["kind"] == "painted"),
            settings.contains("painted"),
            "{rows:#?}"
        );
        assert_eq!(
            rows.iter().any(|row| row["state"] == "accepted"),
            settings.contains("accept"),
            "{rows:#?}"
        );
    }
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_finding_leads_to_its_events() {
    let sql = "SELECT count(*) FROM findings AS f JOIN events AS e \
               ON f.event = e.event AND f.process = e.process AND f.run = e.run WHERE e.site = f.site";
    let rows = crate::fixture::rows(sql);
    assert_ne!(rows, ["0"]);
}

#[test]
fn each_recording_is_searched_by_itself() {
    let dir = spool("searched", 2);
    let all = printed(&[
        "query",
        "--format",
        "csv",
        "SELECT count(*) FROM findings",
        &dir.display().to_string(),
    ]);
    let one =
        crate::fixture::rows("SELECT count(*) FROM findings")[0].parse::<u64>().expect("a number");
    assert_eq!(all.lines().nth(1), Some(&*(2 * one).to_string()));
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn settings_that_are_wrong_are_an_error_of_the_query() {
    let dir = directory("wrong settings");
    fs::write(dir.join("metaspy.toml"), "[findings]\nleast-share = \"much\"\n")
        .expect("there is room");
    let spy = recording().display().to_string();
    let output = query_in(&dir, "SELECT * FROM findings", &[&spy]);
    let expected = findings::settings_of_project(&dir).expect_err("they are wrong");
    assert!(
        output.status.code() == Some(2) && text(&output).contains(&expected),
        "{}",
        text(&output)
    );
    // Other tables need no settings, and neither does the list of columns.
    assert!(query_in(&dir, "SELECT count(*) FROM events", &[&spy]).status.success());
    let schema = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"))
        .args(["query", "--schema", &spy])
        .current_dir(&dir)
        .output()
        .expect("it starts");
    assert!(schema.status.success() && text(&schema).contains("\nfindings\n"), "{}", text(&schema));
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_sealed_set_has_no_findings_and_says_what_to_do() {
    let dir = spool("sealed findings", 1);
    let set = dir.join("set").display().to_string();
    printed(&["seal", &recording().display().to_string(), "--to", &set]);
    for sources in [&[&*set][..], &[&set, &dir.join("tree-0.spy").display().to_string()]] {
        let output = metaspy(&[&["query", "SELECT * FROM findings"], sources].concat());
        let error = text(&output);
        assert!(
            output.status.code() == Some(2)
                && error.contains("`findings` needs the recording: metaspy restore"),
            "{error}"
        );
        let schema = printed(&[&["query", "--schema"], sources].concat());
        assert!(!schema.contains("\nfindings\n"), "{schema}");
    }
    fs::remove_dir_all(dir).expect("it is ours");
}
