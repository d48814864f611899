//! An async call: its slice is all of its time, and its details have the number of its polls and
//! their time.

use std::task::Poll;
use std::thread;

use metaspy_core::hook::AsyncCall;
use metaspy_core::{Outcome, Recording, Site, SiteDef, SiteKind, Store, Subject, clock};
use metaspy_report::export::Format;
use serde_json::Value;

use crate::{fixture, json, text};

metaspy_core::site::register! {
    static FETCH: Site = Site::new(SiteDef {
        kind: SiteKind::Async,
        module: "page",
        name: "fetch",
        file: "tests/exports/polls.rs",
        lines: (13, 20),
        skipped: None,
    });
}

/// A call that is polled three times for 700 ns, and waits 1,000 ns between two polls.
fn fetch() {
    clock::advance(1_000);
    let mut call = AsyncCall::new(&FETCH);
    for poll in [Poll::Pending, Poll::Pending, Poll::Ready(())] {
        let polled = || {
            clock::advance(700);
            poll
        };
        let _ = call.poll(|| Subject::NONE, polled, |_, _| Outcome::Returned);
        clock::advance(1_000);
    }
}

fn store() -> Store {
    let _turn = fixture::turn();
    let path = fixture::directory().join("polls.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 1);
    thread::spawn(fetch).join().expect("recording does not fail");
    drop(installed);
    recording.close();
    fixture::open(&path)
}

#[test]
fn the_polls_of_an_async_call_are_among_its_details() {
    let store = store();
    let line: Value = serde_json::from_str(&text(&store, Format::JsonLines, "site:fetch"))
        .expect("one line of JSON");
    let detail = |kind: &str| {
        let details = line["details"].as_array().expect("a list");
        details.iter().find(|detail| detail["kind"] == kind).map(|detail| detail["value"].clone())
    };
    assert_eq!(
        (detail("polls"), detail("busy_ns")),
        (Some("3".into()), Some("2100".into())),
        "{line}"
    );
    assert_eq!(line["took_ns"], 4_100);
    let trace = json(&store, Format::Chrome, "site:fetch");
    let slices = trace["traceEvents"].as_array().expect("a list");
    let slice = slices.iter().find(|slice| slice["ph"] == "X").expect("a slice");
    assert_eq!(slice["args"]["details"], serde_json::json!(["polls=3", "busy_ns=2100"]));
}
