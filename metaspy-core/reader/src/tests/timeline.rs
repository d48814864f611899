//! Events in time order, and filters.

use proptest::prelude::*;

use crate::event::{Event, EventId};
use crate::testing::Draft;
use crate::{Filter, Position, Store};
use metaspy_format::arena::Entry;

use super::{busy, every_event, node, scene};

fn filter(text: &str) -> Filter {
    text.parse().expect(text)
}

fn in_order(store: &Store) -> Vec<EventId> {
    let mut events = every_event(store);
    events.sort_by_key(|event| (event.start, event.lane, event.id));
    events.into_iter().map(|event| event.id).collect()
}

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

/// Reads every page, from either end of the recording.
fn paged(store: &Store, filter: &Filter, max: usize, budget: usize, forward: bool) -> Vec<EventId> {
    let mut all = Vec::new();
    let mut at = Some(if forward { Position::Start } else { Position::End });
    while let Some(from) = at {
        let page = if forward {
            store.forward(from, filter, max, budget)
        } else {
            store.backward(from, filter, max, budget)
        };
        assert!(page.events.len() <= max);
        assert!(page.more.is_none_or(|more| more != from), "no progress at {from:?}");
        let mut found = ids(&page.events);
        if forward {
            all.append(&mut found);
        } else {
            found.append(&mut all);
            all = found;
        }
        at = page.more;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pages_of_any_size_give_all_events_in_order(
        seed: u64, lanes in 1_u32..9, events in 1_usize..9_000, max in 1_usize..400, budget in 1_usize..900,
        summarised: bool,
    ) {
        let (mut writer, _) = busy(4, lanes, events, seed);
        if summarised {
            writer.summarise();
        }
        let store = writer.store();
        let wanted = in_order(&store);
        prop_assert_eq!(&paged(&store, &Filter::all(), max, budget, true), &wanted);
        prop_assert_eq!(&paged(&store, &Filter::all(), max, budget, false), &wanted);
        let measures = filter("site:measure subject:#3");
        let few: Vec<EventId> = wanted.iter().copied().filter(|&id| {
            store.event(id).is_some_and(|event| event.site.0 == 2 && event.subject == Some(node(3)))
        }).collect();
        prop_assert_eq!(&paged(&store, &measures, max, budget, true), &few);
        prop_assert_eq!(&paged(&store, &measures, max, budget, false), &few);
    }

    #[test]
    fn a_walk_begins_right_behind_its_place(seed: u64, at in 0_usize..3_000) {
        let (mut writer, _) = busy(2, 4, 3_000, seed);
        writer.summarise();
        let store = writer.store();
        let wanted = in_order(&store);
        let from = Position::Event(wanted[at]);
        let all = Filter::all();
        let start = store.event(wanted[at]).map_or(0, |event| event.start);
        let before = wanted.iter().filter(|&&id| store.event(id).is_some_and(|event| event.start < start)).count();
        prop_assert_eq!(ids(&store.forward(from, &all, 50, 9_999).events), &wanted[at + 1..(at + 51).min(3_000)]);
        prop_assert_eq!(ids(&store.backward(from, &all, 50, 9_999).events), &wanted[at.saturating_sub(50)..at]);
        let tick = Position::At { tick: start };
        prop_assert_eq!(ids(&store.forward(tick, &all, 1, 9_999).events)[0], wanted[before]);
        prop_assert_eq!(ids(&store.backward(tick, &all, 9_999, 9_999).events).len(), before);
        let standing = store.rank(Position::Start);
        prop_assert_eq!((standing.before, standing.total), (0, 3_000));
        prop_assert_eq!(store.rank(Position::End).before, 3_000);
    }
}

#[test]
fn many_events_at_one_tick_are_paged_through() {
    let mut writer = scene(1);
    let all: Vec<EventId> =
        (0..1_000).map(|_| writer.event(Draft { start: 5, ..Draft::default() })).collect();
    assert_eq!(paged(&writer.store(), &Filter::all(), 7, 3, true), all);
    assert_eq!(paged(&writer.store(), &Filter::all(), 7, 3, false), all);
    assert_eq!(paged(&writer.store(), &filter("subject:#3"), 7, 3, true), []);
    assert_eq!(paged(&writer.store(), &filter("subject:#3"), 7, 3, false), []);
}

#[test]
fn filters_test_each_term() {
    let mut writer = scene(1);
    writer.entry(Entry::Label, 1, &[412], &["p The Quick"]);
    writer.lane(0, "main");
    writer.lane(1, "worker");
    let bus = writer.event(Draft { site: 3, start: 1, span: Some(100), ..Draft::default() });
    let layout = writer.event(Draft {
        start: 2,
        span: Some(50),
        cause: Some(bus),
        subject: node(412),
        ..Draft::default()
    });
    let measure = writer.event(Draft {
        site: 2,
        start: 3,
        span: Some(2_000_000),
        cause: Some(layout),
        outcome: crate::Outcome::Panicked,
        subject: node(5),
        ..Draft::default()
    });
    writer.epoch = 2;
    writer.turn(1, 4);
    let meta = writer.event(Draft { lane: 1, site: 2, start: 5, level: 1, ..Draft::default() });
    let other = writer.event(Draft { lane: 1, site: 2, start: 6, span: None, ..Draft::default() });
    let store = writer.store();
    let check = |text: &str, wanted: &[EventId]| {
        let found = store.forward(Position::Start, &filter(text), 99, 99).events;
        assert_eq!(ids(&found), wanted, "{text}");
        for event in &found {
            assert!(filter(text).matches(&store, event), "{text}");
        }
    };
    check("", &[bus, layout, measure, other]);
    check("level:>=0", &[bus, layout, measure, meta, other]);
    check("level:>0", &[meta]);
    check("site:measure", &[measure, other]);
    check("-site:measure", &[bus, layout]);
    check("site:Scene::*", &[layout, measure, other]);
    check("subject:#412", &[layout]);
    check("subject:NodeId:5", &[measure]);
    check("subject:quick", &[layout]);
    check(Filter::subject(node(5)).text(), &[measure]);
    check("kind:NodeId -subject:#5", &[layout]);
    check("took:>=2ms", &[measure]);
    check("took:<1us", &[bus, layout]);
    check("outcome:panicked,running", &[measure, other]);
    check("cause:bus::*", &[]);
    check("cause:Bus::*", &[layout, measure]);
    check("cause:layout", &[measure]);
    check("lane:worker", &[other]);
    check("-lane:worker", &[bus, layout, measure]);
    check("epoch:2", &[other]);
    check("quick", &[layout]);
    check("BUS", &[bus]);
    let error = filter("site:mesure").check(&store).expect_err("no such site").to_string();
    assert!(error.contains("app::Scene::measure"), "{error}");
    for text in ["kind:NodeIdd", "-subject:nodeid:5"] {
        let error = filter(text).check(&store).expect_err("no such kind").to_string();
        assert!(error.contains("it has NodeId"), "{error}");
    }
    assert!(
        filter("site:measure kind:NodeId")
            .and(filter("took:>1s subject:#99"))
            .check(&store)
            .is_ok()
    );
}
