//! Expectations of more events than one thread checks.

use crate::filter::Filter;
use crate::testing::{Draft, Writer};
use crate::timeline::Position;

#[test]
fn several_threads_find_the_oldest_events_that_violate_an_expectation() {
    let mut writer = Writer::new(40);
    writer.site(1, "page::layout");
    for lane in 0..2 {
        writer.lane(lane, "worker");
        for number in 0..150_000 {
            let start = number * 10 + u64::from(lane);
            let span = Some(if number % 1_000 == 999 { 9 } else { 2 });
            writer.event(Draft { lane, site: 1, start, span, ..Draft::default() });
        }
    }
    writer.summarise();
    let store = writer.store();
    assert!(store.ring().chunks().len() >= 32, "it is divided");
    let [every, holds, violates] = ["site:layout", "took:<5ns", "site:layout took:>=5ns"]
        .map(|text| text.parse::<Filter>().expect("it is a filter"));
    let all = store.forward(Position::Start, &violates, usize::MAX, usize::MAX).events;
    assert_eq!(all.len(), 300);
    for most in [0, 7, 1_000] {
        let found = store.violations(&every, &holds, most);
        assert_eq!((found.checked, found.violated, found.exact), (300_000, 300, true));
        let ids = |events: &[crate::Event]| events.iter().map(|event| event.id).collect::<Vec<_>>();
        assert_eq!(ids(&found.events), ids(&all[..most.min(all.len())]));
    }
}
