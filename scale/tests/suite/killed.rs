//! `metaspy ship` and `metaspy seal`, killed at each system call with which they change something.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::fixture::{CALLS, S3, directory, metaspy, rows_of, spool};
use crate::seal::{assert_has_what_is_named, files_of, partitions};
use crate::ship::{recordings, ship, text};

/// System calls that change a directory or a file, or that make a change durable.
const CHANGES: [&str; 6] = ["mkdir", "write", "fsync", "rename", "unlink", "rmdir"];
/// System calls with which a bucket is written.
const SENDS: [&str; 2] = ["sendto", "writev"];
/// Calls of one kind at most. Each thread counts its own.
const MOST: usize = 200;

/// The files of the partitions of a set, by their names, which have the hashes of their contents.
/// `recordings` has the recording's path.
fn files(set: &Path) -> BTreeSet<String> {
    let name = |path: PathBuf| {
        let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
        if name.starts_with("recordings-") { "recordings".to_owned() } else { name }
    };
    partitions(set).iter().flat_map(|partition| files_of(partition)).map(name).collect()
}

/// Runs a command under `strace`, which kills it at the `at`-th call of a kind. True if there were
/// fewer.
pub fn run_until(call: &str, at: usize, arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    let inject = format!("inject={call}:signal=KILL:when={at}");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject]);
    command.arg(env!("CARGO_BIN_EXE_metaspy-scale")).args(arguments);
    let output = command
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("strace starts");
    let is_killed = output.status.signal() == Some(9) || output.status.code() == Some(137);
    assert!(is_killed || output.status.success(), "{call} {at}: {}", text(&output));
    !is_killed
}

/// True if processes can be traced here.
pub fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=rename", "true"])
        .output();
    traced.is_ok_and(|output| output.status.success())
}

/// Runs a command on the recording of a directory, killed at each change of the disk, and again to
/// its end. `left` is the number of recordings that the command leaves in the directory.
fn check_kills(command: &str, left: usize) {
    if !can_trace() {
        println!("SKIPPED: kills at system calls: no strace, or it may not trace");
        return;
    }
    let base = directory(&format!("kills of {command}"));
    let (first, reference) = (spool(&format!("{command} first"), 1), base.join("reference"));
    let recording = fs::read(first.join("tree-0.spy")).expect("it is there");
    assert!(ship(&first, &reference, &[]).status.success());
    let expected = files(&reference);
    let kills = Mutex::new(0);
    let check = |call: &str| {
        for at in 1..MOST {
            let (dir, target) =
                (base.join(format!("{call}-{at}")), base.join(format!("{call}-{at}-set")));
            fs::create_dir(&dir).expect("there is room");
            fs::write(dir.join("tree-0.spy"), &recording).expect("there is room");
            let (from, to) = (dir.display().to_string(), target.display().to_string());
            let mut arguments = vec![command, &from, "--to", &to];
            arguments.extend((command == "ship").then_some("--once"));
            let is_whole = run_until(call, at, &arguments, &[]);
            let is_sealed = target.exists()
                && partitions(&target).iter().any(|it| it.join("sealed.json").is_file());
            assert!(
                recordings(&dir) == 1 || (is_sealed && left == 0),
                "{call} {at}: the recording is lost"
            );
            if is_sealed {
                assert_eq!(files(&target), expected, "{call} {at}: a part is visible");
            } else if target.exists() {
                let read = text(&metaspy(&["query", "SELECT 1", &to]));
                assert!(read.contains("there is no recording in"), "{call} {at}: {read}");
            }
            let output = metaspy(&arguments);
            assert!(
                output.status.success() && recordings(&dir) == left,
                "{call} {at}: {}",
                text(&output)
            );
            assert_eq!(files(&target), expected, "{call} {at}");
            assert_has_what_is_named(&target);
            [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
            if is_whole {
                return;
            }
            *kills.lock().expect("nothing panics") += 1;
        }
    };
    thread::scope(|scope| {
        for call in CHANGES {
            scope.spawn(move || check(call));
        }
    });
    let kills = kills.into_inner().expect("nothing panics");
    println!("{kills} kills of {command}");
    assert!(kills > 50, "{kills} kills");
    assert_eq!(rows_of("SELECT count(*) FROM events", &reference), [CALLS.to_string()]);
    [first, base].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_kill_of_ship_at_any_change_of_a_directory_loses_and_duplicates_nothing() {
    check_kills("ship", 0);
}

#[test]
fn a_kill_of_seal_at_any_change_of_a_directory_loses_and_duplicates_nothing() {
    check_kills("seal", 1);
}

#[test]
fn a_kill_at_any_step_of_a_removal_leaves_nothing_half_visible() {
    if !can_trace() {
        println!("SKIPPED: kills at system calls: no strace, or it may not trace");
        return;
    }
    let (dir, base) = (spool("kills old", 2), directory("kills of removals"));
    let older = dir.join("tree-1.spy");
    let mut bytes = fs::read(&older).expect("it is there");
    let at = metaspy_core::format::superblock::STARTED_NS * 8;
    bytes[at..at + 8].copy_from_slice(&1_u64.to_le_bytes());
    fs::write(older, bytes).expect("there is room");
    let sealed = base.join("sealed");
    assert!(ship(&dir, &sealed, &["--host", "own"]).status.success() && recordings(&dir) == 0);
    let keep = ["--host", "own", "--keep", "1d"];
    let mut kills = 0;
    for call in ["unlink", "rmdir"] {
        for at in 1..MOST {
            let target = base.join(format!("{call}-{at}"));
            let copied = Command::new("cp").arg("-a").args([&sealed, &target]).status();
            assert!(copied.expect("there is cp").success());
            let (from, to) = (dir.display().to_string(), target.display().to_string());
            let ship_there = [&["ship", &from, "--to", &to, "--once"], &keep[..]].concat();
            if run_until(call, at, &ship_there, &[]) {
                break;
            }
            kills += 1;
            let output = metaspy(&["query", "--format", "csv", "SELECT count(*) FROM events", &to]);
            let rows = String::from_utf8_lossy(&output.stdout).into_owned();
            let is_whole = rows.ends_with(&format!("\n{CALLS}\n"))
                || rows.ends_with(&format!("\n{}\n", 2 * CALLS));
            let is_reported = text(&output).contains("has no sealed.json");
            let code = if is_reported { 1 } else { 0 };
            assert!(
                is_whole && output.status.code() == Some(code),
                "{call} {at}: {}",
                text(&output)
            );
            assert!(ship(&dir, &target, &keep).status.success());
            assert_has_what_is_named(&target);
            assert_eq!(rows_of("SELECT count(*) FROM events", &target), [CALLS.to_string()]);
            fs::remove_dir_all(target).expect("it is ours");
        }
    }
    println!("{kills} kills");
    assert!(kills > 10, "{kills} kills");
    [dir, base].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn a_kill_at_any_message_to_a_bucket_loses_and_duplicates_nothing() {
    if !can_trace() {
        println!("SKIPPED: kills at system calls: no strace, or it may not trace");
        return;
    }
    let Some(server) = S3::start() else { return };
    let first = spool("kills s3", 1);
    let recording = fs::read(first.join("tree-0.spy")).expect("it is there");
    let variables = server.variables();
    let mut kills = 0;
    for call in SENDS {
        for at in 1..MOST {
            let set = format!("s3://spies/{call}-{at}");
            fs::write(first.join("tree-0.spy"), &recording).expect("there is room");
            let from = first.display().to_string();
            let arguments = ["ship", &from, "--to", &set, "--once"];
            let is_whole = run_until(call, at, &arguments, &variables);
            if recordings(&first) == 0 {
                let (code, rows) =
                    server.run(&["query", "--format", "csv", "SELECT count(*) FROM events", &set]);
                assert_eq!(
                    (code, rows.lines().nth(1)),
                    (Some(0), Some(&*CALLS.to_string())),
                    "{call} {at}: {rows}"
                );
            }
            let (code, text) = server.run(&arguments);
            assert!(code == Some(0) && recordings(&first) == 0, "{call} {at}: {text}");
            let (code, rows) =
                server.run(&["query", "--format", "csv", "SELECT count(*) FROM events", &set]);
            assert_eq!(
                (code, rows.lines().nth(1)),
                (Some(0), Some(&*CALLS.to_string())),
                "{call} {at}: {rows}"
            );
            if is_whole {
                break;
            }
            kills += 1;
        }
    }
    println!("{kills} kills");
    assert!(kills > 10, "{kills} kills");
    fs::remove_dir_all(first).expect("it is ours");
}
