//! Which source files are read: those of the workspace, whatever a recording names.

use std::fs;

use serde_json::json;

use crate::client::{Client, workspace};
use crate::tools::page;

const NAMED: &str = "tui/tests/fixture/mod.rs";

#[test]
fn a_source_outside_of_the_workspace_is_not_read_by_any_way() {
    let directory = page("outside", 2);
    let outside = workspace("secrets");
    fs::write(outside.join("mod.rs"), "the secret\n".repeat(200)).unwrap();
    let named = directory.join(NAMED);
    let mut client = Client::start(&directory, &["run.spy"]);
    let mut asked = |expected: &str| {
        let error = client.refused("source", json!({ "site": "Scene::measure" }));
        assert!(error.contains(expected) && !error.contains("the secret"), "{expected}: {error}");
    };
    #[cfg(unix)]
    {
        fs::remove_file(&named).unwrap();
        std::os::unix::fs::symlink(outside.join("mod.rs"), &named).unwrap();
        asked("is outside of");
        fs::remove_file(&named).unwrap();
        fs::remove_dir(named.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&outside, named.parent().unwrap()).unwrap();
        asked("is outside of");
        fs::remove_file(named.parent().unwrap()).unwrap();
        fs::create_dir(named.parent().unwrap()).unwrap();
    }
    let _ = fs::remove_file(&named);
    asked("cannot be found");
    fs::create_dir(&named).unwrap();
    asked("not a regular file");
    fs::remove_dir(&named).unwrap();
    fs::write(&named, "x\n".repeat(3 << 20)).unwrap();
    asked("more than");
    fs::write(&named, "short\n").unwrap();
    asked("the file has changed since");
}

#[test]
fn a_source_is_shown_with_a_note_if_it_is_younger_than_the_recording() {
    let directory = page("younger", 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    let source = client.ask("source", json!({ "site": "page::Scene::measure", "around": 1 }));
    assert_eq!(
        (&source["changed_since"], &source["first_line"]),
        (&json!(true), &json!(87)),
        "{source:#}"
    );
    assert_eq!(source["lines"].as_array().map(Vec::len), Some(11));
}

#[cfg(unix)]
#[test]
fn a_recording_outside_of_the_workspace_is_not_read_through_a_link() {
    use std::os::unix::fs::symlink;

    let directory = page("linked", 2);
    let outside = page("linked-outside", 3);
    let runs = directory.join("runs");
    fs::create_dir(&runs).unwrap();
    symlink(outside.join("run.spy"), directory.join("link.spy")).unwrap();
    symlink(outside.join("run.spy"), runs.join("link.spy")).unwrap();
    symlink(&outside, directory.join("other")).unwrap();
    let pipe = directory.join("pipe.spy");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir_all(directory.join("sealed/run=1")).unwrap();
    let mut client = Client::start(&directory, &[]);
    let listed = client.ask("recordings", json!({}));
    assert_eq!(
        (&listed["total"], &listed["recordings"][0]["name"]),
        (&json!(1), &json!("run.spy")),
        "{listed:#}"
    );
    for (name, expected) in [
        ("link.spy", "is outside of"),
        ("other", "is outside of"),
        ("other/run.spy", "is outside of"),
        ("runs", "there is no recording in"),
        ("runs/link.spy", "is outside of"),
        ("pipe.spy", "is not a file"),
        ("sealed", "metaspy restore"),
    ] {
        let error = client.refused("rows", json!({ "recording": name }));
        assert!(error.contains(expected), "{name}: {error}");
        let error = client.refused("compare", json!({ "before": name, "after": "run.spy" }));
        assert!(error.contains(expected), "{name}: {error}");
    }
    // What the user names is read, wherever it is.
    let mut client = Client::start(&directory, &["link.spy"]);
    assert_eq!(client.ask("rows", json!({}))["calls"], 3 * 19);
}
