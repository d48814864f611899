//! `metaspy cluster`, and queries on it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{directory, printed, recording, rows};

/// A cluster of two executors, until it is dropped.
struct Cluster {
    process: Child,
    url: String,
    executors: Vec<String>,
}

impl Cluster {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command
            .args(["cluster", "--executors", "2", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("the command starts");
        let mut lines = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        let mut after = |name: &str| {
            let line = lines.next().expect("it prints").expect("it prints UTF-8");
            line.strip_prefix(name).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let (url, executors) = (after("scheduler: "), after("executors: processes "));
        Cluster { process, url, executors: executors.split(", ").map(str::to_owned).collect() }
    }

    /// The rows of a query on a set, without the header, or its error.
    fn rows(&self, sql: &str, set: &str) -> Result<Vec<String>, String> {
        result_rows(&self.start_query(sql, set).wait_with_output().expect("it is a child"))
    }

    /// Starts a query on a set.
    fn start_query(&self, sql: &str, set: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command.args(["query", "--format", "csv", "--cluster", &self.url, sql, set]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    }

    fn signal(&self, process: &str, signal: &str) {
        let killed = Command::new("kill").args([signal, process]).status().expect("there is kill");
        assert!(killed.success());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Interrupted, it ends its executors. A killed one still has its number until it is waited
        // for.
        self.signal(&self.process.id().to_string(), "-INT");
        let _ = self.process.wait();
    }
}

/// The rows that a query printed, without the header, or its error.
fn result_rows(output: &Output) -> Result<Vec<String>, String> {
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).lines().skip(1).map(str::to_owned).collect())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

const QUERIES: &[&str] = &[
    "SELECT site, count(*), count(took_ns), min(time_ns), max(time_ns) FROM events GROUP BY site ORDER BY site",
    "SELECT e.site, c.site, count(*) FROM events AS e JOIN events AS c ON e.cause = c.event \
     GROUP BY e.site, c.site ORDER BY e.site, c.site",
    "SELECT event, time_ns, took_ns, cause, thread, lane FROM events WHERE subject_key = 5 ORDER BY event",
    "SELECT subject_key, label, calls FROM subjects ORDER BY subject_key",
    "SELECT site, subject_key, calls, failed FROM tallies ORDER BY site, subject_key",
];

#[test]
fn a_cluster_answers_as_one_process_does() {
    let (cluster, directory) = (Cluster::start(), directory("cluster"));
    let (spy, set) = (recording().display().to_string(), directory.display().to_string());
    printed(&["seal", &spy, "--to", &set, "--host", "rack-7"]);
    for query in QUERIES {
        assert_eq!(cluster.rows(query, &set), Ok(rows(query)), "{query}");
    }
    let error = cluster.rows("SELECT sit FROM events", &set).expect_err("there is no such column");
    assert!(error.contains("nearest: site"), "{error}");
    let error = cluster.rows("SELECT site FROM events", &spy).expect_err("it is no set");
    assert!(error.contains("metaspy seal"), "{error}");
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_query_outlives_the_executor_that_runs_it() {
    let (cluster, directory) = (Cluster::start(), directory("cluster-killed"));
    let (spy, set) = (recording().display().to_string(), directory.display().to_string());
    // With two partitions, stages pass rows to each other, and the killed executor has the only
    // copy of some.
    for host in ["rack-7", "rack-8"] {
        printed(&["seal", &spy, "--to", &set, "--host", host]);
    }
    let slow = "SELECT site, count(*) FROM events CROSS JOIN (SELECT unnest(range(40)) AS n) GROUP BY site ORDER BY site";
    let expected = rows("SELECT site, 2 * 40 * count(*) FROM events GROUP BY site ORDER BY site");
    let begun = Instant::now();
    let mut query = cluster.start_query(slow, &set);
    // After a second of processor time the first stage has ended, and the second one runs.
    let busy = loop {
        assert!(query.try_wait().expect("it is a child").is_none(), "the query is slow enough");
        assert!(begun.elapsed() < Duration::from_secs(120), "no executor runs the query");
        match cluster.executors.iter().find(|process| processor_ticks(process) >= 100) {
            Some(process) => break process,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    cluster.signal(busy, "-KILL");
    // The scheduler notices after 10 s, and then another executor does all work again.
    while query.try_wait().expect("it is a child").is_none() {
        if begun.elapsed() > Duration::from_secs(240) {
            query.kill().expect("it runs");
            panic!("the query does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    match result_rows(&query.wait_with_output().expect("it ended")) {
        Ok(found) => assert_eq!(found, expected),
        Err(error) => assert!(error.starts_with("metaspy: "), "{error}"),
    }
    println!("a query whose executor was killed ended after {:?}", begun.elapsed());
    let found = cluster.rows("SELECT count(*) FROM events", &set);
    assert_eq!(found, Ok(rows("SELECT 2 * count(*) FROM events")), "the other executor remains");
    fs::remove_dir_all(directory).expect("it is ours");
}

/// The processor time of a process.
fn processor_ticks(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The name, which ends with a parenthesis, can have spaces. User and system time are fields 14
    // and 15 of proc(5).
    let fields: Vec<&str> =
        status.rsplit(')').next().expect("there is a rest").split_whitespace().collect();
    [11, 12].into_iter().map(|field: usize| fields[field].parse::<u64>().expect("a number")).sum()
}

#[test]
fn the_executors_of_a_killed_cluster_end() {
    let cluster = Cluster::start();
    cluster.signal(&cluster.process.id().to_string(), "-KILL");
    let begun = Instant::now();
    let runs = |process: &String| {
        // A process that ended and waits for its parent runs no more.
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        status
            .rsplit(')')
            .next()
            .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    };
    while cluster.executors.iter().any(runs) {
        assert!(begun.elapsed() < Duration::from_secs(60), "an executor remains");
        std::thread::sleep(Duration::from_millis(50));
    }
}
