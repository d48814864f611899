//! What programs do to their own signals and descriptors, and the recording that has to live with
//! it.

use std::fs::{self, File};
use std::os::fd::FromRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use metaspy::Store;
use metaspy::prelude::*;

struct Scene;

#[observe]
impl Scene {
    fn layout(&self) {}
}

/// A directory of a test.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("metaspy-hosts-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).expect("the temporary directory is writable");
    path
}

/// Runs one of the tests below as a program that is recorded, after these words of a shell.
fn run(program: &str, words: &str, directory: &Path) -> Output {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{words} exec \"$@\""))
        .arg("sh")
        .arg(std::env::current_exe().expect("a program"));
    command.args([&format!("hosts::{program}"), "--exact", "--nocapture"]).current_dir(directory);
    command
        .env("METASPY_RECORD", "run.spy")
        .env("METASPY_OBSERVE", "hosts::Scene::*")
        .env("METASPY_TEST_HOST", "1");
    command.output().expect("there is a shell")
}

/// True in a process that [`run`] started.
fn is_host() -> bool {
    std::env::var_os("METASPY_TEST_HOST").is_some()
}

fn calls(recording: &Path) -> u64 {
    let store = Store::open(recording).expect("it was recorded");
    assert_eq!(store.missing(), [] as [&str; 0]);
    store.totals().emitted
}

#[test]
fn lists_its_threads() {
    Scene.layout();
    // A thread takes its name, and its mask, a moment after its start.
    std::thread::sleep(if is_host() { Duration::from_millis(200) } else { Duration::ZERO });
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok) {
        let of = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let blocked = of("status")
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:").map(str::trim).map(str::to_owned));
        println!("thread {} {}", of("comm").trim(), blocked.unwrap_or_default());
    }
}

#[test]
fn no_thread_of_ours_receives_the_signals_of_the_program() {
    let directory = directory("signals");
    let output = run("lists_its_threads", "", &directory);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ours: Vec<_> =
        text.lines().filter_map(|line| line.split_once("metaspy-")?.1.split_once(' ')).collect();
    assert!(ours.iter().any(|(name, _)| name.starts_with("colle")), "{text}");
    for (name, blocked) in ours {
        let blocked = u64::from_str_radix(blocked, 16).expect("a mask");
        // SIGHUP, SIGINT, SIGUSR1, SIGALRM and SIGTERM; of the faults, SIGSEGV and SIGBUS are its
        // own.
        let mask = |signals: &[u64]| signals.iter().map(|signal| 1 << (signal - 1)).sum::<u64>();
        let (taken, faults) = (mask(&[1, 2, 10, 14, 15]), mask(&[7, 11]));
        assert!(blocked & taken == taken && blocked & faults == 0, "{name}: {blocked:x}");
    }
    fs::remove_dir_all(directory).expect("it is ours");
}

/// Closes the recording's descriptor, as a program does that closes all that it has not opened, and
/// opens a file of its own.
#[test]
fn closes_what_it_has_not_opened() {
    if !is_host() {
        return;
    }
    Scene.layout();
    let is_recording = |fd: &i32| {
        fs::read_link(format!("/proc/self/fd/{fd}")).is_ok_and(|to| to.ends_with("run.spy"))
    };
    let fd = (3..100).find(is_recording).expect("it is open");
    // SAFETY: the test is about exactly this: the owner has to live with it.
    drop(unsafe { File::from_raw_fd(fd) });
    let own: Vec<_> = (0..fd)
        .map(|number| File::create(format!("own-{number}")).expect("there is room"))
        .collect();
    own.iter().for_each(|file| file.set_len(1 << 30).expect("it is sparse"));
    (0..100_000).for_each(|_| Scene.layout());
    // The files stay open until the recording was closed.
    std::mem::forget(own);
}

#[test]
fn a_file_that_has_the_number_of_a_closed_recording_is_left_alone() {
    let directory = directory("closed");
    assert!(run("closes_what_it_has_not_opened", "", &directory).status.success());
    let files = fs::read_dir(&directory).expect("it is there").filter_map(Result::ok);
    let own: Vec<_> =
        files.filter(|file| file.file_name().to_string_lossy().starts_with("own-")).collect();
    assert!(
        own.len() > 2
            && own.iter().all(|file| file.metadata().is_ok_and(|meta| meta.len() == 1 << 30))
    );
    assert_eq!(calls(&directory.join("run.spy")), 100_001);
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn prints_much() {
    if is_host() {
        Scene.layout();
        (0..10_000).for_each(|line| println!("line {line}"));
    }
}

#[test]
fn what_a_program_prints_to_a_closed_stream_is_not_in_the_recording() {
    let directory = directory("streams");
    for words in ["exec >&-;", "exec 2>&-;", "exec <&- >&- 2>&-;"] {
        run("prints_much", words, &directory);
        assert_eq!(calls(&directory.join("run.spy")), 1, "{words}");
        fs::remove_file(directory.join("run.spy")).expect("it is ours");
    }
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_limit_of_files_puts_the_recording_into_memory() {
    let directory = directory("limit");
    let output = run("prints_much", "ulimit -f 20000;", &directory);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && error.contains("This recording is in memory instead"),
        "{error}"
    );
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn becomes_another_program() {
    if is_host() {
        (0..5).for_each(|_| Scene.layout());
        let mut next = Command::new(std::env::current_exe().expect("a program"));
        panic!("{}", next.args(["hosts::prints_much", "--exact"]).exec());
    }
}

#[test]
fn what_a_process_recorded_as_another_program_stays() {
    let directory = directory("exec");
    assert!(run("becomes_another_program", "", &directory).status.success());
    let files = fs::read_dir(&directory).expect("it is there").filter_map(Result::ok);
    let mut found: Vec<u64> = files.map(|file| calls(&file.path())).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 5]);
    fs::remove_dir_all(directory).expect("it is ours");
}
