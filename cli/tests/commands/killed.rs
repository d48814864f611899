//! A recorded process that is killed: its recording stays readable, and that is no error.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::{ended, fixture, metaspy, text};

#[test]
fn a_killed_process_leaves_a_recording_that_can_be_read() {
    let path = fixture::directory().join("killed.spy");
    let mut story = metaspy(&["__story"])
        .env("METASPY_RECORD", &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    // Waits until it has recorded the events, up to a limit.
    while ended(&["report", text(&path), "--fail-if", "count(site:layout) > 1000"]).0 != 1 {
        assert!(began.elapsed() < Duration::from_secs(60), "the story records nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (_, live, _) = ended(&["report", text(&path)]);
    assert!(live.contains("live"), "{live}");
    story.kill().unwrap();
    story.wait().unwrap();
    let (code, out, error) = ended(&["report", text(&path), "--by", "subject"]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("killed") && out.contains("(exact)"), "{out}");
    let (code, out, _) = ended(&["verify", text(&path)]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("its process was killed"), "{out}");
}
