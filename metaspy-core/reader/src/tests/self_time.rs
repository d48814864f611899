//! Self times.

use std::collections::BTreeMap;

use crate::causes::roots::Roots;
use crate::event::{EventId, LaneId, Outcome};
use crate::ring::folds::Folds;
use crate::ring::links::Links;
use crate::tally::aggregate::Aggregation;
use crate::tally::first_rows::Share;
use crate::testing::Draft;
use crate::{By, ChainFrame, DetailLevel, Filter, Scope, Store, Tally};
use metaspy_format::arena::Entry;
use metaspy_format::row::{self, Who};
use metaspy_format::slot::{self, Mark, SPAN_MAX};
use metaspy_probe::{SiteId, SiteKind};

use super::tally::{row, who};
use super::{busy, every_event, scene};

/// Self time by its definition: each span without the spans directly inside it.
fn own_by_definition(store: &Store) -> BTreeMap<u32, u64> {
    let events: BTreeMap<EventId, crate::Event> =
        every_event(store).into_iter().map(|e| (e.id, e)).collect();
    let mut own = BTreeMap::new();
    for event in events.values() {
        let entry: &mut u64 = own.entry(event.site.0).or_default();
        *entry = entry.wrapping_add(event.span.unwrap_or(0));
    }
    for event in events.values() {
        let around = event.cause.map(|cause| events[&cause]);
        let ends = |event: &crate::Event| event.start + event.span.unwrap_or(0);
        if let Some(around) =
            around.filter(|around| ends(around) >= ends(event) && ends(around) > event.start)
        {
            let entry = own.get_mut(&around.site.0).expect("it has a row");
            *entry = entry.wrapping_sub(event.span.unwrap_or(0));
        }
    }
    own
}

#[test]
fn self_time_is_what_the_events_inside_did_not_take() {
    let mut writer = scene(1);
    let outer = writer.event(Draft { start: 0, span: Some(100), ..Draft::default() });
    writer.event(Draft {
        site: 2,
        start: 10,
        span: Some(30),
        cause: Some(outer),
        ..Draft::default()
    });
    writer.event(Draft {
        site: 2,
        start: 50,
        span: Some(20),
        cause: Some(outer),
        ..Draft::default()
    });
    // In another lane, and named as the cause: it was not inside.
    writer.event(Draft {
        lane: 1,
        site: 3,
        start: 60,
        span: Some(20),
        cause: Some(outer),
        ..Draft::default()
    });
    // The cause has ended, and this lane was in no event.
    writer.event(Draft {
        site: 2,
        start: 500,
        span: Some(7),
        cause: Some(outer),
        ..Draft::default()
    });
    let tally = writer.store().tally(By::Site, &Scope::default());
    let of =
        |site| tally.rows.iter().find(|row| row.site == Some(SiteId(site))).map(|row| row.measure);
    assert_eq!(of(1).map(|m| (m.total_ticks, m.self_ticks)), Some((100, Some(50))));
    assert_eq!(of(2).map(|m| (m.total_ticks, m.self_ticks, m.max_ticks)), Some((57, Some(57), 30)));
    assert_eq!(of(3).map(|m| m.self_ticks), Some(Some(20)));
    assert!(tally.self_exact);
}

#[test]
fn a_call_longer_than_the_range_of_its_slot_counts_in_full() {
    let mut writer = scene(1);
    let outer = writer.event(Draft { start: 0, span: Some(SPAN_MAX), ..Draft::default() });
    let inner = writer.event(Draft {
        site: 2,
        start: 5,
        span: Some(SPAN_MAX),
        cause: Some(outer),
        ..Draft::default()
    });
    writer.mark(0, SPAN_MAX / 4 + 5, Mark::End, [inner.raw(), SPAN_MAX + 70, 0]);
    writer.mark(0, SPAN_MAX / 4 + 6, Mark::End, [outer.raw(), SPAN_MAX + 100, 0]);
    let tally = writer.store().tally(By::Site, &Scope::default());
    let of =
        |site| tally.rows.iter().find(|row| row.site == Some(SiteId(site))).map(|row| row.measure);
    assert_eq!(of(1).map(|m| (m.total_ticks, m.max_ticks)), Some((SPAN_MAX + 100, SPAN_MAX + 100)));
    assert_eq!(
        of(2).map(|m| (m.total_ticks, m.self_ticks)),
        Some((SPAN_MAX + 70, Some(SPAN_MAX + 70)))
    );
    assert!(tally.exact && !tally.self_exact);
}

#[test]
fn polls_of_an_async_call_that_ended_on_another_thread_are_its_time() {
    let mut writer = scene(3);
    writer.entry(Entry::Site, 9, &[SiteKind::Async as u64, 0], &["app::fetch", "src/lib.rs", ""]);
    // The block with the mark is before that of the call.
    writer.event(Draft { lane: 1, site: 3, start: 0, ..Draft::default() });
    let outer = writer.event(Draft { start: 5, span: Some(1_000), ..Draft::default() });
    let call = writer.event(Draft {
        site: 9,
        start: 10,
        span: Some(500),
        cause: Some(outer),
        ..Draft::default()
    });
    writer.has_mark_at_end(call);
    writer.mark(1, 510, Mark::Polls, [call.raw(), 100, 2]);
    writer.event(Draft {
        site: 2,
        start: 20,
        span: Some(30),
        cause: Some(call),
        ..Draft::default()
    });
    let store = writer.store();
    let rows = store.tally(By::Site, &Scope::default()).rows;
    let of = |site| rows.iter().find(|row| row.site == Some(SiteId(site))).map(|row| row.measure);
    assert_eq!(
        of(9).map(|m| (m.total_ticks, m.self_ticks, m.wall_ticks)),
        Some((100, Some(70), 500))
    );
    assert_eq!([1, 2].map(|site| of(site).and_then(|m| m.self_ticks)), [Some(900), Some(30)]);
    let chains = store.chains(&Filter::all(), |_, _| true).expect("it goes on").chains;
    let of = |site| {
        chains
            .iter()
            .find(|chain| chain.frame == ChainFrame::Site(SiteId(site)))
            .map(|it| it.self_ticks)
    };
    assert_eq!([1, 9, 2].map(of), [Some(900), Some(70), Some(30)]);
}

#[test]
fn calls_inside_the_polls_of_an_async_call_are_no_part_of_its_own_time_on_any_thread() {
    let mut writer = scene(3);
    writer.entry(Entry::Site, 9, &[SiteKind::Async as u64, 0], &["app::serve", "src/lib.rs", ""]);
    writer.entry(Entry::Site, 10, &[SiteKind::Async as u64, 0], &["app::read", "src/lib.rs", ""]);
    let mut call = |site, lane, [start, span]: [u64; 2], cause| {
        writer.event(Draft { site, lane, start, span: Some(span), cause, ..Draft::default() })
    };
    let serve = call(9, 2, [0, 1_000], None);
    let in_first_lane = call(2, 0, [600, 30], Some(serve));
    writer.mark(1, 100, Mark::Polled, [serve.raw(), 0, 0]);
    let mut call = |site, [start, span]: [u64; 2], cause| {
        let draft = Draft { site, lane: 1, start, span: Some(span), ..Draft::default() };
        writer.event(Draft { cause: Some(cause), ..draft })
    };
    let read = call(10, [110, 300], serve);
    call(2, [120, 30], read);
    // A task that it spawned, in a lane in which it is polled.
    let spawned = call(10, [420, 100], serve);
    call(2, [600, 30], serve);
    let polls = [
        (1, 410, read, 200, 2),
        (1, 520, spawned, 50, slot::polls(1, true)),
        (0, 1_000, serve, 500, 3),
    ];
    for (lane, tick, call, busy, polls) in polls {
        writer.has_mark_at_end(call);
        writer.mark(lane, tick, Mark::Polls, [call.raw(), busy, polls]);
    }
    let store = writer.store();
    let rows = store.tally(By::Site, &Scope::default()).rows;
    let own = |site| {
        rows.iter()
            .find(|row| row.site == Some(SiteId(site)))
            .and_then(|row| row.measure.self_ticks)
    };
    // Nothing says that it is polled in the first lane, where it caused a call.
    assert_eq!([9, 10, 2].map(own), [Some(500 - 200 - 30), Some(200 - 30 + 50), Some(90)]);
    let chains = store.chains(&Filter::all(), |_, _| true).expect("it goes on");
    let own: u64 = chains.chains.iter().map(|chain| chain.self_ticks).sum();
    assert_eq!(own, 500 + 50 + store.event(in_first_lane).and_then(|it| it.span).unwrap_or(0));
    assert_eq!(store.polled_lanes(), [(serve, [LaneId(1)].into())].into());
    let is_apart = |call| store.polls(call).map(|polls| (polls.polls, polls.is_apart));
    assert_eq!([serve, spawned].map(is_apart), [Some((3, false)), Some((1, true))]);
}

#[test]
fn self_time_does_not_depend_on_the_number_of_threads() {
    let (mut writer, _) = busy(12, 3, 90_000, 77);
    writer.summarise();
    let store = writer.store();
    let scope = Scope::default();
    let matcher = store.compile(&scope.filter, 0..=0);
    let job = Aggregation {
        ring: store.ring(),
        by: By::Site,
        matcher: &matcher,
        scope: &scope,
        plain: None,
        links: &Links::none(),
        roots: &Roots::default(),
        folds: &Folds::default(),
        asyncs: &[],
        share: Share::ALL,
    };
    let own = |tally: Tally| -> BTreeMap<u32, u64> {
        tally
            .rows
            .iter()
            .map(|row| (row.site.map_or(0, |s| s.0), row.measure.self_ticks.unwrap_or(0)))
            .collect()
    };
    let one = own(job.on_threads(1).into_tally(By::Site, DetailLevel::All));
    assert_eq!(one, own_by_definition(&store));
    for threads in [2, 3, 7] {
        assert_eq!(
            own(job.on_threads(threads).into_tally(By::Site, DetailLevel::All)),
            one,
            "{threads} threads"
        );
    }
}

#[test]
fn self_time_of_calls_in_the_window_is_exact_after_others_left_it() {
    let mut writer = scene(1);
    let outer = writer.event(Draft { start: 0, span: Some(100), ..Draft::default() });
    writer.event(Draft {
        site: 2,
        start: 10,
        span: Some(30),
        cause: Some(outer),
        ..Draft::default()
    });
    let mut folded = row(Who { kind: 0, ..who(1, false) }, 0, 1);
    (folded[row::TIMED], folded[row::TOTAL], folded[row::MAX]) = (1, 500, 500);
    writer.fold_row(0, folded);
    let rows = writer.store().tally(By::Site, &Scope::default()).rows;
    let of = |site| {
        rows.iter().find(|row| row.site == Some(SiteId(site))).expect("it has a row").measure
    };
    assert_eq!((of(1).total_ticks, of(1).self_ticks, of(1).window_self_ticks), (600, None, 70));
    assert_eq!((of(2).total_ticks, of(2).self_ticks, of(2).window_self_ticks), (30, Some(30), 30));
}

#[test]
fn calls_without_a_time_make_times_partial_and_instants_do_not() {
    let mut writer = scene(1);
    writer.event(Draft { start: 0, span: Some(5), ..Draft::default() });
    writer.event(Draft { start: 10, outcome: Outcome::Instant, ..Draft::default() });
    let measure = |store: Store| store.tally(By::Site, &Scope::default()).rows[0].measure;
    let before = measure(writer.store());
    assert_eq!(
        (before.count, before.timed, before.instants, before.is_partly_timed()),
        (2, 1, 1, false)
    );
    writer.event(Draft { start: 20, timed: false, ..Draft::default() });
    let after = measure(writer.store());
    assert_eq!(
        (after.count, after.timed, after.total_ticks, after.is_partly_timed()),
        (3, 1, 5, true)
    );
}
