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
        Server::start_at("127.0.0.1:0", arguments, live).0
    }

    /// Starts one that listens there. Returns the lines that it prints at its start, too.
    fn start_at(listen: &str, arguments: &[&str], live: &Path) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command
            .args(["serve", "--listen", listen])
            .args(arguments)
            .env("METASPY_DIR", live)
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("the command starts");
        let mut lines = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("it is a pipe"));
        output.read_line(&mut lines).expect("it prints a line");
        let port = lines
            .split('/')
            .nth(2)
            .and_then(|address| address.rsplit(':').next())
            .expect("its address");
        let address = format!("127.0.0.1:{port}");
        if !listen.starts_with("127.") && !arguments.contains(&"--token-file") {
            output.read_line(&mut lines).expect("it prints its token");
        }
        (Server { process, address }, lines)
    }

    /// The status and the body of an answer.
    pub fn get(&self, path: &str, host: &str) -> (u16, String) {
        self.request("GET", path, host)
    }

    fn request(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// The answer to a request of any form.
    fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
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
    let has =
        |line: &str| assert!(samples.lines().any(|it| it == line), "no {line:?} in\n{samples}");
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
    let mut server =
        Server::start_with(&["--timeout", "1", &recording().display().to_string()], Path::new(""));
    let endless =
        "/query?sql=SELECT%20count(*)%20FROM%20events%20a%20JOIN%20events%20b%20ON%20a.site=b.site";
    let (status, body) = server.get(endless, "localhost");
    assert!(status == 503 && body.contains("takes more than 1 s"), "{status} {body}");
    let mut hangs = TcpStream::connect(&server.address).expect("it listens");
    write!(hangs, "GET / HTTP/1.1\r\nHo").expect("it reads");
    let interrupted = Instant::now();
    let interrupt =
        || Command::new("kill").args(["-INT", &server.process.id().to_string()]).status();
    assert!(interrupt().expect("there is kill").success());
    assert!(server.process.wait().expect("it is a child").success());
    assert!(interrupted.elapsed() < Duration::from_secs(20));
}

#[test]
fn no_query_takes_more_memory_than_it_may() {
    let spy = recording().display().to_string();
    let server =
        Server::start_with(&["--memory", "256MiB", "--timeout", "3600", &spy], Path::new(""));
    let encode = |sql: &str| {
        sql.replace('%', "%25").replace(' ', "%20").replace('+', "%2B").replace('&', "%26")
    };
    let query = |sql: &str| server.get(&format!("/query?sql={}", encode(sql)), "localhost");
    let nested = |inner: &str, around: &dyn Fn(String) -> String, times: usize| {
        (0..times).fold(inner.to_owned(), |inner, _| around(inner))
    };
    let many = |letter: &str| letter.repeat(1_000);
    let replaced = nested("'a'", &|inner| format!("replace({inner},'a','{}')", many("a")), 4);
    let translated = nested(
        "'a'",
        &|inner| format!("translate(replace({inner},'a','{}'),'b','a')", many("b")),
        4,
    );
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
        assert!(
            matches!(status, 400 | 503) && body.contains("memory"),
            "{hostile}: {status} {body}"
        );
        let (status, body) = query("SELECT count(*) AS n FROM events");
        assert_eq!(
            (status, body.trim_end()),
            (200, &*format!("[{{\"n\":{CALLS}}}]")),
            "after {hostile}"
        );
    }
}

/// The bytes of memory that a process has at most had.
fn most_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line =
        status.lines().find(|line| line.starts_with("VmHWM:")).expect("the system counts it");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}

#[test]
fn a_thousand_hostile_requests_change_no_answer() {
    let spy = recording().display().to_string();
    let server =
        Server::start_with(&["--memory", "256MiB", "--timeout", "20", &spy], Path::new(""));
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")
    };
    let query = |sql: &str| get(&format!("/query?sql={sql}"), "");
    let foreign = "Origin: https://evil.example\r\n";
    let cross = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    let (nested, long) = ("(".repeat(20_000), "a".repeat(90_000));
    let hostile = [
        get("/query?sql=SELECT%201", foreign),
        get("/tables/events?limit=60000", cross),
        get("/metrics", "Origin: null\r\n"),
        "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(),
        "GET /metrics HTTP/1.1\r\n\r\n".to_owned(),
        format!(
            "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n{long}"
        ),
        "DELETE /tables/events HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        get("/tables/../../etc/passwd", ""),
        get("/tables/%2e%2e%2fetc", ""),
        get("/events/-1", ""),
        get("/events/9223372036854775808", ""),
        get("/events/1?process='%20OR%201=1%20--", ""),
        get("/tables/events?limit=18446744073709551616", ""),
        get(&format!("/tables/{long}"), ""),
        get(&format!("/query?sql={long}{long}"), ""),
        query("SELECT%20%00"),
        query("%ff%fe"),
        "nonsense\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(600_000)),
        (0..200).fold("GET / HTTP/1.1\r\nHost: localhost\r\n".to_owned(), |head, at| {
            format!("{head}X{at}: 1\r\n")
        }),
    ];
    let costly = [
        query(&format!("SELECT%20{nested}1")),
        query("SELECT%20length(repeat('a',2000000000))"),
        query("SELECT%20*%20FROM%20events%20a,%20events%20b"),
        query("SELECT%20cardinality(range(0,event%2B100000000))%20FROM%20events"),
        query("COPY%20events%20TO%20'/tmp/x'"),
    ];
    // Clients that send half of a request, or do not read the answer, while the others ask.
    let mut hang: Vec<TcpStream> = Vec::new();
    for at in 0..100 {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        let half = if at % 2 == 0 {
            "GET / HTTP/1.1\r\nHo".to_owned()
        } else {
            get("/tables/events?limit=5000", "")
        };
        stream.write_all(half.as_bytes()).expect("it reads");
        hang.push(stream);
    }
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        // The server may refuse before it has read all.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let status = answer.get(9..12).map(|status| String::from_utf8_lossy(status).into_owned());
        assert!(
            !status.as_deref().is_some_and(|it| it == "500" || it == "200"),
            "{status:?}: {:.200}",
            request
        );
    };
    let requests: Vec<&String> =
        costly.iter().chain(hostile.iter().cycle().take(900 - costly.len())).collect();
    std::thread::scope(|scope| {
        for part in requests.chunks(requests.len() / 8) {
            scope.spawn(move || part.iter().for_each(|request| ask(request)));
        }
    });
    let (status, body) =
        server.get("/query?sql=SELECT%20count(*)%20AS%20n%20FROM%20events", "localhost");
    assert_eq!((status, body.trim_end()), (200, &*format!("[{{\"n\":{CALLS}}}]")));
    let (status, text) = server.get("/metrics", "127.0.0.1");
    assert!(status == 200 && text.contains("metaspy_calls_total{"), "{text}");
    let memory = most_memory(server.process.id());
    assert!(memory < 1 << 30, "{memory} bytes");
    drop(hang);
}

#[test]
fn a_server_that_others_reach_needs_a_token() {
    let (spy, dir) = (recording().display().to_string(), directory("token"));
    let ask = |server: &Server, token: &str| {
        server
            .send(&format!(
                "GET /metrics HTTP/1.1\r\nHost: web-7:9464\r\nAuthorization: Bearer {token}\r\n\r\n"
            ))
            .0
    };
    let (server, lines) = Server::start_at("0.0.0.0:0", &[&spy], Path::new(""));
    let token = lines
        .rsplit("Bearer ")
        .next()
        .and_then(|rest| rest.split('`').next())
        .expect("it prints its token");
    assert_eq!(
        (ask(&server, token), ask(&server, "0123456789abcdef"), ask(&server, "")),
        (200, 401, 401)
    );
    assert_eq!(server.get("/metrics", "localhost").0, 401);
    let file = dir.join("token");
    fs::write(&file, "a token of a file\n").expect("there is room");
    let path = file.display().to_string();
    let output =
        crate::fixture::metaspy(&["serve", "--token-file", &path, "--listen", "127.0.0.1:0", &spy]);
    assert!(output.status.code() == Some(2) && crate::ship::text(&output).contains("has no token"));
    fs::write(&file, "0123456789abcdef\n").expect("there is room");
    let (server, lines) =
        Server::start_at("0.0.0.0:0", &["--token-file", &path, &spy], Path::new(""));
    assert!(!lines.contains("Bearer"), "{lines}");
    assert_eq!((ask(&server, "0123456789abcdef"), ask(&server, token)), (200, 401));
    fs::remove_dir_all(dir).expect("it is ours");
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
        let all =
            server.json(&format!("/query?sql=SELECT%20count(*)%20AS%20rows%20FROM%20{table}"));
        assert_eq!(
            (all[0]["rows"].as_u64(), rows.len()),
            (Some(expected as u64), expected),
            "{table}"
        );
    }
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn tables_events_and_queries_are_json() {
    let server = Server::start(&recording().display().to_string());
    assert!(
        server.json("/")["tables"].as_array().expect("a list").contains(&"/tables/events".into())
    );
    let events = server.json("/tables/events?limit=3&offset=2");
    assert_eq!(events.as_array().map(Vec::len), Some(3));
    let paint = &server
        .json("/query?sql=SELECT%20event,cause%20FROM%20events%20WHERE%20thread='painter'")[0];
    let event = &server.json(&format!("/events/{}", paint["event"]))[0];
    assert_eq!(
        (event["causes"].as_array().map(Vec::len), &event["causes"][0]["event"]),
        (Some(6), &paint["cause"])
    );
    assert_eq!(event["root"], event["causes"][5]);
    let roots = server.json(
        "/query?sql=SELECT%20count(*)%20AS%20roots%20FROM%20events%20WHERE%20cause%20IS%20NULL",
    );
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
        assert_eq!(
            server.get(&format!("/query?sql=SELECT%20{}1", "1%2B".repeat(terms)), "localhost").0,
            status
        );
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
