//! `metaspy ship`: recordings leave their directory, each of them once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};

use metaspy_reader::Store;

use crate::fixture::{CALLS, S3, directory, metaspy, printed, rows_of, spool};
use crate::seal::{assert_has_what_is_named, file, files_of, partition, partitions};

/// The number of recordings in a directory.
pub fn recordings(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("it is there").map(|it| it.expect("a name").path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "spy")).count()
}

/// Ships what has ended.
pub fn ship(dir: &Path, to: &Path, further: &[&str]) -> Output {
    let (from, to) = (dir.display().to_string(), to.display().to_string());
    metaspy(&[&["ship", &from, "--to", &to, "--once"], further].concat())
}

/// The text of a manifest without its own checksum, as an older metaspy wrote it.
pub fn unchecked(manifest: &str) -> String {
    let mut fields: serde_json::Value = serde_json::from_str(manifest).expect("it is JSON");
    fields
        .as_object_mut()
        .expect("it has fields")
        .remove("crc32_of_this")
        .expect("it has a checksum");
    fields.to_string()
}

/// What a command printed.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn shipped_recordings_are_sealed_and_removed() {
    let (dir, target) = (spool("spool", 3), directory("shipped"));
    fs::create_dir(dir.join("run-7")).expect("there is room");
    fs::rename(dir.join("tree-2.spy"), dir.join("run-7/tree-2.spy")).expect("it is ours");
    fs::write(dir.join("notes.spy"), "no recording").expect("there is room");
    let output = ship(&dir, &target, &[]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(
        (recordings(&dir), recordings(&dir.join("run-7"))),
        (1, 0),
        "what is no recording stays"
    );
    assert_eq!(
        rows_of("SELECT count(*), count(DISTINCT process) FROM events", &target),
        [format!("{},3", 3 * CALLS)]
    );
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_partition_that_lost_a_table_keeps_its_recording_and_stops_no_other() {
    let (dir, target) = (spool("lost table", 1), directory("shipped in part"));
    let oldest = dir.join("tree-0.spy");
    let from = oldest.display().to_string();
    printed(&["seal", &from, "--to", &target.display().to_string(), "--host", "own"]);
    let lost = target.join("sites").join(partition(&target).strip_prefix(&target).expect("below"));
    fs::remove_dir_all(&lost).expect("it was sealed");
    let mut bytes = fs::read(&oldest).expect("it is there");
    let started = metaspy_core::format::superblock::STARTED_NS * 8;
    bytes[started] ^= 1;
    fs::write(dir.join("tree-1.spy"), bytes).expect("there is room");
    let output = ship(&dir, &target, &["--host", "own"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("sites-") && said.contains("is missing or empty"), "{said}");
    assert_eq!((recordings(&dir), oldest.exists()), (1, true), "{said}");
    // The whole partition is read, and the other one is named.
    let output = metaspy(&[
        "query",
        "--format",
        "csv",
        "SELECT count(*) FROM events",
        &target.display().to_string(),
    ]);
    let said = text(&output);
    assert!(output.status.code() == Some(1) && said.contains(&format!("\n{CALLS}\n")), "{said}");
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn the_recordings_of_a_process_that_rotates_are_sealed_once_by_seal_and_ship() {
    let (dir, target) = (spool("rotations", 1), directory("sealed rotations"));
    let mut bytes = fs::read(dir.join("tree-0.spy")).expect("it is there");
    let started = metaspy_core::format::superblock::STARTED_NS * 8;
    bytes[started] ^= 1;
    fs::write(dir.join("tree-0.2.spy"), bytes).expect("there is room");
    printed(&["seal", &dir.display().to_string(), "--to", &target.display().to_string()]);
    let output = ship(&dir, &target, &[]);
    assert!(output.status.success() && recordings(&dir) == 0, "{}", text(&output));
    let counts = rows_of(
        "SELECT count(*), count(DISTINCT run), count(DISTINCT process) FROM events",
        &target,
    );
    assert_eq!(counts, [format!("{},2,1", 2 * CALLS)]);
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_recording_stays_if_only_a_part_of_it_is_sealed() {
    let (dir, target) = (spool("parts", 1), directory("sealed parts"));
    let spy = dir.join("tree-0.spy");
    let whole = fs::read(&spy).expect("it is there");
    let seal = || {
        let (spy, set) = (spy.display().to_string(), target.display().to_string());
        metaspy(&["seal", &spy, "--to", &set])
    };
    let stays = |why: &str| {
        fs::write(&spy, &whole).expect("there is room");
        for output in [ship(&dir, &target, &[]), seal()] {
            assert!(
                output.status.code() == Some(1) && text(&output).contains(why),
                "{}",
                text(&output)
            );
        }
        assert_eq!(recordings(&dir), 1);
    };
    fs::write(&spy, &whole[..whole.len() / 2]).expect("there is room");
    assert_eq!(seal().status.code(), Some(1), "it is damaged");
    stays("sealed from a damaged copy");
    fs::remove_dir_all(&target).expect("it is ours");
    assert!(seal().status.success());
    // As if it had been sealed from an export that was made while it grew.
    let manifest = partition(&target).join("sealed.json");
    let sealed = fs::read_to_string(&manifest).expect("it was sealed");
    let earlier =
        sealed.replace(&format!("\"calls\": {CALLS}"), &format!("\"calls\": {}", CALLS - 1));
    assert_ne!(earlier, sealed);
    fs::write(&manifest, unchecked(&earlier)).expect("it is ours");
    stays(&format!("with {} of {CALLS} calls", CALLS - 1));
    fs::write(&manifest, sealed).expect("it is ours");
    assert!(ship(&dir, &target, &[]).status.success() && recordings(&dir) == 0);
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_recording_stays_if_its_partition_is_damaged_and_others_are_shipped() {
    let (dir, target) = (spool("damaged partition", 2), directory("damaged partition set"));
    let spies = [0, 1].map(|copy| dir.join(format!("tree-{copy}.spy")));
    printed(&["seal", &spies[0].display().to_string(), "--to", &target.display().to_string()]);
    let manifest = partition(&target).join("sealed.json");
    let tallies = file(&partition(&target), "tallies");
    let flipped = |path: &Path| {
        let mut bytes = fs::read(path).expect("it was sealed");
        bytes[40] ^= 1;
        bytes
    };
    for (path, damage) in
        [(&tallies, flipped(&tallies)), (&tallies, Vec::new()), (&manifest, Vec::new())]
    {
        let before = fs::read(path).expect("it was sealed");
        let second = fs::read(&spies[1]).expect("it is there");
        fs::write(path, damage).expect("it is ours");
        let output = ship(&dir, &target, &[]);
        let says = text(&output);
        assert!(output.status.code() == Some(1) && says.contains("tree-0.spy stays: "), "{says}");
        assert!(spies[0].exists() && !spies[1].exists(), "{says}");
        fs::write(path, before).expect("it is ours");
        fs::write(&spies[1], second).expect("there is room");
    }
    assert!(ship(&dir, &target, &[]).status.success() && recordings(&dir) == 0);
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn old_partitions_of_this_host_are_removed() {
    let (dir, target) = (spool("ages", 3), directory("ages set"));
    let at = metaspy_core::format::superblock::STARTED_NS * 8;
    let made_older = |path: &Path, days: u64| {
        let mut bytes = fs::read(path).expect("it is there");
        let started = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        bytes[at..at + 8].copy_from_slice(&(started - days * 24 * 3_600_000_000_000).to_le_bytes());
        fs::write(path, bytes).expect("there is room");
    };
    for (copy, days) in [(1, 29), (2, 31)] {
        made_older(&dir.join(format!("tree-{copy}.spy")), days);
    }
    // The newest run decides what is old: a clock of this machine that is far ahead removes
    // nothing.
    let past = directory("ages past");
    let copy = past.join("tree-0.spy");
    fs::copy(dir.join("tree-1.spy"), &copy).expect("there is room");
    let past_set = past.join("set");
    let output = ship(&past, &past_set, &["--keep", "1d"]);
    assert!(output.status.success() && !text(&output).contains("is removed"), "{}", text(&output));
    assert_eq!(rows_of("SELECT count(*) FROM recordings", &past_set), ["1"]);
    fs::remove_dir_all(past).expect("it is ours");
    let set = target.display().to_string();
    // Partitions of another machine stay.
    printed(&["seal", &dir.display().to_string(), "--to", &set, "--host", "other"]);
    let output = ship(&dir, &target, &["--host", "own", "--keep", "30d"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(
        text(&output).matches("is removed: it is older than --keep").count(),
        1,
        "{}",
        text(&output)
    );
    let counts = "SELECT host, count(*) FROM recordings GROUP BY host ORDER BY host";
    assert_eq!(rows_of(counts, &target), ["other,3", "own,2"]);
    let again = ship(&dir, &target, &["--host", "own", "--keep", "1d"]);
    assert_eq!(text(&again).matches("is removed").count(), 1, "{}", text(&again));
    assert_eq!(rows_of(counts, &target), ["other,3", "own,1"]);
    assert_eq!(
        text(&ship(&dir, &target, &["--host", "own", "--keep", "30"]))
            .matches("30d or 12h")
            .count(),
        1
    );
    // A size keeps the newest runs that have room in it, and one in any case.
    let sizes = spool("sizes", 3);
    (1..3).for_each(|copy| made_older(&sizes.join(format!("tree-{copy}.spy")), copy));
    let output = ship(&sizes, &target, &["--host", "sized", "--keep", "300d,1GiB"]);
    assert!(output.status.success() && !text(&output).contains("is removed"), "{}", text(&output));
    let of_host = partitions(&target)
        .into_iter()
        .filter(|place| place.display().to_string().contains("host=sized"));
    let files = of_host.flat_map(|place| files_of(&place));
    let bytes: u64 = files.map(|file| file.metadata().expect("it is there").len()).sum();
    for (keep, stay) in [(format!("{}B", bytes * 3 / 4), 2), ("1KiB".into(), 1)] {
        let output = ship(&sizes, &target, &["--host", "sized", "--keep", &keep]);
        assert_eq!(
            text(&output).matches("is removed: it is beyond the size").count(),
            1,
            "{}",
            text(&output)
        );
        assert_eq!(rows_of(counts, &target), ["other,3", "own,1", &format!("sized,{stay}")]);
    }
    assert_has_what_is_named(&target);
    fs::remove_dir_all(sizes).expect("it is ours");
    if let Some(server) = S3::start() {
        let (dir, set) = (spool("ages s3", 2), "s3://spies/ages");
        made_older(&dir.join("tree-1.spy"), 2);
        let (code, said) = server.run(&[
            "ship",
            &dir.display().to_string(),
            "--to",
            set,
            "--once",
            "--keep",
            "1d",
        ]);
        assert!(code == Some(0) && said.matches("is removed").count() == 1, "{said}");
        let (code, rows) =
            server.run(&["query", "--format", "csv", "SELECT count(*) FROM events", set]);
        assert_eq!((code, rows.lines().nth(1)), (Some(0), Some(&*CALLS.to_string())), "{rows}");
        fs::remove_dir_all(dir).expect("it is ours");
    }
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_kill_at_any_time_loses_and_duplicates_nothing() {
    let (dir, target) = (spool("killed", 6), directory("after kills"));
    let (from, to) = (dir.display().to_string(), target.display().to_string());
    for waits_ms in [50, 150, 300, 500] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        let mut child = command
            .args(["ship", &from, "--to", &to, "--once"])
            .spawn()
            .expect("the command starts");
        std::thread::sleep(std::time::Duration::from_millis(waits_ms));
        child.kill().expect("it is a child");
        child.wait().expect("it ends");
    }
    let output = ship(&dir, &target, &[]);
    assert!(output.status.success() && recordings(&dir) == 0, "{}", text(&output));
    let counts = rows_of("SELECT count(*) FROM events GROUP BY process", &target);
    assert_eq!(counts, vec![CALLS.to_string(); 6]);
    assert_has_what_is_named(&target);
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn beyond_the_bound_the_oldest_are_lost_and_reported_after_a_trial() {
    let (dir, target) = (spool("bound", 3), directory("within bound"));
    let bytes = fs::metadata(dir.join("tree-0.spy")).expect("it is there").blocks() * 512;
    // A hole takes no room.
    let sparse = fs::File::options().append(true).open(dir.join("tree-2.spy")).expect("it is ours");
    sparse.set_len(100 * bytes).expect("it is a hole");
    let most = format!("{}", bytes * 2 + bytes / 2);
    let from = dir.display().to_string();
    let (code, lost) =
        S3::away().run(&["ship", &from, "--to", "s3://spies/away", "--once", "--most", &most]);
    assert!(code == Some(2) && lost.matches("is lost with").count() == 1, "{code:?}: {lost}");
    assert_eq!(recordings(&dir), 2);
    let output = ship(&dir, &target, &["--most", "1"]);
    assert!(output.status.success() && recordings(&dir) == 0, "{}", text(&output));
    assert_eq!(rows_of("SELECT count(DISTINCT process) FROM events", &target), ["2"]);
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

/// A recording with a damaged block in its middle, which has all of its bytes.
fn damage(spy: &Path) {
    let sound = fs::read(spy).expect("it is there");
    let is_found = |at: &usize| {
        let mut bytes = sound.clone();
        bytes[*at..at + 4096].fill(0);
        fs::write(spy, bytes).expect("there is room");
        let store = Store::open(spy).expect("it is a recording");
        store.missing().is_empty() && !store.verify().damaged.is_empty()
    };
    let places = (1..20).map(|part| sound.len() / 20 * part);
    places.into_iter().find(is_found).expect("a part of the recording has events");
}

#[test]
fn a_recording_with_damage_in_its_middle_is_sealed_and_stays() {
    let (dir, target) = (spool("gap", 1), directory("sealed gap"));
    damage(&dir.join("tree-0.spy"));
    let (from, to) = (dir.join("tree-0.spy").display().to_string(), target.display().to_string());
    let sealed = metaspy(&["seal", &from, "--to", &to]);
    assert!(
        sealed.status.code() == Some(1) && text(&sealed).contains("tree-0.spy: "),
        "{}",
        text(&sealed)
    );
    let output = ship(&dir, &target, &[]);
    assert!(
        output.status.code() == Some(1) && text(&output).contains("stays: "),
        "{}",
        text(&output)
    );
    assert_eq!(recordings(&dir), 1);
    assert_eq!(
        metaspy(&["query", "SELECT 1", &to]).status.code(),
        Some(1),
        "the set has the damage"
    );
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_store_that_is_away_keeps_the_recordings_until_it_is_back() {
    let Some(server) = S3::start() else { return };
    let dir = spool("away", 2);
    let from = dir.display().to_string();
    let away = S3::away().run(&["ship", &from, "--to", "s3://spies/fleet", "--once"]);
    assert!(away.0 == Some(2) && recordings(&dir) == 2, "{away:?}");
    let shipped = server.run(&["ship", &from, "--to", "s3://spies/fleet", "--once"]);
    assert!(shipped.0 == Some(0) && recordings(&dir) == 0, "{shipped:?}");
    let query = "SELECT count(*) AS n FROM events";
    let (code, rows) = server.run(&["query", "--format", "csv", query, "s3://spies/fleet"]);
    assert_eq!((code, rows.lines().last()), (Some(0), Some(&*(2 * CALLS).to_string())), "{rows}");
    fs::remove_dir_all(dir).expect("it is ours");
}

/// Writes a line to `SYNCS` for each file that is synced, renamed or removed.
const WATCH: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void note(const char *what, const char *path) {
    FILE *out = fopen(getenv("SYNCS"), "a");
    fprintf(out, "%s %s\n", what, path);
    fclose(out);
}
int fsync(int file) {
    char link[64], path[4096] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    readlink(link, path, sizeof path - 1);
    note("sync", path);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
int rename(const char *from, const char *to) {
    note("rename", to);
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
int unlink(const char *path) {
    note("unlink", path);
    return ((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(path);
}
"#;

#[test]
fn a_recording_is_removed_when_its_partition_is_on_the_disk() {
    let (dir, watch, above) = (spool("synced", 1), directory("watch"), directory("synced set"));
    let target = above.join("new/set");
    fs::create_dir_all(&watch).expect("there is room");
    let (code, library, syncs) =
        (watch.join("watch.c"), watch.join("watch.so"), watch.join("syncs"));
    fs::write(&code, WATCH).expect("there is room");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .args([&library, &code])
        .arg("-ldl")
        .status();
    assert!(built.expect("Rust links with cc").success());
    let run = |arguments: &[&str]| {
        let _ = fs::remove_file(&syncs);
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        let output = command
            .args(arguments)
            .env("LD_PRELOAD", &library)
            .env("SYNCS", &syncs)
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{}", text(&output));
        let lines = fs::read_to_string(&syncs).expect("it syncs");
        lines.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (from, to) = (dir.display().to_string(), target.display().to_string());
    let lines = run(&["ship", &from, "--to", &to, "--once"]);
    let at = |line: &str| {
        lines.iter().position(|it| it == line).unwrap_or_else(|| panic!("{line}: {lines:#?}"))
    };
    let place = partition(&target);
    let (renamed, removed) =
        (at(&format!("rename {}", place.display())), at(&format!("unlink {from}/tree-0.spy")));
    for path in files_of(&place) {
        let end = format!("/{}", path.file_name().expect("it has one").display());
        let synced = lines.iter().position(|it| it.starts_with("sync ") && it.ends_with(&end));
        let is_beside_manifest = path.starts_with(&place);
        let appeared =
            if is_beside_manifest { renamed } else { at(&format!("rename {}", path.display())) };
        assert!(synced.is_some_and(|at| at < appeared), "{end}: {lines:#?}");
        // The tables are there before the manifest, and the manifest before the recording goes.
        let begin = if is_beside_manifest { renamed } else { appeared };
        let end = if is_beside_manifest { removed } else { renamed };
        for directory in path.ancestors().skip(1).take_while(|it| it.starts_with(&target)) {
            let line = format!("sync {}", directory.display());
            let is_synced = (begin..end).any(|at| lines[at] == line);
            assert!(is_synced, "{}: {lines:#?}", directory.display());
        }
    }
    assert!(at(&format!("sync {}", above.join("new").display())) < removed);
    let restored = run(&["restore", &to, "--to", &watch.join("restored").display().to_string()]);
    let renamed =
        restored.iter().position(|it| it.starts_with("rename ")).expect("it appears by a rename");
    let before = restored[..renamed]
        .iter()
        .filter(|it| it.starts_with("sync ") && it.contains(".partial-"))
        .count();
    assert_eq!(
        (before, restored.last().is_some_and(|it| it.starts_with("sync "))),
        (1, true),
        "{restored:#?}"
    );
    [dir, watch, above].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}
