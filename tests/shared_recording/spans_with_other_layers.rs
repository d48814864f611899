//! The layer beside other layers, with published libraries, and not armed.

use std::sync::{Arc, Mutex};

use crate::common::spans::{seen, with_layer};
use crate::common::{panics, watch};
use metaspy::prelude::*;
use metaspy::store::{By, Position};
use metaspy::{Outcome, SiteKind};
use metaspy_instrumenters::spans::{layer, spans};
use tracing::{info, info_span};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

#[test]
fn spans_can_be_counted_without_events() {
    let profiler = Profiler::new("counted").observe(spans("counted::*").mode(metaspy::Mode::Tally));
    let profiler = profiler.install().expect("there may be none yet");
    with_layer(|| {
        let one = |subject: u64| info_span!(target: "counted", "one", subject);
        (0..10).for_each(|at| one(at % 2).in_scope(|| ()));
        panics(|| one(0).in_scope(|| panic!("on purpose")));
    });
    let profile = profiler.uninstall();
    let counts = profile.counts();
    let sites = counts.by_site();
    let measure = sites.at("counted::one").expect("it was counted").measure;
    assert_eq!((measure.count, measure.panicked, measure.timed), (11, 1, 0));
    assert_eq!(
        counts.by_subject().rows.iter().map(|row| row.measure.count).collect::<Vec<_>>(),
        [6, 5]
    );
}

#[test]
fn the_layer_works_beside_filters_and_other_layers() {
    let output = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&output);
    let text = tracing_subscriber::fmt::layer()
        .with_writer(move || Sink(Arc::clone(&writer)))
        .without_time();
    // Neither keeps anything from the other: ours sees warnings only, the text everything that the
    // filter lets through.
    let subscriber = registry()
        .with(EnvFilter::new("composed=info"))
        .with(layer().with_filter(LevelFilter::WARN))
        .with(text.with_filter(Targets::new().with_target("composed", LevelFilter::INFO)));
    let seen = watch(spans("composed::*"), "composed::*", || {
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn_span!(target: "composed", "loud").in_scope(|| {
                info_span!(target: "composed", "quiet").in_scope(|| {
                    tracing::warn!(name: "heard", target: "composed", "heard by both");
                    info!(name: "text", target: "composed", "only text");
                    tracing::debug!(name: "nobody", target: "composed", "heard by nobody");
                });
            });
        });
    });
    assert_eq!(seen.text(), "loud returned\n  heard instant\n");
    let output = String::from_utf8(output.lock().unwrap().clone()).expect("it is text");
    assert!(
        output.contains("loud:quiet")
            && output.contains("heard by both")
            && output.contains("only text"),
        "{output}"
    );
    assert!(!output.contains("heard by nobody"), "{output}");
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn several_subscribers_are_distinct_and_a_second_layer_is_idle() {
    let seen = watch(spans("several::*"), "several::*", || {
        let (one, two) = (registry().with(layer()).with(layer()), registry().with(layer()));
        let first =
            tracing::subscriber::with_default(one, || info_span!(target: "several", "first"));
        // The registry of each begins to count at one.
        let second =
            tracing::subscriber::with_default(two, || info_span!(target: "several", "second"));
        assert_eq!(first.id(), second.id());
        first.in_scope(|| {
            second.in_scope(|| with_layer(|| info!(name: "said", target: "several", "")))
        });
        // Without a subscriber there is nothing to see.
        info!(name: "unheard", target: "several", "");
    });
    assert_eq!(seen.text(), "first returned\nsecond returned\n  said instant\n");
}

#[test]
fn a_library_that_uses_tracing_is_recorded_without_an_edit() {
    let seen = watch(spans("polling::**").details(), "polling::**", || {
        with_layer(|| {
            let poller = polling::Poller::new().expect("there is one");
            poller.notify().expect("it can be notified");
            let timeout = Some(std::time::Duration::ZERO);
            poller.wait(&mut polling::Events::new(), timeout).expect("it can wait");
        });
    });
    let store = seen.profile.store();
    let events: Vec<_> =
        seen.events.iter().filter(|event| event.outcome == Outcome::Returned).collect();
    let paths: Vec<&str> = events.iter().map(|event| store.site_path(event.site)).collect();
    for path in ["polling::Poller::notify", "polling::Poller::wait"] {
        assert_eq!(paths.iter().filter(|found| **found == path).count(), 1, "{paths:?}");
    }
    let wait = events
        .iter()
        .find(|event| store.site_path(event.site) == "polling::Poller::wait")
        .expect("it waited");
    assert!(store.details(wait.id).iter().any(|detail| detail.name == "deadline"));
    assert!(
        seen.events.iter().any(|event| event.cause == Some(wait.id)),
        "the wait of the system is in it"
    );
}

#[test]
fn a_record_of_log_has_the_place_that_wrote_it() {
    tracing_log::LogTracer::init().expect("no other logger is set");
    let seen = seen("records", || {
        info_span!(target: "records", "around").in_scope(|| {
            for n in 0..2 {
                log::warn!(target: "records", "number {n}");
            }
            log::error!(target: "records", "once");
        });
    });
    let store = seen.profile.store();
    let sites: Vec<_> =
        seen.events.iter().map(|event| store.site(event.site).expect("it is named")).collect();
    assert_eq!(
        seen.events.iter().filter(|event| event.cause == Some(seen.events[0].id)).count(),
        3
    );
    assert!(
        sites[1].path.starts_with("records::warn:") && sites[3].path.starts_with("records::error:"),
        "{sites:?}"
    );
    assert!(sites[1].id == sites[2].id && sites[1].id != sites[3].id);
    assert!(
        sites[1].file.ends_with("spans_with_other_layers.rs") && sites[1].lines.0 > 0,
        "{sites:?}"
    );
    assert_eq!(seen.details(1), ["message=number 0"]);
}

#[test]
fn sites_are_listed_with_their_place_and_later_ones_are_matched() {
    let profiler =
        Profiler::new("sites").observe(spans("sites::*")).install().expect("there may be none yet");
    let line = line!() + 2;
    with_layer(|| {
        info_span!(target: "sites", "span");
        info!(target: "sites", "said");
        info!(name: "named", target: "sites", "said");
    });
    let mut sites: Vec<_> =
        metaspy::instrumenter::entries().iter().map(|entry| entry.site.def()).collect();
    sites.retain(|def| def.module == "sites" && def.kind == SiteKind::Span);
    sites.sort_by_key(|def| def.lines);
    let names: Vec<_> = sites.iter().map(|def| (def.name.to_owned(), def.lines.0)).collect();
    let event = format!("info:{}", line + 1);
    assert_eq!(
        names,
        [("span".to_owned(), line), (event, line + 1), ("named".to_owned(), line + 2)]
    );
    assert!(
        sites.iter().all(|def| def.file.ends_with("shared_recording/spans_with_other_layers.rs"))
    );
    assert_eq!(profiler.uninstall().counts().total(), 3);
}

#[test]
fn a_selector_of_spans_selects_no_function() {
    #[observe]
    fn only_a_function() {}
    let profiler =
        Profiler::new("spans").observe(spans("only_*")).install().expect("there may be none yet");
    with_layer(|| {
        only_a_function();
        info_span!("only_a_span");
    });
    let profile = profiler.uninstall();
    let rows = profile.store().tally(By::Site, profile.scope()).rows;
    let paths: Vec<_> = rows
        .iter()
        .filter_map(|row| row.site)
        .map(|site| profile.store().site_path(site))
        .collect();
    assert_eq!(
        (profile.counts().total(), paths.iter().any(|path| path.ends_with("only_a_function"))),
        (1, false)
    );
}

#[test]
fn an_unobserved_span_writes_nothing() {
    crate::common::alone(module_path!(), "an_unobserved_span_writes_nothing", || {
        with_layer(|| info_span!("unobserved").in_scope(|| info!(subject = 1, "unobserved")));
        let recording = Recording::memory().start().expect("a recording starts");
        with_layer(|| info_span!("unobserved").in_scope(|| info!(subject = 1, "unobserved")));
        assert_eq!(recording.store().totals().emitted, 0);
    });
}

#[test]
fn a_span_outlives_its_recording() {
    crate::common::alone(module_path!(), "a_span_outlives_its_recording", || {
        let first = Recording::memory().start().expect("a recording starts");
        let profiler = Profiler::new("outlives")
            .observe(spans("outlives::*"))
            .install()
            .expect("there may be none yet");
        let span = with_layer(|| info_span!(target: "outlives", "old"));
        let second = Recording::memory().start().expect("another one starts");
        // Its event lies in the first recording: nothing in the second may hang under it.
        span.in_scope(|| with_layer(|| info!(name: "new", target: "outlives", "")));
        drop(span);
        drop(profiler);
        let filter = "site:outlives::*".parse().expect("a filter");
        let events = |recording: &Recording| {
            recording.store().forward(Position::Start, &filter, 99, usize::MAX).events
        };
        assert_eq!(
            events(&first).iter().map(|event| event.outcome).collect::<Vec<_>>(),
            [Outcome::Returned]
        );
        assert_eq!(events(&second).iter().map(|event| event.cause).collect::<Vec<_>>(), [None]);
    });
}
