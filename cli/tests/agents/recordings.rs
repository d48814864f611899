//! Recordings that grow, go on in another file, disappear and are damaged.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

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
    let state =
        |client: &mut Client| client.ask("recordings", json!({}))["recordings"][0]["state"].clone();
    assert_eq!((state(&mut client), calls(&mut client, "measure")), (json!("live"), json!(12)));
    let layout =
        client.ask("event", json!({ "filter": "site:Scene::layout" }))["events"][0]["id"].clone();
    assert_eq!(client.ask("effects", json!({ "id": layout }))["total"], 3);
    std::thread::spawn(|| (0..5).for_each(|_| fixture::frame())).join().unwrap();
    assert_eq!(calls(&mut client, "measure"), json!(42));
    let last =
        client.ask("event", json!({ "filter": "site:Scene::layout subject:#1", "order": "last" }));
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
    assert!(
        listed["recordings"][0]["problems"].to_string().contains("there is no file"),
        "{listed:#}"
    );
    let tools = ["findings", "rows", "event"];
    for (bytes, expected) in [(Vec::new(), "is empty"), (vec![7; 5_000], "not a metaspy recording")]
    {
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
            assert!(
                !answer.text.is_empty() && !answer.text.contains("fault of metaspy"),
                "{length}: {}",
                answer.text
            );
            let is_whole = answer.content["notes"].as_array().is_none_or(Vec::is_empty);
            assert!(
                answer.is_error || !is_whole,
                "{tool} of {length} bytes does not say what is missing"
            );
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
    let of_directory =
        client.ask("rows", json!({ "recording": "runs", "filter": "site:Scene::paint" }));
    assert_eq!(of_directory["rows"][0]["calls"], 2);
}

/// What a process does whose recording rotates: for each line of its input, it measures until there
/// is a further file. Then it prints how often it measured.
#[test]
fn rotates_on_demand() {
    let Some(directory) = std::env::var_os("METASPY_ROTATES_ON_DEMAND").map(PathBuf::from) else {
        return;
    };
    let files = || fs::read_dir(&directory).expect("it is there").count();
    let mut measures = 0;
    for line in std::io::stdin().lines() {
        let wanted = files() + line.expect("it is text").len();
        while measures == 0 || files() < wanted {
            (0..100).for_each(|_| fixture::measure(fixture::node(2)));
            measures += 100;
            thread::yield_now();
        }
        println!("measures={measures}");
    }
}

#[test]
fn a_recording_that_rotates_is_read_with_all_of_its_files_and_says_which_are_gone() {
    let directory = workspace("rotating");
    let runs = directory.join("runs");
    fs::create_dir_all(&runs).unwrap();
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command
        .args(["recordings::rotates_on_demand", "--exact", "--nocapture"])
        .env("METASPY_ROTATES_ON_DEMAND", &runs);
    command
        .env("METASPY_RECORD", runs.join("run.spy"))
        .env("METASPY_ROTATE", "1MiB")
        .env_remove("METASPY_OBSERVE");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can be run again");
    let mut input = child.stdin.take().expect("it is piped");
    let mut lines =
        BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut measure = |files: &str| -> u64 {
        writeln!(input, "{files}").expect("it reads");
        lines
            .find_map(|line| line.split_once("measures=")?.1.parse().ok())
            .expect("it prints a number")
    };
    let mut client = Client::start(&directory, &["runs"]);
    // Each letter is a further file.
    for files in ["", "+", "++"] {
        let measures = measure(files);
        assert_eq!(calls(&mut client, "measure"), json!(measures), "after {files:?}");
        assert_eq!(client.ask("findings", json!({ "all": true }))["calls"], json!(measures));
    }
    let before = calls(&mut client, "measure");
    drop(input);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(calls(&mut client, "measure"), before);
    // The first file goes, as a quota of the disk would have it.
    fs::remove_file(runs.join("run.spy")).unwrap();
    let rest = client.ask("rows", json!({ "filter": "site:measure" }));
    assert!(
        rest["rows"][0]["calls"].as_u64() < before.as_u64() && rest["exact"] == false,
        "{rest:#}"
    );
    assert!(rest["notes"].to_string().contains("earlier"), "{rest:#}");
}
