//! Causes that woven code carries to tasks and threads, in programs that know nothing of metaspy.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::common::{Did, Package, manifest};

/// The lock of the workspace: a package that uses crates of it needs no network.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The sites of all calls with the sites of their causes, `handle < accept`, each once. A call
/// without a cause ends in `<`.
fn causes(package: &Package) -> BTreeSet<String> {
    let mut export = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let export =
        export.arg("export").arg(package.runs().join("1")).args(["--to", "jsonl"]).output();
    let text =
        String::from_utf8(export.expect("it was built for this test").stdout).expect("it is UTF-8");
    let name = |site: &Value| {
        let path = site.as_str().unwrap_or_default();
        path.split_once("::").map_or(path, |(_, name)| name).to_owned()
    };
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
    let pair =
        |event: Value| format!("{} < {}", name(&event["site"]), name(&event["cause"]["site"]));
    events.map(|event| pair(event).trim_end().to_owned()).collect()
}

/// What was woven. These causes are among those of a run.
fn check(package: &Package, expected: &[&str]) -> Did {
    let did = package.metaspy_in(&["run", "--closures"], &[("METASPY_MODE", "full".as_ref())]);
    let found = causes(package);
    let missing: Vec<_> = expected.iter().filter(|pair| !found.contains(**pair)).collect();
    assert!(missing.is_empty(), "{missing:?} of {found:#?}");
    // What runs elsewhere is never a root of its own.
    let roots: Vec<_> =
        found.iter().filter(|pair| pair.ends_with('<') && *pair != "main <").collect();
    assert!(roots.is_empty(), "{roots:?} of {found:#?}");
    did
}

/// The report by cause of the first run, where the source is.
fn report(package: &Package, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let command = command.arg("report").arg(package.runs().join("1")).args(["--by", "cause"]);
    let output = command.args(arguments).current_dir(&package.dir).output();
    String::from_utf8(output.expect("it was built for this test").stdout).expect("it is UTF-8")
}

const THREADED: &str = r#"
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

struct Pool { jobs: mpsc::Sender<Job> }

impl Pool {
    fn new() -> Pool {
        let (jobs, work) = mpsc::channel::<Job>();
        // This thread is older than every job.
        thread::Builder::new().name("pool".into()).spawn(move || work.into_iter().for_each(|job| job())).unwrap();
        Pool { jobs }
    }
    fn execute<F: FnOnce() + Send + 'static>(&self, job: F) { self.jobs.send(Box::new(job)).unwrap(); }
}

fn handle(mut stream: TcpStream) -> usize {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    parse(&text)
}

fn parse(text: &str) -> usize { text.len() }
fn log(bytes: usize) { assert!(bytes > 0) }
fn client(address: std::net::SocketAddr) { TcpStream::connect(address).unwrap().write_all(b"hello").unwrap(); }
fn connection(stream: TcpStream) -> thread::JoinHandle<usize> { thread::spawn(move || handle(stream)) }
fn audit(pool: &Pool, done: mpsc::Sender<()>) { pool.execute(move || { log(1); done.send(()).unwrap(); }) }
fn halves(numbers: &[u64]) -> u64 {
    let (left, right) = numbers.split_at(numbers.len() / 2);
    thread::scope(|scope| {
        let left = scope.spawn(|| sum(left));
        sum(right) + left.join().unwrap()
    })
}
fn sum(numbers: &[u64]) -> u64 { numbers.iter().sum() }
fn named<F: FnOnce() -> usize + Send + 'static>(work: F) -> usize { thread::spawn(work).join().unwrap() }
struct Plan;
impl Plan {
    // A wrapped function is no pointer to a function.
    fn spawn(&self, work: fn() -> usize) -> usize { work() }
}
fn planned() -> usize { 7 }

fn main() {
    let seven = Plan.spawn(planned);
    assert_eq!(seven, 7);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let pool = Pool::new();
    for _ in 0..3 {
        let client = thread::spawn(move || client(address));
        let (stream, _) = listener.accept().unwrap();
        log(connection(stream).join().unwrap());
        client.join().unwrap();
    }
    let (done, is_done) = mpsc::channel();
    audit(&pool, done);
    is_done.recv().unwrap();
    assert_eq!(halves(&[1, 2, 3, 4]), 10);
    fn five() -> usize { parse("hello") }
    assert_eq!(named(five), 5);
}
"#;

#[test]
fn a_thread_has_the_cause_of_what_spawned_it() {
    let manifest = manifest("threaded", "2021", "");
    let package = Package::new("threaded", &[("Cargo.toml", &manifest), ("src/main.rs", THREADED)]);
    let did = check(
        &package,
        &[
            "connection::{closure#1} < connection",
            "handle < connection::{closure#1}",
            "parse < handle",
            "main::{closure#1} < main",
            "log < audit::{closure#1}",
            "audit::{closure#1} < audit",
            "halves::{closure#2} < halves::{closure#1}",
            "main::five < named",
            "planned < Plan::spawn",
        ],
    );
    let refused = did.json["uncarried"].as_array().expect("there is a list");
    assert_eq!(
        refused.iter().map(|call| &call["door"]).collect::<Vec<_>>(),
        [".spawn"],
        "{refused:?}"
    );
    assert!(did.stdout.contains("causes end at .spawn (src/main.rs:"), "{}", did.stdout);
    // The loop of the pool has the cause of its thread.
    let json: Value = serde_json::from_str(&report(&package, &["--json"])).expect("it is JSON");
    assert_eq!(
        json["message_loops"],
        serde_json::json!([{
            "site": "threaded::Pool::new::{closure#1}",
            "door": ".into_iter",
            "file": "src/main.rs",
            "line": 15,
        }])
    );
    let text = report(&package, &[]);
    let line = "messages: threaded::Pool::new::{closure#1} takes them in a loop (.into_iter at src/main.rs:15)";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_report_names_where_chains_of_causes_end_and_on_which_threads() {
    let manifest = manifest("entry_points", "2021", "");
    let package =
        Package::new("entry_points", &[("Cargo.toml", &manifest), ("src/main.rs", THREADED)]);
    // What calls these functions has no hook.
    let only = ["run", "--weave", "entry_points::log"];
    package.metaspy_in(&only, &[("METASPY_MODE", "full".as_ref())]);
    let json: Value = serde_json::from_str(&report(&package, &["--json"])).expect("it is JSON");
    let expected = serde_json::json!([{
        "site": "entry_points::log",
        "calls": 4,
        "threads": [{ "name": "main", "calls": 3 }, { "name": "pool", "calls": 1 }],
        "doors": [
            { "file": "src/main.rs", "line": 31, "door": ".execute", "within": "audit" },
            { "file": "src/main.rs", "line": 57, "door": null, "within": "main" },
        ],
    }]);
    assert_eq!(json["entry_points"], expected, "{json:#}");
    let line = "entry point: entry_points::log began 4 times without a recorded cause, on threads main (3), pool (1)";
    let text = report(&package, &[]);
    assert!(text.contains(line), "{text}");
    let doors =
        "\n  door: .execute in audit (src/main.rs:31)\n  door: a call in main (src/main.rs:57)\n";
    assert!(text.contains(doors), "{text}");
    let filtered = report(&package, &["--json", "--filter", "site:log"]);
    let filtered: Value = serde_json::from_str(&filtered).expect("it is JSON");
    assert_eq!(
        filtered["entry_points"],
        Value::Null,
        "a filter hides what is around: {filtered:#}"
    );
}

const TASKS: &str = r#"
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{self, JoinSet, LocalSet};

async fn handle(mut stream: TcpStream) -> usize {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    check(&text).await
}
async fn check(text: &str) -> usize { text.len() }
async fn client(address: std::net::SocketAddr) {
    TcpStream::connect(address).await.unwrap().write_all(b"hello").await.unwrap();
}
async fn connection(stream: TcpStream) -> usize { tokio::spawn(handle(stream)).await.unwrap() }
async fn blocking() -> usize { task::spawn_blocking(|| hash(7)).await.unwrap() }
fn hash(of: usize) -> usize { of * 31 }
async fn set() -> usize {
    let mut set = JoinSet::new();
    for at in 0..4 { set.spawn(async move { task::yield_now().await; part(at) }); }
    set.spawn_blocking(|| part(4));
    set.join_all().await.into_iter().sum()
}
fn part(at: usize) -> usize { at }
async fn local() -> usize {
    let set = LocalSet::new();
    let shared = std::rc::Rc::new(5);
    set.run_until(async move { task::spawn_local(async move { own(*shared) }).await.unwrap() }).await
}
fn own(of: usize) -> usize { of }
async fn boxed() -> usize {
    let work: std::pin::Pin<Box<dyn Future<Output = usize> + Send>> = Box::pin(async { six() });
    tokio::runtime::Handle::current().spawn(work).await.unwrap()
}
fn six() -> usize { 6 }

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(serve());
}
async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    for _ in 0..3 {
        tokio::spawn(client(address));
        let (stream, _) = listener.accept().await.unwrap();
        assert_eq!(connection(stream).await, 5);
    }
    assert_eq!((blocking().await, set().await, local().await, boxed().await), (217, 10, 5, 6));
}
"#;

#[test]
fn a_task_has_the_cause_of_what_spawned_it() {
    let tokio = "[dependencies]\ntokio = { version = \"1\", features = [\"rt-multi-thread\", \"net\", \"io-util\"] }";
    let manifest = manifest("tasks", "2024", tokio);
    let package = Package::new(
        "tasks",
        &[("Cargo.toml", &manifest), ("Cargo.lock", LOCK), ("src/main.rs", TASKS)],
    );
    check(
        &package,
        &[
            "serve < main",
            "client < serve",
            "handle < connection",
            "check < handle",
            "hash < blocking::{closure#1}",
            "blocking::{closure#1} < blocking",
            "part < set",
            "set::{closure#1} < set",
            "own < local",
            "six < boxed",
        ],
    );
}
