//! Sealed sets as sources. A script stands for the program that restores them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::client_and_servers::three;
use crate::{metaspy, text};

/// Ends with 1 if it is not called as `metaspy-scale restore -- SET`.
const SCRIPT: &str = "#!/bin/sh\n[ \"$1\" = restore ] && [ \"$2\" = -- ] || exit 1\n\
                      case \"$3\" in *broken*) exit 2;; esac\nprintf '%s\\n' CLIENT SERVER\n";

#[test]
fn a_sealed_set_is_read_as_the_recordings_that_it_was_made_of() {
    let [client, server, _] = three("sealed");
    let directory = client.parent().expect("it is in a directory").join("restoring");
    let (script, set) = (directory.join("metaspy-scale"), directory.join("set"));
    fs::create_dir_all(set.join("run=1/host=here")).expect("there is room");
    fs::write(&script, SCRIPT.replace("CLIENT", text(&client)).replace("SERVER", text(&server)))
        .expect("as before");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let read = |source: &Path, path: &str| {
        let output = metaspy(&["report", text(source), "--json"])
            .env("PATH", path)
            .output()
            .expect("it starts");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (
            output.status.code(),
            report["processes"].as_array().map(Vec::len),
            String::from_utf8(output.stderr),
        )
    };
    let path = format!("{}:/bin:/usr/bin", text(&directory));
    for source in
        [set.clone(), set.join("run=1"), set.join("run=1/host=here"), "s3://bucket/sealed".into()]
    {
        let (code, processes, error) = read(&source, &path);
        assert_eq!((code, processes), (Some(0), Some(2)), "{source:?}: {error:?}");
    }
    // Nothing is written into a set that is read.
    let events = set.join("events/run=1/host=here/process=1/events-1.parquet");
    fs::create_dir_all(events.parent().expect("it is in a directory")).expect("there is room");
    fs::write(&events, "precious").expect("it is written");
    for source in [&set, &set.join("run=1/host=here")] {
        for out in [&events, &set.join("run=1/manifest.json"), &events.with_file_name("new.json")] {
            let mut command = metaspy(&["report", text(source), &format!("--json={}", text(out))]);
            let output = command.env("PATH", &path).output().expect("it starts");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.code() == Some(2) && error.contains("an input of this command"),
                "{error}"
            );
        }
    }
    assert_eq!(fs::read_to_string(&events).expect("it is there"), "precious");
    assert!(!set.join("run=1/manifest.json").exists());
    // The processes of a run are one run of a version.
    let restored = |run: &str, recording: &Path| {
        let path = directory.join("restored").join(run).join("host=here");
        fs::create_dir_all(&path).expect("there is room");
        let path = path.join(recording.file_name().expect("it has a name"));
        fs::copy(recording, &path).expect("as before");
        path
    };
    for (runs, expected) in [(["run=1", "run=1"], 1), (["run=1", "run=2"], 2)] {
        let paths = [(runs[0], &client), (runs[1], &server)]
            .map(|(run, recording)| restored(run, recording));
        fs::write(
            &script,
            SCRIPT.replace("CLIENT", text(&paths[0])).replace("SERVER", text(&paths[1])),
        )
        .expect("it is ours");
        let output = metaspy(&["diff", text(&set), text(&set), "--json"])
            .env("PATH", &path)
            .output()
            .expect("it starts");
        let diff: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(diff["recordings"]["after"], expected, "{runs:?}: {diff}");
    }
    let (code, _, error) = read(Path::new("s3://bucket/broken"), &path);
    assert!(code == Some(2) && error.is_ok_and(|error| error.contains("could not be restored")));
    let (code, _, error) = read(&set, "/nowhere");
    assert!(
        code == Some(2)
            && error.is_ok_and(|error| error.contains("cargo install --locked --path scale"))
    );
    // A directory of recordings is none.
    let (code, ..) = read(client.parent().expect("as above"), "/nowhere");
    assert_eq!(code, Some(0));
    fs::remove_dir_all(directory).expect("it is ours");
}
