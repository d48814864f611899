//! Scans in parts: every event that meets the conditions, and skipped chunks.

use std::collections::HashSet;

use crate::{Conditions, Event, Outcome, Store};
use metaspy_probe::{KindId, SiteId};

use super::{busy, every_event};
use crate::testing::Draft;

fn read(store: &Store, conditions: Conditions) -> Vec<Event> {
    let scan = store.scan(conditions);
    let mut events = Vec::new();
    (0..scan.parts()).for_each(|part| scan.read(part, &mut events));
    events.sort_unstable_by_key(|event| event.id);
    events
}

#[test]
fn a_scan_has_every_event_that_meets_the_conditions() {
    let (mut writer, _) = busy(8, 3, 30_000, 7);
    writer.event(Draft { level: 1, start: 900_000, ..Draft::default() });
    writer.summarise();
    let store = writer.store();
    let check = |conditions: Conditions, passes: &dyn Fn(&Event) -> bool| {
        let mut expected = every_event(&store);
        expected.retain(|event| event.level == 0 && passes(event));
        expected.sort_unstable_by_key(|event| event.id);
        assert!(!expected.is_empty());
        assert!(read(&store, conditions.clone()) == expected, "{conditions:?}");
    };
    check(Conditions::default(), &|_| true);
    let sites = Some(HashSet::from([SiteId(2)]));
    check(Conditions { sites, ..Conditions::default() }, &|event| event.site == SiteId(2));
    let keys = Some(HashSet::from([3, 4]));
    let kinds = Some(HashSet::from([KindId(1)]));
    check(Conditions { keys, kinds, ..Conditions::default() }, &|event| {
        event.subject.is_some_and(|subject| [3, 4].contains(&subject.key))
    });
    let without = Some(HashSet::from([KindId(0)]));
    check(Conditions { kinds: without, ..Conditions::default() }, &|event| event.subject.is_none());
    let outcomes = Some(vec![Outcome::Failed]);
    check(Conditions { outcomes, ..Conditions::default() }, &|event| {
        event.outcome == Outcome::Failed
    });
    let ticks = 20_000..=30_000;
    check(Conditions { ticks: Some(ticks.clone()), ..Conditions::default() }, &|event| {
        ticks.contains(&event.start)
    });
}

#[test]
fn summaries_exclude_chunks() {
    let (mut writer, _) = busy(8, 1, 30_000, 7);
    writer.summarise();
    let store = writer.store();
    let all = store.scan(Conditions::default()).parts();
    let early = store.scan(Conditions { ticks: Some(0..=1_100), ..Conditions::default() });
    assert!(
        all > 2 && early.parts() == 1 && early.skipped() == all - 1,
        "{} of {all}",
        early.parts()
    );
    let absent = Conditions { sites: Some(HashSet::from([SiteId(9)])), ..Conditions::default() };
    // The chunk that is being filled has no summary.
    assert_eq!(store.scan(absent).parts(), 1);
}
