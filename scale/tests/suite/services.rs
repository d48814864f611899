//! Two services, one of which calls the other: their spans are one trace. Links are span links.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::fixture::{NodeId, directory, metaspy, record_odd, rows_of};
use crate::live::Process;
use crate::otlp::{Received, listen};

/// The name of the process below.
const SERVICE: &str = "services::a_service";

/// A service: each line of its input is the `traceparent` of a request, or empty. It prints the one that it sends on.
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

/// The spans of recordings, as a receiver has them.
fn spans(recordings: &[&Path]) -> Vec<Span> {
    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    let received = Received::default();
    let to = format!("http://{}", runtime.block_on(listen(&received, "grpc")));
    let recordings: Vec<String> = recordings.iter().map(|path| path.display().to_string()).collect();
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
    let start = |spy: &Path| Process::start(SERVICE, &[("METASPY_RECORD", &spy.display().to_string())]);
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
        let parent =
            roots.iter().find(|root| root.span_id == span.parent_span_id).expect("a span of the first service");
        assert_eq!((&span.trace_id, span.kind()), (&parent.trace_id, SpanKind::Server));
    }
    let distinct =
        |of: fn(&Span) -> &[u8], spans: &[&Span]| spans.iter().map(|span| of(span)).collect::<HashSet<_>>().len();
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
    let to_ended = format!("{ended} AND reason IN (SELECT event FROM events WHERE outcome <> 'running')");
    let spans = spans(&[&spy]);
    let ids: HashSet<&[u8]> = spans.iter().map(|span| &span.span_id[..]).collect();
    let links: Vec<_> = spans.iter().flat_map(|span| &span.links).collect();
    let to_spans = links.iter().filter(|link| ids.contains(&link.span_id[..])).count();
    assert!(to_spans > 0 && to_spans <= links.len(), "{to_spans} of {}", links.len());
    assert_eq!(rows_of(ended, &spy), [links.len().to_string()]);
    assert_eq!(rows_of(&to_ended, &spy), [to_spans.to_string()]);
    fs::remove_dir_all(dir).expect("it is ours");
}
