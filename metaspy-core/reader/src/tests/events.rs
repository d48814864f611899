//! Tests of a single event and its marks.

use crate::event::{EventId, LaneId, Outcome};
use crate::testing::Draft;
use crate::{DetailKind, EffectsIndex, Origin, Polls, Position};
use metaspy_format::arena::Entry;
use metaspy_format::slot::{Mark, SPAN_MAX};
use metaspy_probe::SiteKind;

use super::{busy, every_event, node, scene};

/// Details as the hook writes them.
fn argument(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0, 0, name.len() as u8, value.len() as u8, 0];
    bytes.extend(name.bytes().chain(value.bytes()));
    bytes
}

#[test]
fn an_event_is_read_back_as_it_was_written() {
    let mut writer = scene(1);
    let root =
        writer.event(Draft { start: 100, span: Some(50), subject: node(7), ..Draft::default() });
    let running = writer.event(Draft {
        site: 2,
        start: 120,
        span: None,
        cause: Some(root),
        ..Draft::default()
    });
    let store = writer.store();
    let event = store.event(running).expect("it was written");
    assert_eq!((event.cause, event.outcome, event.span), (Some(root), Outcome::Running, None));
    assert_eq!((event.start, event.lane, event.subject), (120, LaneId(0), None));
    let event = store.event(root).expect("it was written");
    assert_eq!(
        (event.subject, event.span, event.outcome),
        (Some(node(7)), Some(50), Outcome::Returned)
    );
    assert_eq!(store.event(EventId::from_raw(root.raw() + 2).expect("an id")), None);
    assert_eq!(store.event(EventId::from_raw(u64::MAX).expect("an id")), None);
    assert_eq!(
        (store.site_path(event.site), store.subject_text(node(7)).as_str()),
        ("app::Scene::layout", "NodeId #7")
    );
}

#[test]
fn details_are_passed_over_as_events_and_read_as_text() {
    let mut writer = scene(1);
    let first = writer.event(Draft { start: 10, span: Some(5), ..Draft::default() });
    writer.details(0, 10, first, &argument("text", &"wörds \u{1b}[2J".repeat(20)));
    let second = writer.event(Draft { start: 20, ..Draft::default() });
    let store = writer.store();
    let details = store.details(first);
    assert_eq!(
        (details.len(), details[0].kind, details[0].name.as_str()),
        (1, DetailKind::Argument, "text")
    );
    assert!(details[0].value.starts_with("wörds \u{FFFD}[2J"), "{}", details[0].value);
    assert_eq!(
        store.forward(Position::Start, &"".parse().expect("a filter"), 9, 99).events.len(),
        2
    );
    assert_eq!(store.event(second).map(|event| event.id), Some(second));
    // A slot full of text is no event, even if it looks like an event.
    assert_eq!(store.event(EventId::from_raw(first.raw() + 2).expect("an id")), None);
}

#[test]
fn marks_of_the_end_are_found() {
    let mut writer = scene(4);
    let long = writer.event(Draft { start: 10, span: Some(SPAN_MAX), ..Draft::default() });
    let call = writer.event(Draft { start: 20, span: Some(10_000), ..Draft::default() });
    let mut cause = None;
    for start in 0..500 {
        let start = 30 + start * 10;
        cause = Some(writer.event(Draft {
            start,
            span: Some(2),
            cause: Some(call),
            ..Draft::default()
        }));
        writer.event(Draft { lane: 1, start, ..Draft::default() });
    }
    let link = cause.expect("one of many");
    writer.mark(0, 9_000, Mark::Link, [call.raw(), link.raw(), 0]);
    writer.mark(0, 9_100, Mark::Gap, [call.raw(), 3, 0]);
    writer.mark(0, 10_020, Mark::Polls, [call.raw(), 77, 5]);
    writer.mark(0, SPAN_MAX + 5_000, Mark::End, [long.raw(), SPAN_MAX + 4_990, 0]);
    writer.lane(0, "main");
    let store = writer.store();
    assert_eq!(store.links(call), [link]);
    assert_eq!(store.gap(call), Some(3));
    assert_eq!(store.polls(call), Some(Polls { busy_ticks: 77, polls: 5, is_apart: false }));
    assert_eq!(store.effects(call).len(), 500);
    assert_eq!(store.event(long).and_then(|event| event.span), Some(SPAN_MAX + 4_990));
    assert_eq!(store.lanes()[0].name, "main");
}

#[test]
fn marks_of_an_async_call_that_ended_on_another_thread_are_found() {
    let mut writer = scene(4);
    writer.entry(Entry::Site, 9, &[SiteKind::Async as u64, 0], &["app::fetch", "src/lib.rs", ""]);
    let call = writer.event(Draft { site: 9, start: 10, span: Some(5_000), ..Draft::default() });
    for start in 0..900 {
        writer.event(Draft { lane: 1, start: 20 + start * 10, ..Draft::default() });
        if start == 499 {
            writer.mark(1, 5_010, Mark::Polls, [call.raw(), 9, 2]);
        }
    }
    for start in 0..900 {
        writer.event(Draft { start: 11_000 + start, ..Draft::default() });
    }
    for _ in 0..2 {
        assert_eq!(
            writer.store().polls(call),
            Some(Polls { busy_ticks: 9, polls: 2, is_apart: false })
        );
        writer.summarise();
    }
}

#[test]
fn causes_end_at_a_root_or_where_the_window_ends() {
    let mut writer = scene(1);
    let gone = EventId::new(9, 3).expect("an id");
    let root = writer.event(Draft { start: 1, ..Draft::default() });
    let middle = writer.event(Draft { lane: 1, start: 2, cause: Some(root), ..Draft::default() });
    let leaf = writer.event(Draft { start: 3, cause: Some(middle), ..Draft::default() });
    let orphan = writer.event(Draft { start: 4, cause: Some(gone), ..Draft::default() });
    let store = writer.store();
    let mut causes = store.causes(leaf);
    assert_eq!(causes.by_ref().map(|event| event.id).collect::<Vec<_>>(), [middle, root]);
    assert_eq!(causes.origin(), Origin::Root);
    assert_eq!(store.causes(orphan).origin(), Origin::Evicted(gone));
    assert_eq!(store.causes(gone).origin(), Origin::Evicted(gone));
}

#[test]
fn causes_that_run_in_a_circle_end() {
    let mut writer = scene(1);
    let next = EventId::new(64, 2).expect("an id");
    let first = writer.event(Draft { cause: Some(next), ..Draft::default() });
    let second = writer.event(Draft { cause: Some(first), ..Draft::default() });
    assert_eq!(second, next);
    let store = writer.store();
    assert_eq!(store.causes(first).count(), 1);
    assert_eq!(store.causes(first).origin(), Origin::Loop(first));
    let tally = store.tally(crate::By::RootCause, &Default::default());
    assert_eq!((tally.rows.len(), tally.rows[0].site, tally.rows[0].measure.count), (1, None, 2));
}

#[test]
fn the_index_has_every_effect_of_every_lane_and_links() {
    let (mut writer, ids) = busy(6, 3, 20_000, 5);
    let cause = ids[17];
    let effect = ids[9_000];
    for lane in 0..3 {
        writer.event(Draft { lane, start: 9_000_000, cause: Some(cause), ..Draft::default() });
    }
    writer.mark(1, 9_000_001, Mark::Link, [effect.raw(), cause.raw(), 0]);
    writer.summarise();
    let store = writer.store();
    let mut index = EffectsIndex::build(&store, |_, _| true).expect("it was not stopped");
    let mut wanted: std::collections::BTreeMap<EventId, Vec<EventId>> = Default::default();
    for event in every_event(&store) {
        event.cause.into_iter().for_each(|cause| wanted.entry(cause).or_default().push(event.id));
    }
    wanted.entry(cause).or_default().push(effect);
    wanted.values_mut().for_each(|effects| effects.sort_unstable());
    for id in ids.iter().copied() {
        assert_eq!(index.effects(id), wanted.get(&id).cloned().unwrap_or_default(), "{id}");
    }
    let effects = &wanted[&cause];
    assert_eq!(index.effects_after(cause, Some(effects[0]), 2), effects[1..3]);
    assert!(index.bytes() < 8 * ids.len(), "{}", index.bytes());
    let late =
        writer.event(Draft { lane: 2, start: 9_000_010, cause: Some(cause), ..Draft::default() });
    index.update(&writer.store());
    assert!(index.effects(cause).contains(&late));
    assert!(EffectsIndex::build(&store, |_, _| false).is_none());
}

#[test]
fn names_labels_and_relations_are_read_and_read_on() {
    let writer = scene(1);
    writer.entry(Entry::Label, 1, &[412], &["p \u{1b}]0;x\u{7}"]);
    writer.entry(Entry::Relation, 1 | 1 << 16, &[412, 38], &["owner"]);
    writer.entry(Entry::Note, 0, &[], &["no room"]);
    writer.entry(Entry::Program, 0, &[], &[r#"{"path":"/bin/app","arguments":["-v"]}"#]);
    let mut store = writer.store();
    assert_eq!(store.subject_text(node(412)), "p \u{FFFD}]0;x\u{FFFD}");
    assert_eq!(store.relations_of(node(38)).len(), 1);
    assert_eq!((store.notes(), store.program().arguments.len()), (&["no room".to_owned()][..], 1));
    writer.entry(Entry::Unrelation, 1 | 1 << 16, &[412, 38], &["owner"]);
    writer.entry(Entry::Kind, 2, &[1], &["app::Tree"]);
    writer.entry(Entry::Ended, 1, &[412, 99], &[]);
    store.refresh().expect("it is in memory");
    assert_eq!((store.relations_of(node(412)).len(), store.ended_at(node(412))), (0, Some(99)));
    let place = metaspy_probe::Subject::new(metaspy_probe::KindId(2), 0x7f3a);
    assert_eq!(store.subject_text(place), "app::Tree @7f3a");
    assert_eq!(store.subject_text(node(5)), "NodeId #5");
}
