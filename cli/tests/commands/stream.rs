//! A recording through a pipe: of a process that goes on, that ends, that is killed; and what is no
//! stream.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use metaspy_core::{Outcome, hook};

use crate::schemas::assert_valid_if_json;
use crate::{ended, fixture, metaspy, text};

/// What the children of these tests do, until their standard input is closed; as a test of its own,
/// nothing.
#[test]
fn goes_on() {
    if std::env::var("METASPY_ROLE").as_deref() != Ok("story") {
        return;
    }
    let asked_to_end = std::thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
    while !asked_to_end.is_finished() {
        let frame = hook::enter(&fixture::FRAME, fixture::node(7));
        for key in 0..50 {
            hook::enter(&fixture::MEASURE, fixture::node(key)).done(Outcome::Succeeded);
        }
        frame.done(Outcome::Returned);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A process that records into this file, and has begun to.
pub fn story(path: &Path) -> Child {
    let child = start_story(path);
    wait_until(|| ended(&["report", text(path), "--fail-if", "count(site:measure) > 200"]).0 == 1);
    child
}

/// A process that is to record into this file.
pub fn start_story(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["stream::goes_on", "--exact"])
        .env("METASPY_ROLE", "story")
        .env("METASPY_RECORD", path);
    command.env("METASPY_BUDGET", "4000000").env_remove("METASPY_OBSERVE");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Waits until this holds, or for so long that something is wrong.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to hold");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn streams(path: &Path, to: impl Into<Stdio>) -> Child {
    metaspy(&["stream", text(path)]).stdout(to).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Reads a stream in a file.
fn read(arguments: &[&str], stream: &Path) -> (i32, String, String) {
    let file = File::open(stream).expect("it was written");
    let Output { status, stdout, stderr } =
        metaspy(arguments).stdin(file).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("the command prints UTF-8");
    let stdout = text(stdout);
    assert_valid_if_json(arguments, &stdout);
    (status.code().expect("it ends by itself"), stdout, text(stderr))
}

fn in_directory(name: &str) -> PathBuf {
    fixture::directory().join(name)
}

fn json(out: &str) -> serde_json::Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn a_process_that_ends_well_arrives_whole() {
    let path = in_directory("ends.spy");
    let mut story = story(&path);
    let mut stream = streams(&path, Stdio::piped());
    let mut report = metaspy(&["report", "-", "--json"]);
    report.stdin(stream.stdout.take().expect("it is a pipe")).stdout(Stdio::piped());
    let report = report.spawn().expect("it starts");
    drop(story.stdin.take());
    assert!(story.wait().expect("it ends").success());
    let report = report.wait_with_output().expect("it ends");
    assert_eq!((report.status.code(), stream.wait().expect("it ends").code()), (Some(0), Some(0)));
    let arrived = json(&String::from_utf8_lossy(&report.stdout));
    let there = json(&ended(&["report", text(&path), "--json"]).1);
    assert_eq!(arrived["state"], "closed");
    assert_eq!(arrived["rows"], there["rows"]);
    for field in ["emitted", "events", "folded", "counted", "lost", "exact"] {
        assert_eq!(arrived[field], there[field], "{field}");
    }
}

#[test]
fn a_process_that_is_killed_ends_the_stream_and_nothing_is_lost() {
    let (path, stream) = (in_directory("stream-killed.spy"), in_directory("killed.stream"));
    let mut story = story(&path);
    let mut sender = streams(&path, File::create(&stream).expect("it can be written"));
    wait_until(|| fs::metadata(&stream).is_ok_and(|meta| meta.len() > 10_000));
    story.kill().expect("it runs");
    story.wait().expect("it ends");
    assert_eq!(sender.wait().expect("it ends").code(), Some(0));
    let (code, out, error) = read(&["report", "-", "--json"], &stream);
    let (arrived, there) = (json(&out), json(&ended(&["report", text(&path), "--json"]).1));
    assert_eq!((code, &arrived["state"]), (0, &"killed".into()), "{error}");
    assert_eq!((&arrived["emitted"], &arrived["exact"]), (&there["emitted"], &there["exact"]));
    let (code, out, _) = read(&["verify", "-"], &stream);
    assert!(code == 0 && out.contains("its process was killed"), "{out}");
}

#[test]
fn a_sender_whose_reader_is_gone_ends_without_a_word() {
    let path = in_directory("unread.spy");
    let mut story = story(&path);
    let mut sender = streams(&path, Stdio::piped());
    drop(sender.stdout.take());
    let sender = sender.wait_with_output().expect("it ends");
    assert_eq!((sender.status.code(), &sender.stderr[..]), (Some(0), &b""[..]));
    assert!(story.try_wait().expect("its state is known").is_none(), "the process itself goes on");
    // Its file through a pipe, as it stands, is of no one moment.
    let (code, out, _) = read(&["report", "-", "--json"], &path);
    let arrived = json(&out);
    assert_eq!(
        (code, &arrived["state"], &arrived["exact"]),
        (0, &"snapshot".into(), &false.into()),
        "{out}"
    );
    drop(story.stdin.take());
    assert!(story.wait().expect("it ends").success());
}

#[test]
fn a_cut_stream_keeps_what_came_and_is_reported() {
    let (path, stream) = (in_directory("stream-cut.spy"), in_directory("cut.stream"));
    let mut story = story(&path);
    let mut sender = streams(&path, File::create(&stream).expect("it can be written"));
    wait_until(|| fs::metadata(&stream).is_ok_and(|meta| meta.len() > 30_000));
    sender.kill().expect("it runs");
    sender.wait().expect("it ends");
    drop(story.stdin.take());
    story.wait().expect("it ends");
    let (code, out, _) = read(&["report", "-", "--json"], &stream);
    let arrived = json(&out);
    assert_eq!(
        (code, &arrived["state"], &arrived["exact"]),
        (1, &"snapshot".into(), &false.into())
    );
    assert!(
        arrived["missing"][0].as_str().is_some_and(|text| text.contains("was cut after")),
        "{out}"
    );
    assert!(arrived["emitted"].as_u64() > Some(200), "{out}");
    // Garbage behind it: the same, with another message.
    let mut file = fs::OpenOptions::new().append(true).open(&stream).expect("it was written");
    file.write_all(&[0xAB; 4096]).expect("it can be written");
    let (code, out, _) = read(&["report", "-"], &stream);
    assert!(code == 1 && out.contains("damaged: the stream "), "{out}");
    // A sender of a later version.
    let mut bytes = fs::read(&stream).expect("it was written");
    bytes[12..16].copy_from_slice(&9_u32.to_le_bytes());
    fs::write(&stream, bytes).expect("it can be written");
    let (code, out, error) = read(&["report", "-"], &stream);
    assert!(code == 2 && out.is_empty() && error.contains("version 9"), "{error}");
}

#[test]
fn a_plain_recording_is_read_from_standard_input() {
    let path = fixture::closed("plain.spy", 20);
    let (code, out, error) = read(&["report", "-", "--json"], &path);
    let (arrived, there) = (json(&out), json(&ended(&["report", text(&path), "--json"]).1));
    assert_eq!((code, &arrived), (0, &there), "{error}");
    let (code, out, _) = read(&["verify", "-"], &path);
    assert!(code == 0 && out.trim_end().ends_with("sound"), "{out}");
}

#[test]
fn what_is_no_stream_is_refused() {
    let garbage = in_directory("garbage.stream");
    for (bytes, word) in [
        (&b""[..], "the input is empty"),
        (b"Dear reader", "neither a recording nor a stream"),
        (b"METASPYS", "before anything"),
        (b"METASPY\0", "cannot be read"),
    ] {
        fs::write(&garbage, bytes).expect("it can be written");
        for command in [&["report", "-"][..], &["verify", "-"], &["open", "-"]] {
            let (code, out, error) = read(command, &garbage);
            assert_eq!((code, out.as_str()), (2, ""), "{command:?}: {error}");
            assert!(
                error.contains(word) && error.contains("standard input"),
                "{command:?}: {error}"
            );
        }
    }
    let (code, _, error) = ended(&["stream", "4194999"]);
    assert!(code == 2 && error.contains("4194999 does not exist"), "{error}");
    let (code, _, error) = ended(&["stream", "-"]);
    assert!(code == 2 && error.contains("needs a process"), "{error}");
}
