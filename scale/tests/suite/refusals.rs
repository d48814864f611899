//! What the receivers of `metaspy otlp` do not take.

use axum::Router;
use axum::http::StatusCode;
use metaspy_reader::units::grouped;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::fixture::{CALLS, metaspy, recording};
use crate::otlp::{Received, listen};

/// The exit code of the command, its standard output and its standard error.
fn sent(to: &str, transport: &str) -> (Option<i32>, String, String) {
    let output = metaspy(&[
        "otlp",
        &recording().display().to_string(),
        "--to",
        to,
        "--transport",
        transport,
    ]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn check(to: &str, transport: &str, parts: &[&str]) {
    let (code, _, error) = sent(to, transport);
    let is_reported = parts.iter().all(|part| error.contains(part));
    assert!(code == Some(2) && is_reported, "{to} {transport}: {code:?} {error}");
}

/// Starts a server that answers each request with a status, and returns its address.
async fn server_of(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let status = StatusCode::from_u16(status).expect("it is a status");
    let router = Router::new().fallback(move || async move { status });
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

#[test]
fn rejected_spans_and_data_points_are_reported_with_the_reason() {
    let runtime = Runtime::new().expect("threads can start");
    for transport in ["grpc", "http"] {
        let received = Received {
            rejects: Some("::measure"),
            message: "the quota\x1b is spent",
            ..Default::default()
        };
        let to = format!("http://{}", runtime.block_on(listen(&received, transport)));
        let (code, out, error) = sent(&to, transport);
        let kept = received.spans.lock().expect("nothing panics").len() as u64;
        assert!(kept > 0 && kept < CALLS);
        assert_eq!(
            (code, out),
            (Some(1), format!("{} spans sent to {to}\n", grouped(kept))),
            "{transport}: {error}"
        );
        let rejected = grouped(CALLS - kept);
        let report =
            format!("metaspy otlp: the receiver rejects {rejected} spans: the quota␛ is spent\n");
        assert_eq!(
            error,
            report.clone() + &report.replace(&format!("{rejected} spans"), "2 data points")
        );
    }
}

#[test]
fn a_warning_of_a_receiver_that_takes_all_is_reported_once() {
    let runtime = Runtime::new().expect("threads can start");
    for transport in ["grpc", "http"] {
        let received = Received { message: "old version", ..Default::default() };
        let to = format!("http://{}", runtime.block_on(listen(&received, transport)));
        let (code, _, error) = sent(&to, transport);
        let report = |items: &str| {
            format!("metaspy otlp: the receiver takes all {items}, and warns: old version\n")
        };
        assert_eq!(
            (code, error),
            (Some(0), report("spans") + &report("data points")),
            "{transport}"
        );
    }
}

#[test]
fn advice_on_the_protocol_follows_only_errors_that_point_at_it() {
    let runtime = Runtime::new().expect("threads can start");
    let log = "the log of the receiver has the reason";
    for (status, advice) in
        [(500, log), (400, log), (404, "--transport http"), (415, "--transport http")]
    {
        let to = runtime.block_on(server_of(status));
        check(
            &to,
            "http",
            &["the receiver takes no spans", &format!("status code: {status}"), advice],
        );
    }
    let grpc = format!("http://{}", runtime.block_on(listen(&Received::default(), "grpc")));
    let http = format!("http://{}", runtime.block_on(listen(&Received::default(), "http")));
    check(&grpc, "http", &["does a receiver of this --transport listen there?"]);
    check(&http, "grpc", &["--transport http"]);
}

#[test]
fn a_receiver_that_is_away_is_reported() {
    for transport in ["grpc", "http"] {
        for address in ["http://127.0.0.1:9", "https://127.0.0.1:9"] {
            check(address, transport, &["does a receiver of this --transport listen there?"]);
        }
    }
    check("127.0.0.1:9", "grpc", &["write http://HOST:PORT or https://HOST:PORT"]);
}
