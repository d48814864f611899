//! With `METASPY_ROTATE`, a recording continues in further files, and together they have every
//! call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use metaspy::Store;
use metaspy::prelude::*;
use metaspy::store::EndState;

struct Wheel;

#[observe]
impl Wheel {
    fn turn(&self) {}
}

/// Calls of a thread between two looks at the directory.
const BURST: u64 = 4_000;
/// Files that the child waits for.
const FILES: usize = 4;

fn recordings(dir: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(dir)
        .expect("it is there")
        .map(|entry| entry.expect("it has a name").path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "spy")).collect()
}

/// What a child of these tests does: three threads call a method until there are several files. It
/// prints the calls.
#[test]
fn turns() {
    let Some(path) = std::env::var_os("METASPY_RECORD").map(PathBuf::from) else { return };
    let dir = path.parent().expect("it is in a directory");
    let deadline = Instant::now() + Duration::from_secs(60);
    let files = if std::env::var_os("MANY_FILES").is_some() { FILES } else { 1 };
    let at_least =
        std::env::var("AT_LEAST").map_or(0, |calls| calls.parse().expect("it is a number"));
    let turn = || {
        let mut calls = 0;
        loop {
            (0..BURST).for_each(|_| Wheel.turn());
            calls += BURST;
            if (recordings(dir).len() >= files && calls >= at_least) || Instant::now() > deadline {
                return calls;
            }
            thread::sleep(Duration::from_millis(1));
        }
    };
    let calls: u64 = thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(turn));
        threads.into_iter().map(|thread| thread.join().expect("it only calls")).sum()
    });
    println!("calls={calls}");
}

/// Runs the child with this rotation. Returns its calls, its files, and its output.
fn run(name: &str, rotate: &str, many: bool) -> (u64, Vec<PathBuf>, Output) {
    let dir = std::env::temp_dir().join(format!("metaspy-rotation-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command
        .args(["rotation::turns", "--exact", "--nocapture"])
        .env("METASPY_RECORD", dir.join("run.spy"));
    command.env("METASPY_ROTATE", rotate).env("METASPY_OBSERVE", "Wheel::turn");
    command.envs(many.then_some(("MANY_FILES", "1")));
    let output = command.output().expect("it can be run again");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let calls = text
        .lines()
        .find_map(|line| line.split_once("calls=")?.1.parse().ok())
        .expect("it prints its calls");
    (calls, recordings(&dir).into_iter().collect(), output)
}

fn recorded(files: &[PathBuf]) -> u64 {
    let calls = files.iter().map(|file| {
        let store = Store::open(file).expect("it was recorded");
        assert_eq!(
            (store.end_state(), store.missing()),
            (EndState::Closed, &[][..]),
            "{}",
            file.display()
        );
        store.totals().emitted
    });
    let calls = calls.sum();
    let named =
        files.iter().map(|file| (file.display().to_string(), Store::open(file).expect("as above")));
    let whole = Store::merged(named.collect()).expect("recordings of one process are read as one");
    assert_eq!((whole.totals().emitted, whole.totals().exact), (calls, true));
    std::fs::remove_dir_all(files[0].parent().expect("it is in a directory")).expect("it is ours");
    calls
}

#[test]
fn files_of_a_rotation_are_closed_and_have_every_call() {
    for (name, rotate) in [("size", "1MiB"), ("age", "50ms")] {
        let (calls, files, output) = run(name, rotate, true);
        assert!(files.len() >= FILES, "{files:?} {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(recorded(&files), calls, "{name}");
    }
}

/// Needs a small file system, and so the rights to mount one.
#[test]
#[cfg(target_os = "linux")]
fn on_a_full_disk_the_last_file_goes_on_and_has_every_call() {
    let dir = std::env::temp_dir().join(format!("metaspy-rotation-{}-full", std::process::id()));
    std::fs::create_dir_all(&dir).expect("there is room");
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(&dir).status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: small-file-system: no right to mount one");
        return;
    }
    // Far more than the disk has room for.
    let mut child = Command::new(std::env::current_exe().expect("a test has a program"));
    child
        .args(["rotation::turns", "--exact", "--nocapture"])
        .env("METASPY_RECORD", dir.join("run.spy"));
    child
        .env("METASPY_ROTATE", "4MiB")
        .env("METASPY_OBSERVE", "Wheel::turn")
        .env("AT_LEAST", "1000000");
    let output = child.output().expect("it can be run again");
    let (text, error) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    let calls: u64 = text
        .lines()
        .find_map(|line| line.split_once("calls=")?.1.parse().ok())
        .expect("it prints them");
    let files: Vec<PathBuf> = recordings(&dir).into_iter().collect();
    let emitted: Vec<u64> = files
        .iter()
        .map(|file| Store::open(file).expect("it was recorded").totals().emitted)
        .collect();
    let unmounted = Command::new("umount").arg(&dir).status().is_ok_and(|status| status.success());
    std::fs::remove_dir(&dir).expect("it is empty");
    assert!(unmounted && output.status.success(), "{error}");
    assert!(
        error.matches("There is no room for the next file").count() == 1
            && !error.contains("in memory"),
        "{error}"
    );
    assert_eq!(emitted.iter().sum::<u64>(), calls, "{files:?} {emitted:?}");
}

#[test]
fn a_rotation_that_cannot_be_read_is_reported_and_the_program_is_recorded() {
    let (calls, files, output) = run("wrong", "often", false);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(error.matches("METASPY_ROTATE").count(), 1, "{error}");
    assert_eq!((files.len(), recorded(&files)), (1, calls));
}
