//! `metaspy serve`, read by other programs.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::{CALLS, FRAMES, directory, python_with, record_folded, recording, spool};

/// A server, until it is dropped.
pub struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(source: &str) -> Self {
        Server::start_in(source, Path::new(""))
    }

    /// Starts one with a directory of live recordings.
    pub fn start_in(source: &str, live: &Path) -> Self {
        Server::start_with(&[source], live)
    }

    fn start_with(arguments: &[&str], live: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("METASPY_DIR", live)
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("the command starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("it is a pipe")).read_line(&mut line).expect("it prints a line");
        let address = line.split('/').nth(2).expect("it prints its address").to_owned();
        Server { process, address }
    }

    /// The status and the body of an answer.
    pub fn get(&self, path: &str, host: &str) -> (u16, String) {
        self.request("GET", path, host)
    }

    fn request(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        (head[9..12].parse().expect("a status"), body.to_owned())
    }

    /// The answer as JSON.
    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path, "localhost");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Prints each sample as name, site and value, as the official client reads it.
const READ: &str = "\
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(family.type, sample.name, sample.labels.get('site', '').split('::')[-1], int(sample.value))
";

#[test]
fn tallies_are_metrics_that_the_client_of_prometheus_reads() {
    let server = Server::start(&recording().display().to_string());
    let (status, text) = server.get("/metrics", "127.0.0.1");
    assert_eq!(status, 200, "{text}");
    let Some(python) = python_with("prometheus_client") else {
        println!("SKIPPED: metrics: no Python with prometheus_client; set METASPY_PYTHON");
        return;
    };
    let mut reader = Command::new(python);
    reader.args(["-c", READ]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut reader = reader.spawn().expect("it starts");
    reader.stdin.take().expect("it is a pipe").write_all(text.as_bytes()).expect("it reads");
    let output = reader.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let samples = String::from_utf8_lossy(&output.stdout).into_owned();
    let has = |line: &str| assert!(samples.lines().any(|it| it == line), "no {line:?} in\n{samples}");
    let half = (CALLS - 1) / 2;
    has(&format!("counter metaspy_calls_total layout {half}"));
    has("counter metaspy_calls_total paint 1");
    has("counter metaspy_calls_lost_total measure 0");
    has("gauge metaspy_recording_live  0");
    has("gauge metaspy_recording_exact  1");
    assert!(samples.contains("counter metaspy_calls_self_time_seconds_total layout"), "{samples}");
}

#[test]
fn a_self_time_that_is_not_known_is_no_metric() {
    let dir = directory("self time");
    let path = dir.join("folded.spy");
    record_folded(&path);
    let server = Server::start(&path.display().to_string());
    let (_, text) = server.get("/metrics", "127.0.0.1");
    assert!(text.contains("metaspy_calls_time_seconds_total{"), "{text}");
    assert!(!text.contains("metaspy_calls_self_time_seconds_total{"), "{text}");
    drop(server);
    std::fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_query_ends_in_time_and_a_server_ends_though_clients_hang() {
    let mut server = Server::start_with(&["--timeout", "1", &recording().display().to_string()], Path::new(""));
    let endless = "/query?sql=SELECT%20count(*)%20FROM%20events%20a%20JOIN%20events%20b%20ON%20a.site=b.site";
    let (status, body) = server.get(endless, "localhost");
    assert!(status == 503 && body.contains("takes more than 1 s"), "{status} {body}");
    let mut hangs = TcpStream::connect(&server.address).expect("it listens");
    write!(hangs, "GET / HTTP/1.1\r\nHo").expect("it reads");
    let interrupted = Instant::now();
    let interrupt = || Command::new("kill").args(["-INT", &server.process.id().to_string()]).status();
    assert!(interrupt().expect("there is kill").success());
    assert!(server.process.wait().expect("it is a child").success());
    assert!(interrupted.elapsed() < Duration::from_secs(20));
}

#[test]
fn no_query_takes_more_memory_than_it_may() {
    let spy = recording().display().to_string();
    let server = Server::start_with(&["--memory", "256MiB", "--timeout", "3600", &spy], Path::new(""));
    let encode = |sql: &str| sql.replace('%', "%25").replace(' ', "%20").replace('+', "%2B").replace('&', "%26");
    let query = |sql: &str| server.get(&format!("/query?sql={}", encode(sql)), "localhost");
    let nested = |inner: &str, around: &dyn Fn(String) -> String, times: usize| {
        (0..times).fold(inner.to_owned(), |inner, _| around(inner))
    };
    let many = |letter: &str| letter.repeat(1_000);
    let replaced = nested("'a'", &|inner| format!("replace({inner},'a','{}')", many("a")), 4);
    let translated = nested("'a'", &|inner| format!("translate(replace({inner},'a','{}'),'b','a')", many("b")), 4);
    let joined = (0..20).fold("SELECT site AS a0 FROM events".to_owned(), |inner, at| {
        format!("SELECT concat(a{at},a{at}) AS a{} FROM ({inner})", at + 1)
    });
    for hostile in [
        &format!("SELECT length({replaced}) AS n FROM events"),
        &format!("SELECT length({translated}) AS n FROM events"),
        &format!("SELECT sum(length(a20)) AS n FROM ({joined})"),
        "SELECT sum(length(repeat(site, 1000000))) AS n FROM events",
        "SELECT length(repeat('a', 2000000000)) AS n",
        "SELECT length(lpad('a', 2000000000, 'b')) AS n",
        "SELECT cardinality(array_repeat(event, 100000)) AS n FROM events",
        "SELECT cardinality(range(0, event + 100000000)) AS n FROM events",
    ] {
        let (status, body) = query(hostile);
        // Some functions report what the system refuses.
        assert!(matches!(status, 400 | 503) && body.contains("memory"), "{hostile}: {status} {body}");
        let (status, body) = query("SELECT count(*) AS n FROM events");
        assert_eq!((status, body.trim_end()), (200, &*format!("[{{\"n\":{CALLS}}}]")), "after {hostile}");
    }
}

#[test]
fn each_row_of_a_table_is_on_one_page() {
    let dir = spool("pages", 2);
    let server = Server::start(&dir.display().to_string());
    for (table, limit) in [("events", 60_000), ("tallies", 10), ("subjects", 7), ("sites", 2)] {
        let mut rows = HashSet::new();
        let mut expected = 0;
        loop {
            let page = server.json(&format!("/tables/{table}?limit={limit}&offset={expected}"));
            let page = page.as_array().expect("rows");
            expected += page.len();
            rows.extend(page.iter().map(Value::to_string));
            if page.is_empty() {
                break;
            }
        }
        let all = server.json(&format!("/query?sql=SELECT%20count(*)%20AS%20rows%20FROM%20{table}"));
        assert_eq!((all[0]["rows"].as_u64(), rows.len()), (Some(expected as u64), expected), "{table}");
    }
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn tables_events_and_queries_are_json() {
    let server = Server::start(&recording().display().to_string());
    assert!(server.json("/")["tables"].as_array().expect("a list").contains(&"/tables/events".into()));
    let events = server.json("/tables/events?limit=3&offset=2");
    assert_eq!(events.as_array().map(Vec::len), Some(3));
    let paint = &server.json("/query?sql=SELECT%20event,cause%20FROM%20events%20WHERE%20thread='painter'")[0];
    let event = &server.json(&format!("/events/{}", paint["event"]))[0];
    assert_eq!((event["causes"].as_array().map(Vec::len), &event["causes"][0]["event"]), (Some(6), &paint["cause"]));
    assert_eq!(event["root"], event["causes"][5]);
    let roots = server.json("/query?sql=SELECT%20count(*)%20AS%20roots%20FROM%20events%20WHERE%20cause%20IS%20NULL");
    assert_eq!(roots[0]["roots"], FRAMES);
    let (status, body) = server.request("POST", "/tables/events", "localhost");
    let error: Value = serde_json::from_str(&body).expect("JSON");
    assert!(status == 405 && error["error"].is_string(), "{status} {body}");
    let of_another = format!("/events/{}?process=another-1", paint["event"]);
    for (path, status, part) in [
        ("/tables/%ff", 400, "UTF-8"),
        ("/tables/evnts", 404, "no table `evnts`"),
        ("/query?sql=SELECT%20sit%20FROM%20events", 400, "nearest: site"),
        ("/query?sql=DROP%20TABLE%20events", 400, "only reads"),
        ("/nothing", 404, "no such page"),
        ("/query", 400, "sql"),
        ("/events/last", 400, "last"),
        ("/tables/lanes?limit=few", 400, "limit"),
        ("/tables/lanes?limt=2", 400, "no parameter `limt`: this page has limit, offset"),
        ("/query?sql=SELECT%201&limit=1", 400, "no parameter `limit`: this page has sql"),
        ("/events/1?proces=tree-1", 400, "no parameter `proces`: this page has process"),
        ("/?limit=1", 400, "no parameter `limit`: this page has none"),
        ("/events/0", 404, "no event 0: /tables/events lists"),
        (&of_another, 404, "of process `another-1`: /tables/events lists"),
    ] {
        let (found, body) = server.get(path, "localhost");
        assert!(found == status && body.contains(part), "{path}: {found} {body}");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert!(answer["error"].is_string(), "{path}: {body}");
    }
    for (terms, status) in [(500, 200), (3_200, 400)] {
        assert_eq!(server.get(&format!("/query?sql=SELECT%20{}1", "1%2B".repeat(terms)), "localhost").0, status);
    }
    let most = u64::MAX;
    for (path, rows) in [
        (format!("/tables/lanes?limit={most}"), 2),
        (format!("/tables/lanes?limit={most}&offset={most}"), 0),
        (format!("/tables/events?limit=7&offset={most}"), 0),
    ] {
        assert_eq!(server.json(&path).as_array().map(Vec::len), Some(rows), "{path}");
    }
    assert_eq!(server.get("/metrics?target=layout&collect%5B%5D=calls", "localhost").0, 200);
    let (status, body) = server.get("/metrics", "evil.example");
    assert!(status == 403 && body.contains("not this machine"), "{status} {body}");
}
