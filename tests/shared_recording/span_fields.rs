//! What spans and events of `tracing` tell: fields, subjects, how they ended; handlers, and what
//! those tell.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::common::spans::{seen, with_layer};
use crate::common::{Seen, panics, quietly, watch};
use metaspy::Outcome;
use metaspy::prelude::*;
use metaspy::store::Position;
use metaspy_instrumenters::spans::spans;
use tracing::{error, info, info_span, instrument};

/// Names of the events of metaspy or of a handler, at this target.
fn at_meta_level(target: &str, seen: &Seen) -> Vec<String> {
    let store = seen.profile.store();
    let filter = format!("site:{target}::* level:>=1").parse().expect("a filter");
    let events = store.forward(Position::Start, &filter, usize::MAX, usize::MAX).events;
    events
        .iter()
        .map(|event| store.site_path(event.site).rsplit("::").next().unwrap_or_default().to_owned())
        .collect()
}

/// Says what happens to it, as its `Debug`.
struct Word<F: Fn()>(F);

impl<F: Fn()> fmt::Debug for Word<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)();
        f.write_str("word")
    }
}

#[test]
fn fields_are_details_on_request_also_those_recorded_later() {
    let run = || {
        let span =
            info_span!(target: "fields", "open", n = 1, text = "a", late = tracing::field::Empty);
        span.in_scope(|| info!(name: "said", target: "fields", cost = 2.5, "hello {}", "you"));
        let other = span.clone();
        std::thread::spawn(move || _ = other.record("late", 17)).join().expect("it does not panic");
    };
    let seen = seen("fields", run);
    assert_eq!(seen.details(0), ["n=1", "text=\"a\"", "late=17"]);
    assert_eq!(seen.details(1), ["message=hello you", "cost=2.5"]);
    let without_details = watch(spans("fields::*"), "fields::*", || with_layer(run));
    assert_eq!(
        (without_details.text(), without_details.details(0).len()),
        ("open returned\n  said instant\n".to_owned(), 0)
    );
}

#[test]
fn fields_are_cut_to_the_room_of_details() {
    let long = "x".repeat(100_000);
    let seen = seen("room", || {
        let span = info_span!(target: "room", "open", a = %long, b = %long, c = %long, d = %long, e = %long);
        (0..100).for_each(|_| _ = span.record("a", long.as_str()));
    });
    let details = seen.profile.store().details(seen.events[0].id);
    assert!(details.iter().map(|detail| detail.value.len()).sum::<usize>() < 2048);
    assert!(details[0].cut && details[0].value.starts_with("xxx"));
}

struct NodeId(u32);

impl Identify for NodeId {
    fn identify(&self) -> Subject {
        static KIND: Kind = Kind::new("NodeId");
        Subject::new(KIND.id(), self.0.into())
    }
}

#[test]
fn the_field_subject_names_the_subject() {
    let seen = seen("subject", || {
        drop(info_span!(target: "subject", "number", subject = 7_u32));
        drop(info_span!(target: "subject", "written", subject = %7));
        drop(info_span!(target: "subject", "text", subject = "main.css"));
        drop(info_span!(target: "subject", "shown", subject = %"main.css"));
        drop(info_span!(target: "subject", "late", subject = tracing::field::Empty));
        drop(info_span!(target: "subject", "node", subject.NodeId = 5));
        info!(name: "said", target: "subject", subject = 7, "");
    });
    let subjects: Vec<_> = seen.events.iter().map(|event| event.subject).collect();
    let counted = |at: usize| subjects.iter().filter(|subject| **subject == subjects[at]).count();
    assert_eq!([0, 2, 4, 5].map(counted), [3, 2, 1, 1]);
    assert_eq!((subjects[0].map(|subject| subject.key), subjects[4]), (Some(7), None));
    assert_eq!(subjects[5], Some(NodeId(5).identify()), "the same one that a method is about");
    let store = seen.profile.store();
    assert_eq!(store.label(subjects[2].expect("it is named")), Some("main.css"));
    assert_eq!(seen.profile.count_of(NodeId(5)), 1);
}

#[instrument(target = "ends", err, ret)]
fn ends(fails: bool) -> Result<u32, String> {
    error!(target: "ends", error = "of something else", "this is not how it ended");
    if fails { Err("too late".to_owned()) } else { Ok(3) }
}

#[test]
fn the_outcome_of_a_span_is_its_result() {
    let ours = "site:ends::ends";
    let seen = seen("ends", || {
        assert!(ends(false).is_ok() && ends(true).is_err());
        panics(|| info_span!(target: "ends", "ends").in_scope(|| panic!("on purpose")));
        // A panic that was caught within is no panic of the span.
        let span = info_span!(target: "ends", "ends");
        panics(|| span.in_scope(|| panic!("on purpose")));
        span.in_scope(|| ());
    });
    let spans =
        seen.profile.store().forward(Position::Start, &ours.parse().unwrap(), 99, usize::MAX);
    let outcomes: Vec<_> = spans.events.iter().map(|event| event.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Returned, Outcome::Failed, Outcome::Panicked, Outcome::Returned]
    );
    let returned = |at: usize| {
        let details = seen.profile.store().details(spans.events[at].id);
        details.iter().find(|detail| detail.name.is_empty()).map(|detail| detail.value.clone())
    };
    assert_eq!((returned(0).as_deref(), returned(1).as_deref()), (Some("3"), Some("too late")));
}

#[test]
fn a_field_whose_debug_panics_or_opens_spans_is_marked() {
    let before = Recording::current().expect("there is one").store().header().handler_panics;
    let bomb = Word(|| panic!("no debugging here"));
    let word = Word(|| {
        info_span!(target: "fields_that", "within")
            .in_scope(|| info!(name: "deep", target: "fields_that", ""));
    });
    let seen = quietly(|| {
        seen("fields_that", || {
            // A callsite that is met within another one is never heard of again.
            assert_eq!(format!("{word:?}"), "word");
            let span = info_span!(target: "fields_that", "open", a = ?bomb, b = ?word, late = tracing::field::Empty);
            span.record("late", tracing::field::debug(&word));
            span.record("late", tracing::field::debug(&bomb));
            drop(info_span!(target: "fields_that", "about", subject = ?bomb));
        })
    });
    assert_eq!(seen.text(), "within returned\n  deep instant\nopen returned\nabout returned\n");
    assert!(seen.events.iter().all(|event| event.subject.is_none()));
    // Events of a `Debug` are at meta level. `tracing` ignores all events while a span is created.
    assert_eq!(at_meta_level("fields_that", &seen), ["within", "deep"]);
    assert!(
        seen.details(2).iter().any(|detail| detail.contains("its Debug panicked")),
        "{:?}",
        seen.details(2)
    );
    assert!(
        Recording::current().expect("there is one").store().header().handler_panics >= before + 3
    );
}

#[test]
fn handlers_run_around_spans_and_their_own_spans_are_at_meta_level() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (Arc::clone(&log), Arc::clone(&log));
    let calls = spans("handled::*")
        .before(move |call| {
            info_span!(target: "handled", "by_handler")
                .in_scope(|| info!(name: "said", target: "handled", ""));
            before.lock().unwrap().push(format!("before {:?}", call.argument("n")));
        })
        .after(move |call| {
            after.lock().unwrap().push(format!(
                "after {:?} {:?}",
                call.outcome,
                call.argument("late")
            ));
        });
    let seen = watch(calls, "handled::*", || {
        with_layer(|| {
            let span = info_span!(target: "handled", "open", n = 4, late = tracing::field::Empty);
            span.record("late", 5);
            std::thread::spawn(move || drop(span)).join().expect("it does not panic");
        });
    });
    assert_eq!(*log.lock().unwrap(), ["before Some(\"4\")", "after Some(Returned) Some(\"5\")"]);
    assert_eq!(seen.text(), "open returned\n");
}

#[test]
fn spans_of_a_handler_are_at_meta_level() {
    #[observe]
    fn handled() {}
    let calls = methods("handled").before(|_| {
        info_span!(target: "by_handler", "span")
            .in_scope(|| info!(name: "said", target: "by_handler", ""));
    });
    let profiler = Profiler::new("meta").observe(calls);
    let seen = watch(spans("by_handler::*"), "by_handler::*", || {
        with_layer(|| {
            let ((), profile) = profiler.profile(handled).expect("it is observed");
            assert_eq!(
                profile.counts().by_site().at("span_fields::handled").map(|row| row.measure.count),
                Some(1)
            );
        });
    });
    assert_eq!(
        (seen.text().as_str(), at_meta_level("by_handler", &seen)),
        ("", vec!["span".to_owned(), "said".to_owned()])
    );
}

/// The events of sqlx have these fields (`sqlx_core::logger`).
fn logged(summary: &str, rows: u64) {
    tracing::debug!(target: "sqlx::query", summary, db.statement = "", rows_affected = 0_u64, rows_returned = rows);
}

#[test]
fn a_field_of_another_crate_is_the_subject() {
    metaspy_instrumenters::spans::subject_field("sqlx::query", "summary");
    let seen = seen("sqlx::query", || {
        ["SELECT a FROM b", "SELECT a FROM b", "DELETE FROM b"]
            .into_iter()
            .for_each(|statement| logged(statement, 1));
    });
    let rows = seen.profile.counts().by_subject();
    let counts: Vec<(String, u64)> =
        rows.rows.iter().map(|row| (rows.name(row), row.measure.count)).collect();
    assert_eq!(counts, [("SELECT a FROM b".to_owned(), 2), ("DELETE FROM b".to_owned(), 1)]);
    assert_eq!(seen.details(0)[0], "summary=\"SELECT a FROM b\"");
}
