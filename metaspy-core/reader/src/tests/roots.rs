//! Effects, and tallies by root cause.

use crate::event::{EventId, Outcome};
use crate::testing::Draft;
use crate::{By, Filter, NO_CAUSE, Scope, Store, Tally};
use metaspy_format::row;
use metaspy_format::slot::Mark;
use metaspy_format::superblock as sb;
use metaspy_probe::{SiteId, Subject};

use super::tally::{row, who};
use super::{node, scene};

#[test]
fn effects_follow_from_causes_and_links() {
    let mut writer = scene(1);
    let block = writer.event(Draft { start: 0, span: Some(1_000), ..Draft::default() });
    let inner = writer.event(Draft { start: 1, cause: Some(block), ..Draft::default() });
    let elsewhere =
        writer.event(Draft { lane: 1, site: 2, start: 2, cause: Some(inner), ..Draft::default() });
    let stranger = writer.event(Draft { lane: 1, site: 3, start: 3, ..Draft::default() });
    writer.event(Draft { lane: 1, site: 3, start: 4, cause: Some(stranger), ..Draft::default() });
    let scope = Scope { under: Some(block), ..Scope::default() };
    let count = |store: &Store| {
        store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>()
    };
    assert_eq!(count(&writer.store()), 2);
    writer.mark(1, 5, Mark::Link, [stranger.raw(), elsewhere.raw(), 0]);
    assert_eq!(count(&writer.store()), 4);
    // A link is a reason, so an event without a cause is no root.
    let by_cause = writer.store().tally(By::RootCause, &Scope::default());
    assert_eq!(roots(&by_cause), [(Some(1), 5)]);
}

fn roots(tally: &Tally) -> Vec<(Option<u32>, u64)> {
    tally.rows.iter().map(|row| (row.site.map(|site| site.0), row.measure.count)).collect()
}

#[test]
fn a_call_with_several_root_causes_is_in_the_row_of_each() {
    let mut writer = scene(1);
    let frame = writer.event(Draft { start: 0, span: Some(90), ..Draft::default() });
    let change = writer.event(Draft { lane: 1, site: 2, start: 0, ..Draft::default() });
    let layout = writer.event(Draft {
        site: 3,
        start: 10,
        span: Some(50),
        cause: Some(frame),
        ..Draft::default()
    });
    writer.mark(0, 11, Mark::Link, [layout.raw(), change.raw(), 0]);
    writer.event(Draft {
        site: 3,
        start: 12,
        span: Some(20),
        cause: Some(layout),
        ..Draft::default()
    });
    writer.event(Draft {
        site: 3,
        start: 70,
        span: Some(5),
        cause: Some(frame),
        ..Draft::default()
    });
    let store = writer.store();
    let tally = store.tally(By::RootCause, &Scope::default());
    assert_eq!(
        (roots(&tally), tally.shared, tally.exact),
        (vec![(Some(1), 4), (Some(2), 3)], 2, true)
    );
    let shares: Vec<_> = tally.rows.iter().map(|row| tally.shares().calls(&row.measure)).collect();
    assert_eq!(shares, [Some(80.0), Some(60.0)]);
    let own: Vec<_> = tally.rows.iter().map(|row| row.measure.self_ticks).collect();
    // The frame: 35 of its own, 50 in the first layout, 5 in the last. The change: 1 of its own, 50
    // in the layout.
    assert_eq!(own, [Some(35 + 50 + 5), Some(1 + 50)]);
    let count = |filter: &str| {
        let scope = Scope::matching(filter.parse().expect("a filter"));
        store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>()
    };
    let [of_frame, of_change, of_none] = ["cause:layout", "cause:measure", "-cause:**"].map(count);
    assert_eq!((of_frame, of_change, of_none), (3, 2, 2));
    let [every, holds] =
        ["site:announce", "cause:measure"].map(|filter| filter.parse().expect("a filter"));
    let found = store.violations(&every, &holds, 10);
    assert_eq!((found.checked, found.violated, found.exact), (3, 1, true));
    // Below the change, the layout is the first effect.
    let below = store.tally(By::RootCause, &Scope { under: Some(change), ..Scope::default() });
    assert_eq!(roots(&below), [(Some(3), 2)]);
}

#[test]
fn rows_and_filters_by_direct_cause_leave_out_its_own_causes() {
    let mut writer = scene(2);
    let frame = writer.event(Draft { site: 1, subject: Subject::NONE, ..Draft::default() });
    let ask = |key: u64, cause| Draft { site: 2, subject: node(key), cause, ..Draft::default() };
    let [one, other] = [1, 2].map(|key| writer.event(ask(key, Some(frame))));
    for (cause, count) in [(one, 3), (other, 2), (frame, 1)] {
        (0..count).for_each(|_| {
            _ = writer.event(Draft {
                site: 3,
                subject: node(9),
                cause: Some(cause),
                ..Draft::default()
            })
        });
    }
    let store = writer.store();
    let announced = |filter: &str| Scope::matching(filter.parse().expect("a filter"));
    let senders = store.tally(By::Sender, &announced("site:announce"));
    assert_eq!((roots(&senders), senders.exact), (vec![(Some(2), 5), (Some(1), 1)], true));
    let asking = store.tally(By::SenderSubject, &announced("subject:#9"));
    let rows: Vec<_> =
        asking.rows.iter().map(|row| (row.site, row.subject, row.measure.count)).collect();
    let [layout, measure] = [1, 2].map(|site| Some(SiteId(site)));
    assert_eq!(rows, [(measure, Some(node(1)), 3), (measure, Some(node(2)), 2), (layout, None, 1)]);
    let all = store.tally(By::Sender, &Scope::default());
    assert!(roots(&all).contains(&(Some(NO_CAUSE.0), 1)), "the frame has no cause: {all:?}");

    let count = |filter: &str| {
        let tally = store.tally(By::Site, &announced(filter));
        (tally.rows.iter().map(|row| row.measure.count).sum::<u64>(), tally.exact)
    };
    assert_eq!(count("cause.subject:#1"), (3, true));
    assert_eq!(count("cause.subject:NodeId:2"), (2, true));
    assert_eq!(count("cause.site:layout"), (3, true), "not the effects of its effects");
    assert_eq!(count("site:announce -cause.site:measure"), (1, true));
    assert!("cause.site:lay".parse::<Filter>().expect("a filter").check(&store).is_err());
}

#[test]
fn calls_whose_cause_left_the_window_have_a_row_and_mark_the_others() {
    let mut writer = scene(1);
    let frame = writer.event(Draft { site: 1, ..Draft::default() });
    let gone = EventId::from_raw(frame.raw() + (1 << 20)).expect("an id");
    writer.event(Draft { site: 3, cause: Some(frame), ..Draft::default() });
    writer.event(Draft { site: 3, cause: Some(gone), ..Draft::default() });
    writer.fold_row(0, row(who(3, false), 1, 40));
    writer.set(sb::FOLDED, 40);
    let store = writer.store();
    for by in [By::Sender, By::RootCause] {
        let tally = store.tally(by, &Scope::matching("site:announce".parse().expect("a filter")));
        assert_eq!((roots(&tally), tally.exact), (vec![(None, 41), (Some(1), 1)], false), "{by:?}");
        let is_least: Vec<bool> = tally.rows.iter().map(|row| row.measure.at_least).collect();
        assert_eq!(is_least, [false, true], "{by:?}");
    }
    let filtered =
        store.tally(By::Site, &Scope::matching("cause.site:layout".parse().expect("a filter")));
    assert!(!filtered.exact && filtered.rows.len() == 1, "{filtered:?}");
}

#[test]
fn the_end_of_a_moved_event_makes_no_row_of_a_direct_cause() {
    let mut writer = scene(1);
    let frame = writer.event(Draft { site: 1, ..Draft::default() });
    writer.event(Draft {
        site: 3,
        outcome: Outcome::Moved,
        cause: Some(frame),
        ..Draft::default()
    });
    let mut end = row(who(3, false), 0, 0);
    (end[row::CANCELLED_RUNNING], end[row::FAILED_PANICKED]) = (1 << 32, 1);
    writer.page(&[end]);
    let tally = writer
        .store()
        .tally(By::Sender, &Scope::matching("site:announce".parse().expect("a filter")));
    assert_eq!((roots(&tally), tally.exact), (vec![(Some(1), 1)], false));
}

#[test]
fn events_that_are_their_own_reasons_have_the_other_reasons_as_well() {
    let mut writer = scene(1);
    let root = writer.event(Draft { start: 0, ..Draft::default() });
    let ids: Vec<EventId> =
        (1..200).map(|start| writer.event(Draft { site: 2, start, ..Draft::default() })).collect();
    // The links form a ring: each event is a reason of the next, and the last of the first.
    for (at, id) in ids.iter().enumerate() {
        writer.mark(1, 300, Mark::Link, [ids[(at + 1) % ids.len()].raw(), id.raw(), 0]);
    }
    let count = |store: &Store, filter: &str| {
        let scope = Scope::matching(filter.parse().expect("a filter"));
        store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>()
    };
    let apart = writer.store();
    assert_eq!(
        (
            count(&apart, "cause:layout"),
            roots(&apart.tally(By::RootCause, &Scope::default())).len()
        ),
        (0, 2)
    );
    writer.mark(1, 301, Mark::Link, [ids[77].raw(), root.raw(), 0]);
    let whole = writer.store();
    assert_eq!(count(&whole, "cause:layout"), 199);
    assert_eq!(roots(&whole.tally(By::RootCause, &Scope::default())), [(Some(1), 200)]);
}
