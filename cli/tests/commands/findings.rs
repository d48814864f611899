//! `metaspy findings`: checks, baselines, settings and explanations.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::{ended, fixture, metaspy, text};

/// A kind of which each recording of the page has a finding.
const SETTINGS: &str = r#"
[[findings.own]]
kind = "measures"
by = ["subject"]
when = "count(site:measure) > 1"
title = "{site} runs {count} times on one subject"
"#;

/// A directory with a recording of the page and settings.
fn directory(name: &str, settings: &str) -> PathBuf {
    let directory = fixture::directory().join(name);
    fs::create_dir_all(directory.join("below")).expect("it can be created");
    fs::write(directory.join("metaspy.toml"), settings).expect("it can be written");
    let recording = fixture::closed(&format!("{name}.spy"), 3);
    fs::rename(recording, directory.join("run.spy")).expect("it can be moved");
    directory
}

#[test]
fn a_check_decides_how_the_command_ends_and_a_baseline_silences_it() {
    let directory = directory("findings-check", SETTINGS);
    let path = |name: &str| directory.join(name).display().to_string();
    let (run, settings, before) = (path("run.spy"), path("metaspy.toml"), path("before.json"));
    let findings =
        |more: &[&str]| ended(&[&["findings", &run, "--config", &settings], more].concat());
    let (code, out, _) = findings(&[&format!("--json={before}")]);
    assert!(code == 0 && out.contains("Scene::measure runs 3 times on one subject"), "{out}");
    let (code, out, _) =
        findings(&["--fail-on", "measures > 1 %", "--fail-on", "measures > 100 %"]);
    assert!(
        code == 1
            && out.contains("FAILED: measures > 1 %")
            && out.contains("passed: measures > 100 %"),
        "{out}"
    );
    let (code, out, _) = findings(&["--fail-on", "any", "--baseline", &before]);
    assert!(
        code == 0
            && out.contains("Known from the baseline: 1 finding")
            && out.contains("passed: any"),
        "{out}"
    );
    let sarif = path("findings.sarif");
    findings(&["--baseline", &before, "--sarif", &sarif]);
    let sarif: Value =
        serde_json::from_slice(&fs::read(sarif).expect("it was written")).expect("it is JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["baselineState"], "unchanged");
    let (code, _, error) = findings(&["--fail-on", "measure > 1 %"]);
    assert!(
        code == 2 && error.contains("there is no kind `measure`") && error.contains("measures"),
        "{error}"
    );
    let (code, _, error) = findings(&["--baseline", &run]);
    assert!(code == 2 && error.contains("--json=FILE"), "{error}");
}

#[test]
fn the_settings_of_a_directory_above_accept_a_finding_with_a_reason() {
    let directory = directory("findings-settings", SETTINGS);
    let below = |arguments: &[&str]| {
        let mut command = metaspy(&[&["findings", "../run.spy"], arguments].concat());
        let output = command
            .current_dir(directory.join("below"))
            .output()
            .expect("the command can be started");
        (
            output.status.code(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let (_, out) = below(&["--json"]);
    let found: Value = serde_json::from_str(&out).expect("it is JSON");
    let fingerprint = found["findings"][0]["fingerprint"].as_str().expect("it has one");
    let accepted =
        format!("[[findings.accepted]]\nfingerprint = \"{fingerprint}\"\nreason = \"by design\"\n");
    fs::write(directory.join("metaspy.toml"), format!("{SETTINGS}{accepted}"))
        .expect("it can be written");
    let (code, out) = below(&["--fail-on", "measures"]);
    assert!(code == Some(0) && out.contains("Accepted by metaspy.toml: 1 finding"), "{out}");
    fs::write(directory.join("metaspy.toml"), "[findings]\nleast = 1").expect("it can be written");
    let (code, out) = below(&[]);
    assert!(
        code == Some(2) && out.contains("metaspy.toml") && out.contains("unknown field `least`"),
        "{out}"
    );
}

#[test]
fn a_report_of_a_whole_recording_ends_with_the_number_of_findings() {
    let directory = directory("findings-mentioned", SETTINGS);
    let report = |arguments: &[&str]| {
        let mut command = metaspy(&[&["report"], arguments].concat());
        let output = command.current_dir(&directory).output().expect("the command can be started");
        (output.status.code(), String::from_utf8(output.stdout).expect("it is UTF-8"))
    };
    let ends = |arguments: &[&str], line: &str| {
        let (code, out) = report(arguments);
        assert!(code == Some(0) && out.ends_with(&format!("\n\n{line}\n")), "{out}");
    };
    ends(&["run.spy"], "1 finding: metaspy findings run.spy");
    ends(&["run.spy", "--by", "subject"], "1 finding: metaspy findings run.spy");
    let silent: [&[&str]; 4] = [
        &["--json"],
        &["--filter", "site:measure"],
        &["--fail-if", "count(site:measure) > 1000"],
        &["--expect", "site:measure => site:measure"],
    ];
    for arguments in silent {
        let (code, out) = report(&[&["run.spy"], arguments].concat());
        assert!(code == Some(0) && !out.contains("metaspy findings"), "{out}");
    }
    fs::write(directory.join("metaspy.toml"), "[findings]\nleast = 1").expect("it can be written");
    ends(&["run.spy"], "metaspy findings run.spy looks for what is wrong");
    fs::write(directory.join("metaspy.toml"), "").expect("it can be written");
    let (code, out) = report(&["run.spy"]);
    assert!(code == Some(0) && !out.contains("metaspy findings"), "{out}");
}

#[test]
fn a_picture_begins_with_the_findings_and_marks_their_boxes() {
    let directory = directory("findings-drawn", SETTINGS);
    let out = |arguments: &[&str]| {
        let output = metaspy(arguments)
            .current_dir(&directory)
            .output()
            .expect("the command can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is UTF-8")
    };
    let json =
        |arguments: &[&str]| serde_json::from_str::<Value>(&out(arguments)).expect("it is JSON");
    let found = json(&["findings", "run.spy", "--json"])["findings"][0].clone();
    let text = out(&["findings", "run.spy"]);
    for kind in ["structural", "behavioural", "coverage", "calls"] {
        let scene = json(&["blueprint", kind, "run.spy", "--json"]);
        let first = &scene["findings"]["first"][0];
        assert_eq!((&first[0], &first[2]), (&found["kind"], &found["title"]), "{kind}");
        assert!(text.contains(first[1].as_str().expect("a cost")), "{kind}: {text}");
        let marked = first[4]
            .as_array()
            .expect("a list")
            .iter()
            .map(|at| &scene["nodes"][at.as_u64().expect("a box") as usize]);
        let labels: Vec<String> = marked.map(|node| node[6].to_string()).collect();
        assert!(
            labels.len() == 1 && labels[0].contains("① ") && labels[0].contains("measure"),
            "{kind}: {labels:?}"
        );
    }
    // Findings are of the whole recording, and without any nothing is said.
    let filtered =
        json(&["blueprint", "structural", "run.spy", "--filter", "site:measure", "--json"]);
    assert!(filtered["findings"].is_null(), "{filtered}");
    fs::write(directory.join("metaspy.toml"), "").expect("it can be written");
    assert!(json(&["blueprint", "structural", "run.spy", "--json"])["findings"].is_null());
}

#[test]
fn a_kind_is_explained_without_a_recording() {
    let (code, out, _) = ended(&["findings", "--explain", "repeated"]);
    assert!(
        code == 0
            && out.starts_with("repeated\n\nA call runs again")
            && out.contains("**When it is wrong.**"),
        "{out}"
    );
    let (code, _, error) = ended(&["findings", "--explain", "repeatd"]);
    assert!(code == 2 && error.contains("write one of") && error.contains("repeated"), "{error}");
    let path = fixture::closed("findings-explain.spy", 1);
    let (code, _, _) = ended(&["findings", text(&path), "--explain", "repeated"]);
    assert_eq!(code, 2);
}
