//! `.spy`: a recording of the selected events, which opens as any other.

use std::cell::Cell;

use metaspy_core::{Event, Store};
use metaspy_reader::{EndState, Filter, Origin, Position};
use metaspy_report::export::{Exporter, Format, Selection};

use crate::{export, fixture, recorded, text};

/// The exported recording, from a file.
fn reopened(name: &str, store: &Store, filter: &str) -> Store {
    let path = fixture::directory().join(name);
    std::fs::write(&path, export(store, Format::Spy, filter).0)
        .expect("the test's directory can be written");
    let store = Store::open(&path).expect("it is a recording");
    let found = store.verify();
    assert!(found.is_sound() && found.ended == EndState::Closed, "{:?}", found);
    store
}

fn events(store: &Store) -> Vec<Event> {
    store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events
}

/// A line for each event with everything that has no id in it.
fn stories(store: &Store, filter: &str) -> Vec<String> {
    let without_ids = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        let object = line.as_object_mut().expect("an object");
        let links = object.remove("links").map_or(0, |links| links.as_array().map_or(0, Vec::len));
        let cause = object.remove("cause").map(|cause| cause["site"].clone());
        object.remove("event");
        format!("{line} {links} {cause:?}")
    };
    text(store, Format::JsonLines, filter).lines().map(without_ids).collect()
}

#[test]
fn a_copy_of_a_whole_recording_has_the_same_events() {
    let store = recorded::store("whole.spy");
    let copy = reopened("whole-copy.spy", &store, "");
    assert_eq!(stories(&copy, ""), stories(&store, ""));
    let (of_copy, of_store) = (copy.totals(), store.totals());
    assert_eq!((of_copy.emitted, of_copy.stored), (of_store.emitted, of_store.stored));
    assert_eq!(copy.program(), store.program());
}

#[test]
fn a_selection_has_the_selected_events_with_their_names_links_and_details() {
    let store = recorded::store("selected.spy");
    for filter in
        ["site:measure", "subject:#1", "site:layout", "cause:paint", "lane:page", "outcome:instant"]
    {
        let selection = reopened("selection.spy", &store, filter);
        let total = selection.totals();
        assert_eq!(
            (total.emitted, total.stored),
            (total.stored, events(&selection).len() as u64),
            "{filter}"
        );
        // Causes outside are unknown there, so only what passes as well has a site.
        let without_causes = |lines: Vec<String>| -> Vec<String> {
            lines
                .into_iter()
                .map(|line| line.rsplit_once("} ").expect("the end of an object").0.to_owned())
                .collect()
        };
        assert_eq!(
            without_causes(stories(&selection, "")),
            without_causes(stories(&store, filter)),
            "{filter}"
        );
        assert!(
            selection.notes().iter().any(|note| note.contains(filter)),
            "{:?}",
            selection.notes()
        );
    }
    let layouts = reopened("layouts.spy", &store, "site:layout");
    let details =
        events(&layouts).iter().filter(|event| !layouts.details(event.id).is_empty()).count();
    let links = events(&layouts).iter().filter(|event| !layouts.links(event.id).is_empty()).count();
    assert_eq!((details, links), (1, 1));
}

#[test]
fn a_cause_inside_is_followed_and_a_cause_outside_left_the_window() {
    let store = recorded::store("causes.spy");
    let layouts = reopened("inner.spy", &store, "site:layout");
    let inner = events(&layouts).into_iter().filter(|event| {
        let cause = event.cause.and_then(|cause| layouts.event(cause));
        cause.is_some_and(|cause| layouts.site_path(cause.site) == "page::Scene::layout")
    });
    assert_eq!(inner.count(), 4 * 3);
    let measures = reopened("outer.spy", &store, "site:measure");
    for event in events(&measures) {
        assert!(
            matches!(measures.causes(event.id).origin(), Origin::Evicted(_) | Origin::Root),
            "{event:?}"
        );
    }
    let evicted = |event: &&Event| matches!(measures.causes(event.id).origin(), Origin::Evicted(_));
    assert_eq!(events(&measures).iter().filter(evicted).count(), events(&measures).len());
}

#[test]
fn a_selection_of_nothing_is_a_recording_too() {
    let store = recorded::store("none.spy");
    let none = reopened("none-selected.spy", &store, "site:never");
    assert_eq!((none.totals().emitted, events(&none).len()), (0, 0));
    assert_eq!(none.sites().len(), store.sites().len());
}

#[test]
fn a_selection_of_many_events_keeps_few_blocks_and_every_count() {
    let store = fixture::open(&fixture::crowded("crowd.spy", 40_000));
    let filter = "subject:#20000";
    let one = reopened("one.spy", &store, filter);
    assert_eq!(
        events(&one).len(),
        events(&store)
            .iter()
            .filter(|event| event.subject.is_some_and(|it| it.key == 20_000))
            .count()
    );
    let half = reopened("half.spy", &store, "took:>=1ns");
    assert_eq!(events(&half).len() as u64, store.totals().stored);
    // All of the window, and no tally.
    assert_eq!(half.totals().emitted, store.totals().stored);
}

#[test]
fn a_copy_stops_at_each_step_on_request() {
    let store = recorded::store("stopped-copy.spy");
    for filter in ["", "site:measure"] {
        let filter: Filter = filter.parse().expect("it is a filter");
        let stopped_after = |reports: usize| {
            let seen = Cell::new(0);
            let watch = |_| {
                seen.set(seen.get() + 1);
                seen.get() <= reports
            };
            Format::Spy.export(&Selection::new(&store, &filter).watched(&watch), &mut Vec::new())
        };
        let results: Vec<_> = (0..1_000).map(stopped_after).take_while(Result::is_err).collect();
        assert!((2..1_000).contains(&results.len()), "{} reports", results.len());
        assert!(
            results.iter().all(|it| it.as_ref().is_err_and(metaspy_report::export::is_stopped)),
            "{results:?}"
        );
    }
}
