//! `metaspy restore`.

use std::fs;
use std::path::{Path, PathBuf};

use metaspy::Store;
use metaspy_core::format::{BLOCK_BYTES, superblock};

use crate::fixture::{S3, directory, metaspy, printed, record_odd, recording, rows, rows_of};
use crate::seal::{file, partition, partitions};
use crate::ship::text;

/// Queries whose results must not depend on a seal and a restoration.
const QUERIES: &[&str] = &[
    "SELECT event, time_ns, took_ns, site, subject_kind, subject_key, cause, cause_site, lane, thread, outcome, timed, \
     epoch, trace, span, remote_parent FROM events ORDER BY event",
    "SELECT site, subject_key, calls, failed FROM tallies ORDER BY site, subject_key",
    "SELECT subject_key, label, calls FROM subjects ORDER BY subject_key",
    "SELECT relation, from_key, to_key FROM relations",
    "SELECT state, calls, stored, folded, counted, lost, exact, warnings FROM recordings",
    "SELECT array_length(effects(event)) AS effects, count(*) FROM events GROUP BY effects ORDER BY effects",
];

/// Restores a set into a directory, and returns the paths.
fn restored(set: &str, to: &Path) -> Vec<PathBuf> {
    printed(&["restore", set, "--to", &to.display().to_string()])
        .lines()
        .map(PathBuf::from)
        .collect()
}

#[test]
fn a_restored_recording_is_the_one_that_was_sealed() {
    let directory = directory("restore");
    let (set, to) = (directory.join("set"), directory.join("to"));
    let (spy, set) = (recording().display().to_string(), set.display().to_string());
    printed(&["seal", &spy, "--to", &set, "--host", "rack/7"]);
    let paths = restored(&set, &to);
    assert_eq!(paths.len(), 1);
    for query in QUERIES {
        assert_eq!(rows_of(query, &paths[0]), rows(query), "{query}");
    }
    let store = Store::open(&paths[0]).expect("it is a recording");
    let verified = store.verify();
    assert!(verified.damaged.is_empty() && verified.missing.is_empty(), "{verified:?}");
    // The second time it is there; a part of the set is named by its path.
    let before =
        fs::metadata(&paths[0]).expect("it is there").modified().expect("the system has times");
    let run = partition(Path::new(&set)).ancestors().nth(2).expect("it is in a run").to_owned();
    assert_eq!(restored(&run.display().to_string(), &to), paths);
    assert_eq!(
        fs::metadata(&paths[0]).expect("it is there").modified().expect("as before"),
        before
    );
    let none = metaspy(&["restore", &format!("{set}/run=none"), "--to", &to.display().to_string()]);
    assert_eq!(none.status.code(), Some(2));
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_partition_that_was_sealed_again_is_restored_again() {
    let directory = directory("restore again");
    let (spy, set, to) = (directory.join("cut.spy"), directory.join("set"), directory.join("to"));
    let whole = fs::read(recording()).expect("it was recorded");
    let names = (spy.display().to_string(), set.display().to_string());
    let seal = |bytes: &[u8]| {
        fs::write(&spy, bytes).expect("there is room");
        metaspy(&["seal", &names.0, "--to", &names.1]).status.code()
    };
    assert_eq!(seal(&whole[..whole.len() / 2]), Some(1), "it is damaged");
    let cut = metaspy(&["restore", &names.1, "--to", &to.display().to_string()]);
    assert_eq!(String::from_utf8_lossy(&cut.stdout).lines().count(), 1, "{}", text(&cut));
    fs::remove_dir_all(&set).expect("it is ours");
    assert_eq!(seal(&whole), Some(0));
    let paths = restored(&names.1, &to);
    assert_eq!(
        rows_of("SELECT count(*) FROM events", &paths[0]),
        rows("SELECT count(*) FROM events")
    );
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn events_that_rows_do_not_hold_are_restored() {
    let directory = directory("restore rest");
    let (spy, set) = (directory.join("odd.spy"), directory.join("set").display().to_string());
    record_odd(&spy);
    printed(&["seal", &spy.display().to_string(), "--to", &set]);
    let paths = restored(&set, &directory.join("to"));
    for query in QUERIES.iter().chain(&["SELECT event, reason FROM links ORDER BY event"]) {
        assert_eq!(rows_of(query, &paths[0]), rows_of(query, &spy), "{query}");
    }
    let details = |path: &Path| {
        let store = Store::open(path).expect("it is a recording");
        let scan = store.scan(Default::default());
        let mut events = Vec::new();
        (0..scan.parts()).for_each(|part| scan.read(part, &mut events));
        events.iter().map(|event| format!("{:?}", store.details(event.id))).collect::<Vec<_>>()
    };
    assert_eq!(details(&paths[0]), details(&spy));
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_cut_recording_is_restored_up_to_its_end_and_a_damaged_partition_stops_no_other() {
    let directory = directory("restore cut");
    let (set, to) = (directory.join("set").display().to_string(), directory.join("to"));
    let (whole, mut names) = (fs::read(recording()).expect("it was recorded"), Vec::new());
    let word = |at: usize| u64::from_le_bytes(whole[at * 8..][..8].try_into().expect("8 bytes"));
    let blocks = word(superblock::CHUNKS) as usize;
    for part in 1..6_u32 {
        // Each of these files ends in a block.
        let mut bytes = whole[..blocks + (100 * BLOCK_BYTES + 500) * part as usize].to_vec();
        bytes[superblock::PID * 8..][..4].copy_from_slice(&part.to_le_bytes());
        let cut = directory.join(format!("{part}.spy"));
        fs::write(&cut, bytes).expect("there is room");
        let sealed = metaspy(&["seal", &cut.display().to_string(), "--to", &set]);
        assert_eq!(sealed.status.code(), Some(1), "{}", text(&sealed));
        names.push((format!("-{part}."), cut));
    }
    let paths = restored(&set, &to);
    for (name, cut) in &names {
        let path = paths
            .iter()
            .find(|path| path.display().to_string().contains(name))
            .expect("it is restored");
        let query =
            "SELECT count(*), sum(event), sum(time_ns), sum(took_ns), sum(subject_key) FROM events";
        let rows = |spy: &Path| {
            let output = metaspy(&["query", "--format", "csv", query, &spy.display().to_string()]);
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(rows(path), rows(cut), "{name}");
    }
    let events = file(&partitions(Path::new(&set)).remove(0), "events");
    fs::write(events, "damaged").expect("it is ours");
    fs::remove_dir_all(&to).expect("it is ours");
    let output = metaspy(&["restore", &set, "--to", &to.display().to_string()]);
    assert!(
        output.status.code() == Some(1) && text(&output).contains("cannot restore run="),
        "{}",
        text(&output)
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), names.len() - 1);
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_bucket_is_restored_as_a_directory_is() {
    let Some(server) = S3::start() else { return };
    let directory = directory("restore s3");
    let (spy, to) = (recording().display().to_string(), directory.display().to_string());
    assert_eq!(server.run(&["seal", &spy, "--to", "s3://spies/restored"]).0, Some(0));
    let (code, text) = server.run(&["restore", "s3://spies/restored", "--to", &to]);
    let path = text
        .lines()
        .find(|line| line.ends_with(".spy"))
        .unwrap_or_else(|| panic!("{code:?}: {text}"));
    assert_eq!(rows_of(QUERIES[0], Path::new(path)), rows(QUERIES[0]));
    fs::remove_dir_all(directory).expect("it is ours");
}
