//! Tests of the time in which at least one call of a row was open.

use std::collections::BTreeMap;

use crate::causes::roots::Roots;
use crate::ring::folds::Folds;
use crate::ring::links::Links;
use crate::tally::aggregate::Aggregation;
use crate::tally::first_rows::Share;
use crate::testing::Draft;
use crate::{By, DetailLevel, Event, Filter, Scope, SiteGroups, Store, Tally};
use metaspy_format::nesting::{OpenCall, Unnamed};
use metaspy_format::row::{self, Again, Who};
use metaspy_format::slot::Mark;
use metaspy_format::superblock as sb;
use metaspy_probe::{SiteId, Subject};

use super::tally::{row, who};
use super::{busy, every_event, node, scene};

/// A row of a tally.
type Key = (Option<u32>, Option<Subject>);

fn key(by: By, site: Option<SiteId>, subject: Option<Subject>) -> Key {
    match by {
        By::Site => (site.map(|site| site.0), None),
        By::Subject => (None, subject),
        _ => (site.map(|site| site.0), subject),
    }
}

/// The union of spans in each lane, by its definition.
fn union<K: Ord>(events: &[Event], key: impl Fn(&Event) -> Option<K>) -> BTreeMap<K, u64> {
    let mut spans: BTreeMap<K, BTreeMap<u32, Vec<(u64, u64)>>> = BTreeMap::new();
    for event in events {
        let (Some(key), Some(span)) = (key(event), event.span) else { continue };
        spans
            .entry(key)
            .or_default()
            .entry(event.lane.0)
            .or_default()
            .push((event.start, event.start + span));
    }
    let length = |mut spans: Vec<(u64, u64)>| {
        spans.sort_unstable();
        let mut sum = 0;
        let mut until = 0;
        for (start, end) in spans {
            sum += end.saturating_sub(start.max(until));
            until = until.max(end);
        }
        sum
    };
    spans.into_iter().map(|(key, lanes)| (key, lanes.into_values().map(length).sum())).collect()
}

fn totals(by: By, tally: &Tally) -> BTreeMap<Key, u64> {
    tally.rows.iter().map(|row| (key(by, row.site, row.subject), row.measure.total_ticks)).collect()
}

#[test]
fn a_total_is_the_union_of_the_calls_of_its_row_on_any_number_of_threads() {
    let (mut writer, _) = busy(12, 3, 90_000, 4242);
    writer.summarise();
    let store = writer.store();
    let events = every_event(&store);
    let scope = Scope::default();
    let matcher = store.compile(&scope.filter, 0..=0);
    for by in [By::Site, By::Subject, By::SiteSubject] {
        let expected = union(&events, |event| Some(key(by, Some(event.site), event.subject)));
        for threads in [1, 2, 3, 7] {
            let job = Aggregation {
                ring: store.ring(),
                by,
                matcher: &matcher,
                scope: &scope,
                plain: None,
                links: &Links::none(),
                roots: &Roots::default(),
                folds: &Folds::default(),
                asyncs: &[],
                share: Share::ALL,
            };
            let tally = job.on_threads(threads).into_tally(by, DetailLevel::All);
            assert!(tally.rows.iter().all(|row| !row.measure.total_at_most));
            assert_eq!(totals(by, &tally), expected, "{by:?} on {threads} threads");
        }
    }
}

#[test]
fn self_time_is_at_most_the_total_and_a_total_at_most_the_run() {
    let (writer, _) = busy(3, 1, 20_000, 9);
    let store = writer.store();
    let run = every_event(&store)
        .iter()
        .map(|event| event.start + event.span.unwrap_or(0))
        .max()
        .unwrap_or(0);
    for by in [By::Site, By::Subject, By::SiteSubject, By::RootCause] {
        for row in store.tally(by, &Scope::default()).rows {
            let measure = row.measure;
            assert!(
                measure.self_ticks.is_some_and(|own| own <= measure.total_ticks),
                "{by:?} {measure:?}"
            );
            assert!(
                measure.total_ticks <= run && measure.total_ticks >= measure.max_ticks,
                "{by:?} {measure:?}"
            );
        }
    }
}

#[test]
fn groups_of_sites_have_the_union_of_their_calls() {
    let (writer, _) = busy(3, 2, 20_000, 31);
    let store = writer.store();
    let events = every_event(&store);
    // All sites; layout and measure; announce.
    let groups = SiteGroups {
        of_site: vec![None, Some(1), Some(1), Some(2)],
        around: vec![None, Some(0), Some(0)],
    };
    for filter in ["", "subject:#7"] {
        let filter: Filter =
            if filter.is_empty() { Filter::all() } else { filter.parse().unwrap() };
        let by_site = store.tally(By::Site, &Scope::matching(filter.clone()));
        let is_selected = |event: &Event| filter.is_all() || event.subject == Some(node(7));
        let of = |sites: &[u32]| {
            let all = union(&events, |event| {
                (sites.contains(&event.site.0) && is_selected(event)).then_some(())
            });
            all.into_values().sum::<u64>()
        };
        let found = store.group_totals(&groups, &filter, &by_site);
        assert!(found.iter().all(|total| !total.at_most));
        let found: Vec<u64> = found.iter().map(|total| total.ticks).collect();
        assert_eq!(found, [of(&[1, 2, 3]), of(&[1, 2]), of(&[3])], "{filter}");
    }
}

/// A recording whose first block begins inside of calls that left the window.
fn after_a_fold(unnamed: Option<Unnamed>) -> Store {
    let mut writer = scene(1);
    writer.set(sb::VERSION, sb::version(sb::MAJOR, sb::MINOR));
    let left = |slot| (writer_blocks() - 1) * 128 + slot;
    writer.turn(0, 1_000);
    for (id, site, key) in [(left(1), 1, 5), (left(2), 2, 6)] {
        let call = OpenCall { id, site, kind: 1, key, is_end_marked: false };
        writer.mark(0, 1_000, Mark::Open, call.words());
    }
    if let Some(unnamed) = unnamed {
        writer.mark(0, 1_000, Mark::Open, unnamed.words());
    }
    let mut event = |site, key, start, span, cause| {
        let cause = crate::event::EventId::from_raw(cause);
        writer.event(Draft {
            site,
            subject: node(key),
            start,
            span: Some(span),
            cause,
            ..Draft::default()
        })
    };
    // Inside both; inside the outer one; inside neither.
    event(2, 5, 1_010, 10, left(2));
    event(2, 5, 1_030, 20, left(1));
    if unnamed.is_some() {
        event(2, 7, 1_052, 3, left(1));
    }
    event(1, 6, 1_060, 40, 0);
    let calls = |site, count, total| {
        let mut folded = row(Who { kind: 0, ..who(site, false) }, 0, count);
        (folded[row::TIMED], folded[row::TOTAL], folded[row::MAX]) = (count, total, total);
        folded
    };
    writer.fold_row(0, calls(1, 2, 900));
    writer.fold_row(1, calls(2, 1, 300));
    let (key, of) = Again::InSite.row(0, who(1, false).pack());
    let mut again = [0; row::ROW_WORDS];
    (again[row::KEY], again[row::WHO], again[row::TOTAL]) = (key, of, 250);
    writer.fold_row(2, again);
    writer.store()
}

/// The number of blocks of the recordings of these tests.
fn writer_blocks() -> u64 {
    64
}

#[test]
fn calls_inside_of_calls_that_left_the_window_count_once() {
    let store = after_a_fold(None);
    let of = |by, expected: &[(Key, u64, &str)]| {
        let tally = store.tally(by, &Scope::default());
        let found =
            |wanted: Key| tally.rows.iter().find(|row| key(by, row.site, row.subject) == wanted);
        for (wanted, ticks, sign) in expected {
            let measure = found(*wanted).expect("it has a row").measure;
            assert_eq!(
                (measure.total_ticks, measure.total_sign()),
                (*ticks, *sign),
                "{by:?} {wanted:?}"
            );
        }
    };
    // The first call at site 2 is inside another one, which left the window.
    of(By::Site, &[((Some(1), None), 900 - 250 + 40, ""), ((Some(2), None), 300 + 20, "")]);
    // The first two calls on node 5 are inside a call on it; the call on node 6 is in none.
    of(By::Subject, &[((None, Some(node(5))), 0, ""), ((None, Some(node(6))), 40, "")]);
}

#[test]
fn a_call_that_left_the_window_is_open_until_its_end_whatever_causes_are_named() {
    let mut writer = scene(1);
    writer.set(sb::VERSION, sb::version(sb::MAJOR, sb::MINOR));
    let left = |slot| (writer_blocks() - 1) * 128 + slot;
    writer.turn(0, 1_000);
    for (id, site) in [(left(1), 1), (left(2), 2)] {
        let call = OpenCall { id, site, kind: 1, key: 5, is_end_marked: true };
        writer.mark(0, 1_000, Mark::Open, call.words());
    }
    let named = crate::event::EventId::from_raw(left(1));
    let event =
        |start, span| Draft { site: 2, start, span: Some(span), cause: named, ..Draft::default() };
    writer.event(event(1_010, 10));
    writer.mark(0, 1_040, Mark::End, [left(2), 900, 0]);
    writer.event(event(1_050, 7));
    let rows = writer.store().tally(By::Site, &Scope::default()).rows;
    let of_site = rows.iter().find(|row| row.site == Some(SiteId(2))).expect("it has calls");
    assert_eq!((of_site.measure.total_ticks, of_site.measure.total_sign()), (7, ""));
}

#[test]
fn what_is_not_known_of_open_calls_makes_a_total_an_upper_bound() {
    let store = after_a_fold(Some(Unnamed { sites: false, subjects: true }));
    let signs = |by| {
        let rows = store.tally(by, &Scope::default()).rows;
        rows.iter().map(|row| row.measure.total_sign()).collect::<Vec<_>>()
    };
    assert_eq!(signs(By::Site), ["", ""]);
    assert!(signs(By::Subject).contains(&"≤"), "{:?}", signs(By::Subject));
}

#[test]
fn folded_calls_of_a_recording_of_an_earlier_version_may_count_twice() {
    let writer = scene(1);
    let mut folded = row(Who { kind: 0, ..who(1, false) }, 0, 2);
    (folded[row::TIMED], folded[row::TOTAL], folded[row::MAX]) = (2, 500, 400);
    writer.fold_row(0, folded);
    let sign = |version| {
        writer.set(sb::VERSION, version);
        writer.store().tally(By::Site, &Scope::default()).rows[0].measure.total_sign()
    };
    assert_eq!(sign(sb::version(sb::MAJOR, sb::MINOR_NESTING - 1)), "≤");
    assert_eq!(sign(sb::version(sb::MAJOR, sb::MINOR)), "");
}
