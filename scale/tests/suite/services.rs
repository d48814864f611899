//! Services that call each other: their events lead from one to the other in SQL, and their spans
//! are one trace.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use metaspy_core::format::superblock;
use metaspy_scale::query::EXAMPLES;

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::fixture::{NodeId, directory, metaspy, printed, record_odd, rows_of};
use crate::live::Process;
use crate::otlp::{Received, listen};

/// The name of the process below.
const SERVICE: &str = "services::a_service";

/// A service: each line of its input is the `traceparent` of a request, or empty. It prints the one
/// that it sends on.
#[test]
#[ignore = "the other tests start it"]
fn a_service() {
    for line in std::io::stdin().lines() {
        let line = line.expect("it is text");
        let _cause = (!line.is_empty()).then(|| metaspy::from_remote(&line));
        NodeId(0).hold(|| {
            println!("\nparent {}", metaspy::TraceParent::current().expect("the call is observed"));
        });
    }
}

/// The name of the process below.
const WAITING: &str = "services::a_service_that_waits_for_others";

/// A service whose calls last until those of the services that it asks have ended.
/// `from TRACEPARENT` begins a call, `send` prints the `traceparent` of the innermost one, and
/// `end` ends it.
#[test]
#[ignore = "the other tests start it"]
fn a_service_that_waits_for_others() {
    serve_one();
}

/// Answers until the call ends, or there are no more lines.
fn serve_one() {
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).expect("it is text") > 0 {
        match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("from", parent) => {
                let _cause = (!parent.is_empty()).then(|| metaspy::from_remote(parent));
                NodeId(1).hold(|| {
                    println!("\nbegun .");
                    NodeId(2).hold(serve_one);
                });
                println!("\nended .");
            }
            ("send", _) => println!(
                "\nparent {}",
                metaspy::TraceParent::current().expect("the call is observed")
            ),
            _ => return,
        }
        line.clear();
    }
}

/// Requests of the test below.
const REQUESTS: u64 = 3;

/// A service of the test below.
struct Service {
    process: Process,
    spy: PathBuf,
}

impl Service {
    fn start(dir: &Path, name: &str) -> Self {
        let spy = dir.join(format!("{name}.spy"));
        Service {
            process: Process::start(WAITING, &[("METASPY_RECORD", &spy.display().to_string())]),
            spy,
        }
    }

    fn begin(&mut self, parent: &str) {
        self.process.answer(&format!("from {parent}"), "begun");
    }

    fn end(&mut self) {
        self.process.answer("end", "ended");
    }

    /// The `traceparent` of the call that runs.
    fn send(&mut self) -> String {
        self.process.answer("send", "parent")
    }
}

/// Changes the clock of a recording's machine.
fn skew(spy: &Path, hours: i64) {
    let mut bytes = fs::read(spy).expect("it was recorded");
    let at = superblock::STARTED_NS * 8;
    let started = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let skewed = started.saturating_add_signed(hours * 3_600_000_000_000);
    bytes[at..at + 8].copy_from_slice(&skewed.to_le_bytes());
    fs::write(spy, bytes).expect("there is room");
}

/// Requests to five services: web asks auth and then orders, which asks stock and then payment.
/// Returns the recordings.
fn record_requests(dir: &Path) -> [PathBuf; 5] {
    let mut services =
        ["web", "auth", "orders", "stock", "payment"].map(|name| Service::start(dir, name));
    let [web, auth, orders, stock, payment] = &mut services;
    for _ in 0..REQUESTS {
        web.begin("");
        auth.begin(&web.send());
        auth.end();
        orders.begin(&web.send());
        stock.begin(&orders.send());
        stock.end();
        payment.begin(&orders.send());
        payment.end();
        orders.end();
        web.end();
    }
    services.map(|mut service| {
        service.process.end();
        service.spy.clone()
    })
}

#[test]
fn a_request_is_followed_through_five_services_on_hosts_whose_clocks_differ() {
    let dir = directory("five services");
    let recordings = record_requests(&dir);
    let set = dir.join("sealed");
    for ((spy, host), hours) in
        recordings.iter().zip(["a", "a", "b", "b", "c"]).zip([0, 0, -7, -7, 30])
    {
        skew(spy, hours);
        printed(&[
            "seal",
            &spy.display().to_string(),
            "--to",
            &set.display().to_string(),
            "--host",
            host,
        ]);
    }
    let names =
        recordings.each_ref().map(|spy| rows_of("SELECT process FROM recordings", spy).remove(0));
    let [web, auth, orders, stock, payment] = &names;
    let sources = [&recordings[..], std::slice::from_ref(&set)];
    let query = |sql: &str, sources: &[PathBuf]| -> Vec<String> {
        let sources: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
        let arguments =
            ["query", "--format", "csv", sql].into_iter().chain(sources.iter().map(String::as_str));
        printed(&arguments.collect::<Vec<_>>()).lines().skip(1).map(str::to_owned).collect()
    };
    let example =
        |part: &str| EXAMPLES.iter().find(|it| it.question.contains(part)).expect("it is one").sql;

    // Columns lead from one service to the other, in recordings and in a sealed set.
    let calls = format!(
        "SELECT caller, callee, calls FROM ({}) ORDER BY caller, callee",
        example("which service calls")
    );
    let mut expected = [(web, auth), (web, orders), (orders, stock), (orders, payment)]
        .map(|(from, to)| format!("{from},{to},{REQUESTS}"));
    expected.sort();
    let times = format!(
        "SELECT count(DISTINCT process), min(self_ns) > 0, max(total_ns) = sum(self_ns), \
         max(CASE WHEN process = '{web}' THEN total_ns END) = max(total_ns) FROM ({}) GROUP BY trace",
        example("service by service")
    );
    for sources in sources {
        assert_eq!(query(&calls, sources), expected);
        assert_eq!(query(&times, sources), vec!["5,true,true,true"; REQUESTS as usize]);
        // A number of another process is no cause.
        let causes = "SELECT count(cause), count(remote_parent), count(DISTINCT trace) FROM events";
        assert_eq!(
            query(causes, sources),
            [format!("{},{},{REQUESTS}", 5 * REQUESTS, 4 * REQUESTS)]
        );
    }
    assert_eq!(rows_of("SELECT DISTINCT host FROM events ORDER BY host", &set), ["a", "b", "c"]);

    // Functions cross recordings.
    let roots = "SELECT root['process'], count(DISTINCT root['event']) FROM \
                 (SELECT root(event, run, host, process) AS root FROM events) GROUP BY 1";
    assert_eq!(query(roots, &recordings), [format!("{web},{REQUESTS}")]);
    let chain = format!(
        "SELECT DISTINCT array_to_string(array_agg(cause['process']), ' ') FROM (SELECT event, \
         unnest(causes(event, process)) AS cause FROM events WHERE process = '{payment}' AND cause IS NOT NULL) GROUP BY event"
    );
    assert_eq!(query(&chain, &recordings), [format!("{payment} {orders} {orders} {web} {web}")]);
    let effects = format!(
        "SELECT DISTINCT e[1]['process'], e[2]['process'], cardinality(e) FROM \
         (SELECT effects(event, process) AS e FROM events WHERE process = '{web}' AND span IS NOT NULL AND cause IS NOT NULL)"
    );
    assert_eq!(query(&effects, &recordings), [format!("{auth},{orders},2")]);
    // Alone, a service has the part of the request that it did.
    assert_eq!(
        rows_of("SELECT count(DISTINCT root(event)) FROM events", &recordings[2]),
        [REQUESTS.to_string()]
    );

    // Nothing of this is lost in a set.
    let restored = printed(&[
        "restore",
        &set.display().to_string(),
        "--to",
        &dir.join("to").display().to_string(),
    ]);
    let restored: Vec<PathBuf> = restored.lines().map(PathBuf::from).collect();
    let all = "SELECT process, event, cause, trace, span, remote_parent FROM events ORDER BY process, event";
    assert_eq!(query(all, &restored), query(all, &recordings));
    assert_eq!(query(roots, &restored), query(roots, &recordings));

    // Spans are one trace for each request.
    let spans = spans(&recordings.each_ref().map(PathBuf::as_path));
    let traces: HashSet<&[u8]> = spans.iter().map(|span| &span.trace_id[..]).collect();
    assert_eq!((traces.len() as u64, spans.len() as u64), (REQUESTS, 10 * REQUESTS));
    fs::remove_dir_all(dir).expect("it is ours");
}

/// The spans of recordings, as a receiver has them.
fn spans(recordings: &[&Path]) -> Vec<Span> {
    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    let received = Received::default();
    let to = format!("http://{}", runtime.block_on(listen(&received, "grpc")));
    let recordings: Vec<String> =
        recordings.iter().map(|path| path.display().to_string()).collect();
    let mut arguments = vec!["otlp", "--to", &to];
    arguments.extend(recordings.iter().map(String::as_str));
    let output = metaspy(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    received.spans.lock().expect("nothing panics").clone()
}

#[test]
fn spans_of_two_services_are_one_trace() {
    let dir = directory("services");
    let (web, store) = (dir.join("web.spy"), dir.join("store.spy"));
    let start =
        |spy: &Path| Process::start(SERVICE, &[("METASPY_RECORD", &spy.display().to_string())]);
    let (mut first, mut second) = (start(&web), start(&store));
    for _ in 0..3 {
        let request = first.answer("", "parent");
        let further = second.answer(&request, "parent");
        assert_eq!(further[3..35], request[3..35], "the trace is the first one's");
        assert_ne!(further, request);
    }
    first.end();
    second.end();
    let spans = spans(&[&web, &store]);
    let roots: Vec<_> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let inner: Vec<_> = spans.iter().filter(|span| !span.parent_span_id.is_empty()).collect();
    assert_eq!((roots.len(), inner.len()), (3, 3));
    for span in &inner {
        let parent = roots
            .iter()
            .find(|root| root.span_id == span.parent_span_id)
            .expect("a span of the first service");
        assert_eq!((&span.trace_id, span.kind()), (&parent.trace_id, SpanKind::Server));
    }
    let distinct = |of: fn(&Span) -> &[u8], spans: &[&Span]| {
        spans.iter().map(|span| of(span)).collect::<HashSet<_>>().len()
    };
    assert_eq!(distinct(|span| &span.trace_id, &roots), 3, "a request is a trace");
    assert_eq!(distinct(|span| &span.parent_span_id, &inner), 3, "each request has one answer");
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn links_are_span_links() {
    let dir = directory("span links");
    let spy = dir.join("odd.spy");
    record_odd(&spy);
    let ended = "SELECT count(*) FROM links JOIN events AS e ON links.event = e.event WHERE e.outcome <> 'running'";
    let to_ended =
        format!("{ended} AND reason IN (SELECT event FROM events WHERE outcome <> 'running')");
    let spans = spans(&[&spy]);
    let ids: HashSet<&[u8]> = spans.iter().map(|span| &span.span_id[..]).collect();
    let links: Vec<_> = spans.iter().flat_map(|span| &span.links).collect();
    let to_spans = links.iter().filter(|link| ids.contains(&link.span_id[..])).count();
    assert!(to_spans > 0 && to_spans <= links.len(), "{to_spans} of {}", links.len());
    assert_eq!(rows_of(ended, &spy), [links.len().to_string()]);
    assert_eq!(rows_of(&to_ended, &spy), [to_spans.to_string()]);
    fs::remove_dir_all(dir).expect("it is ours");
}
