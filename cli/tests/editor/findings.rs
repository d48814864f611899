//! Findings as diagnostics: at the function, once for a recording, and not after an edit.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, uri};
use crate::common::{Package, manifest};
use crate::fixture;

/// File that the sites of the fixture name.
const FILE: &str = "tui/tests/fixture/mod.rs";

/// Text of that file, in which the function of a site is in its recorded line.
fn source() -> String {
    format!("{}impl Scene {{\n    pub fn measure(&self) {{}}\n}}\n", "\n".repeat(86))
}

/// A folder with the file, and a recording of a function that runs again although nothing changed.
fn recorded(name: &str) -> Package {
    let package = Package::new(
        name,
        &[("Cargo.toml", &manifest(name, "2024", "")), ("src/lib.rs", ""), (FILE, &source())],
    );
    fs::copy(fixture::repeating(&format!("{name}.spy")), package.dir.join("run.spy"))
        .expect("it was just written");
    package
}

fn open(client: &mut Client, package: &Package, version: u64, text: &str) {
    let document = json!({
        "uri": uri(&package.dir.join(FILE)), "languageId": "rust", "version": version, "text": text,
    });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
}

/// The diagnostic of the kind `repeated`.
fn repeated(note: &Value) -> Option<&Value> {
    note["diagnostics"].as_array()?.iter().find(|it| it["code"] == json!("repeated"))
}

#[test]
fn a_finding_is_at_its_function_with_evidence_and_the_command() {
    let package = recorded("editor_findings");
    let mut client = Client::start(&[&package], json!({ "recordings": ["run.spy"] }));
    open(&mut client, &package, 1, &source());
    let note =
        client.await_note("textDocument/publishDiagnostics", |note| repeated(note).is_some());
    let found = repeated(&note).expect("it was awaited");
    assert_eq!(found["range"]["start"], json!({ "line": 87, "character": 11 }));
    // It is estimated, so it is no warning.
    assert_eq!(found["severity"], json!(4));
    let message = found["message"].as_str().expect("a text");
    let recording = package.dir.canonicalize().expect("it is there").join("run.spy");
    for part in
        ["33.3 %", "360 of 1,080 calls", &format!("metaspy findings {}", recording.display())]
    {
        assert!(message.contains(part), "{part}: {message}");
    }

    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "metaspy": { "findings": false } } }),
    );
    client.await_note("textDocument/publishDiagnostics", |note| repeated(note).is_none());
}

#[test]
fn the_settings_of_the_workspace_count_in_the_editor() {
    let package = recorded("editor_findings_settings");
    let diagnostics = |settings: &str| {
        package.write("metaspy.toml", settings);
        let mut client = Client::start(&[&package], json!({ "recordings": ["run.spy"] }));
        open(&mut client, &package, 1, &source());
        // All findings of a recording come at once.
        let has_own = |note: &Value| {
            note["diagnostics"]
                .as_array()
                .is_some_and(|all| all.iter().any(|it| it["code"] == json!("measures")))
        };
        client.await_note("textDocument/publishDiagnostics", has_own)
    };
    let own = "[[findings.own]]\nkind = \"measures\"\nwhen = \"count(site:measure) > 1\"\ntitle = \"{count} calls\"\n";
    assert!(repeated(&diagnostics(own)).is_some());
    for settings in ["off = true", "least-share = 60", "at-least = { calls = 361 }"] {
        assert_eq!(
            repeated(&diagnostics(&format!("{own}[findings.kinds.repeated]\n{settings}"))),
            None,
            "{settings}"
        );
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let found = command
        .current_dir(&package.dir)
        .args(["findings", "run.spy", "--kind", "repeated", "--json"]);
    package.write("metaspy.toml", own);
    let found: Value =
        serde_json::from_slice(&found.output().expect("it runs").stdout).expect("it is JSON");
    let fingerprint = found["findings"][0]["fingerprint"].as_str().expect("it has one");
    let accepted = format!(
        "[[findings.accepted]]\nfingerprint = \"{fingerprint}\"\nreason = \"two passes\"\n"
    );
    assert_eq!(repeated(&diagnostics(&format!("{own}{accepted}"))), None);
}

#[test]
fn the_finding_of_a_function_that_is_gone_is_not_shown() {
    let package = recorded("editor_findings_gone");
    let mut client = Client::start(&[&package], json!({ "recordings": ["run.spy"] }));
    open(&mut client, &package, 1, &source());
    client.await_note("textDocument/publishDiagnostics", |note| repeated(note).is_some());
    open(&mut client, &package, 2, &source().replace("measure", "size"));
    let note =
        client.await_note("textDocument/publishDiagnostics", |note| note["version"] == json!(2));
    assert_eq!(repeated(&note), None);
}
