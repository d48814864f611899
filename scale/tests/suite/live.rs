//! Commands on a process that runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{CALLS, NodeId, OF_FRAME, directory, metaspy, rows_of, spool};
use crate::serve::Server;
use crate::ship::{recordings, ship, text};

/// The name of the process below.
pub const WORKER: &str = "live::a_process_that_works_on_request";

/// The process: it lays out as many frames as each line of its input has.
#[test]
#[ignore = "the other tests start it"]
fn a_process_that_works_on_request() {
    let mut frames = 0;
    for line in std::io::stdin().lines() {
        let more: u64 = line.expect("it is text").parse().expect("it is a number");
        (0..more).for_each(|_| NodeId(0).frame());
        frames += more;
        println!("\ncalls {}", frames * OF_FRAME);
    }
}

/// A process that answers lines.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Process {
    /// Starts one of these tests as a process.
    pub fn start(test: &str, environment: &[(&str, &str)]) -> Self {
        let own = std::env::current_exe().expect("a test is a file");
        let mut command = Command::new(own);
        command.args(["--exact", test, "--ignored", "--nocapture"]);
        command.envs(environment.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Process { input: child.stdin.take(), output, child }
    }

    /// Sends a line, and returns what follows `word` in the answer.
    pub fn answer(&mut self, line: &str, word: &str) -> String {
        writeln!(self.input.as_mut().expect("it has not ended"), "{line}").expect("it reads");
        let mut lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.find_map(|line| Some(line.strip_prefix(word)?.trim().to_owned())).expect("it answers")
    }

    /// Works, and returns the number of all of its calls.
    pub fn work(&mut self, frames: u64) -> u64 {
        self.answer(&frames.to_string(), "calls").parse().expect("it is a number")
    }

    /// Ends it, and waits.
    pub fn end(&mut self) {
        self.input = None;
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The calls that a server reports.
fn reported(server: &Server) -> u64 {
    let rows = server.json("/query?sql=SELECT%20sum(calls)%20AS%20calls%20FROM%20tallies");
    rows[0]["calls"].as_u64().unwrap_or(0)
}

#[test]
fn a_server_follows_a_process() {
    let dir = directory("live");
    let mut process = Process::start(
        WORKER,
        &[("METASPY_RECORD", "live"), ("METASPY_DIR", &dir.display().to_string())],
    );
    let mut calls = process.work(10);
    let server = Server::start_in(&process.child.id().to_string(), &dir);
    for _ in 0..3 {
        assert_eq!(reported(&server), calls);
        assert!(server.get("/metrics", "localhost").1.contains("metaspy_recording_live"));
        calls = process.work(1_000);
        let end = Instant::now() + Duration::from_secs(60);
        while reported(&server) != calls && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(reported(&server), calls);
    process.end();
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_process_that_rotates_is_shipped_while_it_runs() {
    let (dir, target) = (directory("rotating"), directory("rotated"));
    let path = dir.display().to_string();
    let rotates = [("METASPY_RECORD", "live"), ("METASPY_DIR", &*path), ("METASPY_ROTATE", "1MiB")];
    let mut process = Process::start(WORKER, &rotates);
    let sealed = |target: &Path| -> u64 {
        let rows = rows_of("SELECT sum(calls) FROM tallies", target);
        rows.first().and_then(|row| row.parse().ok()).unwrap_or(0)
    };
    let mut calls = 0;
    for _ in 0..3 {
        calls = process.work(2_000);
        let output = ship(&dir, &target, &[]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(recordings(&dir) > 0, "the newest one belongs to the process");
    }
    let before = sealed(&target);
    assert!(before > 0 && before <= calls, "{before} of {calls}");
    process.end();
    assert!(ship(&dir, &target, &[]).status.success());
    assert_eq!((sealed(&target), recordings(&dir)), (calls, 0));
    [dir, target].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn seal_goes_on_after_a_recording_that_grows() {
    let dir = spool("growing", 1);
    let (path, set) = (dir.display().to_string(), dir.join("set"));
    let mut process =
        Process::start(WORKER, &[("METASPY_RECORD", &dir.join("live.spy").display().to_string())]);
    process.work(1);
    let output = metaspy(&["seal", &path, "--to", &set.display().to_string()]);
    assert!(
        output.status.code() == Some(1) && text(&output).contains("still records"),
        "{}",
        text(&output)
    );
    assert_eq!(rows_of("SELECT count(*) FROM events", &set), [CALLS.to_string()]);
    process.end();
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_killed_process_leaves_all_of_its_rows() {
    let dir = directory("killed process");
    let spy = dir.join("killed.spy");
    let mut process = Process::start(WORKER, &[("METASPY_RECORD", &spy.display().to_string())]);
    let calls = process.work(100);
    process.child.kill().expect("it is a child");
    process.child.wait().expect("it ends");
    let set = dir.join("sealed").display().to_string();
    let output = metaspy(&["seal", &spy.display().to_string(), "--to", &set]);
    assert!(output.status.success(), "{}", text(&output));
    for source in [&spy, &dir.join("sealed")] {
        assert_eq!(rows_of("SELECT count(*) FROM events", source), [calls.to_string()]);
        assert_eq!(
            rows_of("SELECT state, calls, lost FROM recordings", source),
            [format!("killed,{calls},0")]
        );
    }
    fs::remove_dir_all(dir).expect("it is ours");
}
