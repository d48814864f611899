//! Recordings that grow, go on in another file, disappear and are damaged.

use std::fs;

use metaspy_core::Recording;
use serde_json::{Value, json};

use crate::client::{Client, workspace};
use crate::fixture;
use crate::tools::page;

fn calls(client: &mut Client, site: &str) -> Value {
    let rows = client.ask("rows", json!({ "filter": format!("site:{site}") }));
    rows["rows"][0]["calls"].clone()
}

#[test]
fn a_recording_that_is_written_is_read_as_it_is_now_and_after_its_end() {
    let directory = workspace("growing");
    let _turn = fixture::turn();
    let (recording, installed) = fixture::begin(Recording::file(directory.join("run.spy")), 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    let state = |client: &mut Client| client.ask("recordings", json!({}))["recordings"][0]["state"].clone();
    assert_eq!((state(&mut client), calls(&mut client, "measure")), (json!("live"), json!(12)));
    let layout = client.ask("event", json!({ "filter": "site:Scene::layout" }))["events"][0]["id"].clone();
    assert_eq!(client.ask("effects", json!({ "id": layout }))["total"], 3);
    std::thread::spawn(|| (0..5).for_each(|_| fixture::frame())).join().unwrap();
    assert_eq!(calls(&mut client, "measure"), json!(42));
    let last = client.ask("event", json!({ "filter": "site:Scene::layout subject:#1", "order": "last" }));
    let last = &last["events"][0]["id"];
    assert_eq!(client.ask("effects", json!({ "id": last }))["total"], 3, "the index is read on");
    assert!(client.ask("findings", json!({ "all": true }))["calls"].as_u64() >= Some(7 * 19));
    drop(installed);
    recording.close();
    assert_eq!((state(&mut client), calls(&mut client, "measure")), (json!("closed"), json!(42)));
}

#[test]
fn a_recording_that_another_one_replaces_is_read_anew() {
    let directory = page("replaced", 3);
    let mut client = Client::start(&directory, &["run.spy"]);
    assert_eq!(calls(&mut client, "Scene::paint"), json!(3));
    let next = fixture::closed("replaced-next.spy", 8);
    fs::rename(next, directory.join("run.spy")).unwrap();
    assert_eq!(calls(&mut client, "Scene::paint"), json!(8));
    // In the place of the old one, without a new file.
    let last = fixture::closed("replaced-last.spy", 5);
    fs::copy(last, directory.join("run.spy")).unwrap();
    assert_eq!(calls(&mut client, "Scene::paint"), json!(5));
}

#[test]
fn a_recording_that_disappears_or_is_damaged_is_an_error_in_words() {
    let directory = page("damaged", 3);
    let whole = fs::read(directory.join("run.spy")).unwrap();
    let mut client = Client::start(&directory, &["run.spy"]);
    assert_eq!(calls(&mut client, "Scene::paint"), json!(3));
    fs::remove_file(directory.join("run.spy")).unwrap();
    assert!(client.refused("rows", json!({})).contains("there is no file run.spy"));
    let listed = client.ask("recordings", json!({}));
    assert!(listed["recordings"][0]["problems"].to_string().contains("there is no file"), "{listed:#}");
    let tools = ["findings", "rows", "event"];
    for (bytes, expected) in [(Vec::new(), "is empty"), (vec![7; 5_000], "not a metaspy recording")] {
        fs::write(directory.join("run.spy"), bytes).unwrap();
        for tool in tools {
            let error = client.refused(tool, json!({}));
            assert!(error.contains(expected), "{tool}: {error}");
        }
    }
    // A part of a recording is read as far as it goes, or refused in words.
    for length in [5_000, whole.len() / 3, whole.len() / 2] {
        fs::write(directory.join("run.spy"), &whole[..length]).unwrap();
        for tool in tools {
            let answer = client.call(tool, json!({}));
            assert!(!answer.text.is_empty() && !answer.text.contains("fault of metaspy"), "{length}: {}", answer.text);
        }
    }
    fs::write(directory.join("run.spy"), whole).unwrap();
    assert_eq!(calls(&mut client, "Scene::paint"), json!(3), "the server lives on");
}

#[test]
fn without_a_name_the_only_recording_is_meant() {
    let directory = page("named", 2);
    let mut client = Client::start(&directory, &[]);
    assert_eq!(calls(&mut client, "Scene::paint"), json!(2));
    fs::copy(directory.join("run.spy"), directory.join("second.spy")).unwrap();
    let error = client.refused("rows", json!({}));
    assert!(error.contains("name one of run.spy, second.spy"), "{error}");
    fs::create_dir(directory.join("runs")).unwrap();
    fs::rename(directory.join("second.spy"), directory.join("runs/second.spy")).unwrap();
    let of_directory = client.ask("rows", json!({ "recording": "runs", "filter": "site:Scene::paint" }));
    assert_eq!(of_directory["rows"][0]["calls"], 2);
}
