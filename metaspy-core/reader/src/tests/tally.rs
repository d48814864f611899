//! Tallies and totals.

use std::collections::BTreeMap;

use crate::causes::links::Links;
use crate::causes::roots::Roots;
use crate::event::{EventId, Outcome};
use crate::tally::aggregate::Aggregation;
use crate::tally::folds::Folds;
use crate::testing::{Draft, Writer};
use crate::{By, DetailLevel, LaneId, Loss, Losses, Members, Scope, Store, Tally};
use metaspy_format::folder::{self, Cursor};
use metaspy_format::row::{self, ROW_WORDS, Who};
use metaspy_format::slot::{Mark, SPAN_MAX};
use metaspy_format::superblock::{self as sb, journal};
use metaspy_format::{BLOCK_SLOTS, SLOT_WORDS, header};
use metaspy_probe::SiteId;

use super::{busy, every_event, node, scene};

fn row(who: Who, key: u64, count: u64) -> [u64; ROW_WORDS] {
    let mut row = [0; ROW_WORDS];
    (row[row::KEY], row[row::WHO], row[row::COUNT]) = (key, who.pack(), count);
    row
}

fn who(site: u32, lost: bool) -> Who {
    Who { site, kind: 1, epoch: 1, meta: false, lost }
}

fn counts(tally: &Tally) -> BTreeMap<(Option<SiteId>, Option<metaspy_probe::Subject>), u64> {
    tally.rows.iter().map(|row| ((row.site, row.subject), row.measure.count)).collect()
}

#[test]
fn tallies_equal_the_events_when_nothing_was_lost() {
    let (mut writer, _) = busy(8, 3, 40_000, 11);
    writer.summarise();
    let store = writer.store();
    for by in [By::Site, By::Subject, By::SiteSubject] {
        let mut wanted = BTreeMap::new();
        for event in every_event(&store) {
            let site = Some(event.site).filter(|_| by != By::Subject);
            let subject = event.subject.filter(|_| by != By::Site);
            *wanted.entry((site, subject)).or_insert(0) += 1;
        }
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            let tally = store.tally(by, &Scope { detail, ..Scope::default() });
            assert!(tally.exact);
            assert_eq!(counts(&tally), wanted, "{by:?} {detail:?}");
        }
    }
    let filtered = Scope::matching("subject:#3 site:measure".parse().expect("a filter"));
    let wanted = every_event(&store).iter().filter(|e| e.site.0 == 2 && e.subject == Some(node(3))).count();
    assert_eq!(store.tally(By::Site, &filtered).rows[0].measure.count, wanted as u64);
    let members = Members::new(|site, subject| site == SiteId(2) && subject == Some(node(3)));
    let chosen = Scope { members: Some(members), detail: DetailLevel::Counts, ..Scope::default() };
    assert_eq!(store.tally(By::Subject, &chosen).rows[0].measure.count, wanted as u64);
}

/// Self time by its definition: each span without the spans directly inside it.
fn own_by_definition(store: &Store) -> BTreeMap<u32, u64> {
    let events: BTreeMap<EventId, crate::Event> = every_event(store).into_iter().map(|e| (e.id, e)).collect();
    let mut own = BTreeMap::new();
    for event in events.values() {
        let entry: &mut u64 = own.entry(event.site.0).or_default();
        *entry = entry.wrapping_add(event.span.unwrap_or(0));
    }
    for event in events.values() {
        let around = event.cause.map(|cause| events[&cause]);
        let ends = |event: &crate::Event| event.start + event.span.unwrap_or(0);
        if let Some(around) = around.filter(|around| ends(around) >= ends(event) && ends(around) > event.start) {
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
    writer.event(Draft { site: 2, start: 10, span: Some(30), cause: Some(outer), ..Draft::default() });
    writer.event(Draft { site: 2, start: 50, span: Some(20), cause: Some(outer), ..Draft::default() });
    // In another lane, and named as the cause: it was not inside.
    writer.event(Draft { lane: 1, site: 3, start: 60, span: Some(20), cause: Some(outer), ..Draft::default() });
    // The cause has ended, and this lane was in no event.
    writer.event(Draft { site: 2, start: 500, span: Some(7), cause: Some(outer), ..Draft::default() });
    let tally = writer.store().tally(By::Site, &Scope::default());
    let of = |site| tally.rows.iter().find(|row| row.site == Some(SiteId(site))).map(|row| row.measure);
    assert_eq!(of(1).map(|m| (m.total_ticks, m.self_ticks)), Some((100, Some(50))));
    assert_eq!(of(2).map(|m| (m.total_ticks, m.self_ticks, m.max_ticks)), Some((57, Some(57), 30)));
    assert_eq!(of(3).map(|m| m.self_ticks), Some(Some(20)));
    assert!(tally.self_exact);
}

#[test]
fn a_call_longer_than_the_range_of_its_slot_counts_in_full() {
    let mut writer = scene(1);
    let outer = writer.event(Draft { start: 0, span: Some(SPAN_MAX), ..Draft::default() });
    let inner = writer.event(Draft { site: 2, start: 5, span: Some(SPAN_MAX), cause: Some(outer), ..Draft::default() });
    writer.mark(0, SPAN_MAX / 4 + 5, Mark::End, [inner.raw(), SPAN_MAX + 70, 0]);
    writer.mark(0, SPAN_MAX / 4 + 6, Mark::End, [outer.raw(), SPAN_MAX + 100, 0]);
    let tally = writer.store().tally(By::Site, &Scope::default());
    let of = |site| tally.rows.iter().find(|row| row.site == Some(SiteId(site))).map(|row| row.measure);
    assert_eq!(of(1).map(|m| (m.total_ticks, m.max_ticks)), Some((SPAN_MAX + 100, SPAN_MAX + 100)));
    assert_eq!(of(2).map(|m| (m.total_ticks, m.self_ticks)), Some((SPAN_MAX + 70, Some(SPAN_MAX + 70))));
    assert!(tally.exact && !tally.self_exact);
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
    };
    let own = |tally: Tally| -> BTreeMap<u32, u64> {
        tally.rows.iter().map(|row| (row.site.map_or(0, |s| s.0), row.measure.self_ticks.unwrap_or(0))).collect()
    };
    let one = own(job.on_threads(1).into_tally(By::Site, DetailLevel::All));
    assert_eq!(one, own_by_definition(&store));
    for threads in [2, 3, 7] {
        assert_eq!(own(job.on_threads(threads).into_tally(By::Site, DetailLevel::All)), one, "{threads} threads");
    }
}

#[test]
fn every_call_is_counted_in_exactly_one_place() {
    let mut writer = scene(1);
    for start in 0..10 {
        writer.event(Draft { start, subject: node(1), ..Draft::default() });
    }
    writer.page(&[row(who(1, false), 1, 5), row(who(1, true), 2, 3)]);
    writer.page(&[row(who(2, false), 1, 1)]);
    writer.fold_row(9, row(who(1, false), 1, 100));
    writer.set(sb::FOLDED, 100);
    let store = writer.store();
    let totals = store.totals();
    assert_eq!((totals.stored, totals.folded, totals.counted, totals.lost, totals.unnamed), (10, 100, 6, 3, 0));
    assert_eq!((totals.emitted, totals.exact), (119, true));
    let tally = store.tally(By::Subject, &Scope::default());
    assert_eq!(counts(&tally), BTreeMap::from([((None, Some(node(1))), 116), ((None, Some(node(2))), 3)]));
    assert_eq!(tally.rows.iter().map(|row| row.measure.lost).sum::<u64>(), 3);
    // The durations of the single folded calls are unknown.
    let slow = store.tally(By::Subject, &Scope::matching("took:>1s".parse().expect("a filter")));
    assert!(!slow.exact && slow.rows.is_empty());
    let elsewhere = store.tally(By::Subject, &Scope::matching("took:>1s site:announce".parse().expect("a filter")));
    assert!(elsewhere.exact);
    assert!(store.tally(By::Subject, &Scope { epochs: 2..9, ..Scope::default() }).rows.is_empty());
}

#[test]
fn calls_with_only_a_number_may_be_of_any_subject() {
    let mut writer = scene(1);
    writer.event(Draft { start: 1, subject: node(1), ..Draft::default() });
    writer.set(sb::REENTRANT, 2);
    writer.set(sb::UNNAMED, 1);
    let store = writer.store();
    let totals = store.totals();
    assert_eq!((totals.emitted, totals.unnamed, totals.exact), (4, 3, true));
    let tally = store.tally(By::Site, &Scope::default());
    assert_eq!((tally.rows[0].measure.count, tally.exact), (1, false));
}

#[test]
fn running_is_what_began_less_what_ended_wherever_it_stands() {
    let mut writer = scene(1);
    writer.event(Draft { start: 1, span: None, subject: node(1), ..Draft::default() });
    let mut folded = row(who(1, false), 1, 10);
    folded[row::CANCELLED_RUNNING] = 3 << 32;
    writer.fold_row(0, folded);
    let mut late = row(who(1, false), 1, 0);
    late[row::CANCELLED_RUNNING] = 2 << 32;
    late[row::FAILED_PANICKED] = 1;
    (late[row::TIMED], late[row::TOTAL], late[row::MAX]) = (2, 70, 40);
    writer.page(&[late]);
    let measure = writer.store().tally(By::Subject, &Scope::default()).rows[0].measure;
    assert_eq!((measure.count, measure.running, measure.failed), (11, 2, 1));
    assert_eq!((measure.timed, measure.total_ticks, measure.max_ticks, measure.self_ticks), (2, 70, 40, None));
}

#[test]
fn self_time_of_calls_in_the_window_is_exact_after_others_left_it() {
    let mut writer = scene(1);
    let outer = writer.event(Draft { start: 0, span: Some(100), ..Draft::default() });
    writer.event(Draft { site: 2, start: 10, span: Some(30), cause: Some(outer), ..Draft::default() });
    let mut folded = row(Who { kind: 0, ..who(1, false) }, 0, 1);
    (folded[row::TIMED], folded[row::TOTAL], folded[row::MAX]) = (1, 500, 500);
    writer.fold_row(0, folded);
    let rows = writer.store().tally(By::Site, &Scope::default()).rows;
    let of = |site| rows.iter().find(|row| row.site == Some(SiteId(site))).expect("it has a row").measure;
    assert_eq!((of(1).total_ticks, of(1).self_ticks, of(1).window_self_ticks), (600, None, 70));
    assert_eq!((of(2).total_ticks, of(2).self_ticks, of(2).window_self_ticks), (30, Some(30), 30));
}

/// A fold of the first block that was committed when the process was killed.
fn with_pending_fold() -> (Writer, u64) {
    let mut writer = scene(1);
    let first = writer.event(Draft { start: 0, subject: node(1), ..Draft::default() });
    (1..300).for_each(|start| {
        writer.event(Draft { start, subject: node(1), ..Draft::default() });
    });
    writer.fold_row(0, row(who(1, false), 1, 40));
    writer.set(sb::FOLDED, 40);
    let at = writer.table(sb::JOURNAL);
    let new = row(who(1, false), 1, 40 + 127);
    let header = [(journal::BLOCKS, 1), (journal::ROWS, 1), (journal::FOLDED, 167), (journal::COMMIT, 5)];
    header.into_iter().for_each(|(word, value)| writer.set(at + word, value));
    let words = [first.sequence(), 0].into_iter().chain(new);
    (at + journal::HEADER_WORDS..).zip(words).for_each(|(at, word)| writer.set(at, word));
    (writer, first.sequence())
}

#[test]
fn a_committed_fold_counts_once_before_and_after_it_is_applied() {
    let (writer, sequence) = with_pending_fold();
    let check = |store: Store, what: &str| {
        let totals = store.totals();
        assert_eq!((totals.stored, totals.folded, totals.emitted), (173, 167, 340), "{what}");
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            let tally = store.tally(By::Subject, &Scope { detail, ..Scope::default() });
            assert_eq!(tally.rows[0].measure.count, 340, "{detail:?}");
        }
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
    };
    check(writer.store(), "committed");
    writer.fold_row(0, row(who(1, false), 1, 40 + 127));
    check(writer.store(), "row applied");
    writer.set(writer.block(sequence) + header::SEQUENCE, 0);
    writer.set(sb::FOLDED, 167);
    check(writer.store(), "block taken away");
    writer.set(sb::FOLD_DONE, 5);
    check(writer.store(), "done");
}

/// 300 events, of which two folders have folded 40 of the first block and 20 of the second. Each was killed when its row
/// had one event more.
fn with_folds_in_progress() -> (Writer, [u64; 2]) {
    let mut writer = scene(1);
    let ids: Vec<EventId> =
        (0..300).map(|start| writer.event(Draft { start, subject: node(1), ..Draft::default() })).collect();
    let sequences = [ids[0].sequence(), ids[127].sequence()];
    writer.fold_row(0, row(who(1, false), 1, 40 + 1));
    writer.page(&[row(who(1, false), 1, 20 + 1)]);
    writer.page_of_folder(0);
    let rows = [writer.table(sb::TALLY), writer.table(sb::PAGES) + row::page::HEADER_WORDS];
    writer.folder(
        0,
        Cursor { sequence: sequences[0], slot: 41, note: 1 },
        40,
        Some((rows[0], row(who(1, false), 1, 40))),
    );
    writer.folder(
        1,
        Cursor { sequence: sequences[1], slot: 21, note: 0 },
        20,
        Some((rows[1], row(who(1, false), 1, 20))),
    );
    (writer, sequences)
}

#[test]
fn a_fold_in_progress_counts_each_event_once_wherever_it_stopped() {
    let (writer, [first, second]) = with_folds_in_progress();
    let check = |folded: u64, what: &str| {
        let store = writer.store();
        let totals = store.totals();
        assert_eq!((totals.stored, totals.folded, totals.counted), (300 - folded, folded, 0), "{what}");
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            for by in [By::Site, By::Subject, By::SiteSubject] {
                let tally = store.tally(by, &Scope { detail, ..Scope::default() });
                assert_eq!(
                    tally.rows.iter().map(|row| row.measure.count).sum::<u64>(),
                    300,
                    "{what}, {by:?} {detail:?}"
                );
            }
        }
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
        assert_eq!(store.verify().pending_fold, folded != 254, "{what}");
        let other = scene(1);
        other.set(sb::PID, 2);
        let both = Store::merged(vec![("one".into(), store.clone()), ("two".into(), other.store())]);
        let merged = both.expect("they can be merged").totals();
        assert_eq!((merged.stored, merged.folded, merged.counted), (300 - folded, folded, 0), "{what}, merged");
    };
    check(60, "both in the middle");
    let rows = [writer.table(sb::TALLY), writer.table(sb::PAGES) + row::page::HEADER_WORDS];
    writer.set(rows[0] + row::COUNT, 40);
    check(60, "before the row changed");
    writer.set(rows[0] + row::COUNT, 127);
    writer.folder(0, Cursor { sequence: first, slot: BLOCK_SLOTS, note: 0 }, 127, None);
    check(127 + 20, "the first block is folded");
    writer.set(writer.block(first) + header::SEQUENCE, 0);
    check(127 + 20, "and empty");
    writer.set(rows[1] + row::COUNT, 127);
    writer.folder(1, Cursor { sequence: second, slot: BLOCK_SLOTS, note: 1 }, 127, None);
    check(254, "both are folded");
}

#[test]
fn a_row_that_is_being_merged_counts_once_wherever_that_stopped() {
    let writer = scene(1);
    let [from, to] = [row(Who { epoch: 3, ..who(1, false) }, 1, 20), row(who(1, false), 1, 40)];
    writer.page(&[from, to]);
    let first = writer.table(sb::PAGES) + row::page::HEADER_WORDS;
    let place = |row: usize| first + row * ROW_WORDS;
    let check = |what: &str| {
        let store = writer.store();
        let tally = store.tally(By::Subject, &Scope::default());
        assert_eq!(tally.rows.iter().map(|row| row.measure.count).collect::<Vec<_>>(), [60], "{what}");
        assert_eq!(store.totals().counted, 60, "{what}");
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
    };
    let sequence = folder::merge_sequence(1);
    check("before");
    writer.folder(0, Cursor { sequence, slot: 1, note: 1 }, 0, Some((place(1), to)));
    check("the other row is noted");
    writer.merged(0, place(0));
    check("the row is named");
    writer.set(place(1) + row::COUNT, 60);
    check("the other row has both");
    writer.folder(0, Cursor { sequence, slot: BLOCK_SLOTS, note: 0 }, 0, None);
    check("done");
    writer.set(place(0) + row::COUNT, 0);
    check("the row is empty");
    writer.merged(0, 0);
    check("at rest");
    writer.set(place(0) + row::WHO, row::FREED);
    check("freed");
}

#[test]
fn a_kill_between_the_details_of_an_event_and_the_event_damages_nothing() {
    let mut writer = scene(1);
    let done = writer.event(Draft { start: 0, ..Draft::default() });
    let begun = writer.event(Draft { start: 1, ..Draft::default() });
    writer.details(0, 1, begun, &[7; 60]);
    writer.set(writer.block(begun.sequence()) + begun.slot() * SLOT_WORDS, 0);
    assert!(writer.store().verify().is_sound());
    assert_eq!(every_event(&writer.store()).iter().map(|event| event.id).collect::<Vec<_>>(), [done]);
}

#[test]
fn effects_follow_from_causes_and_links() {
    let mut writer = scene(1);
    let block = writer.event(Draft { start: 0, span: Some(1_000), ..Draft::default() });
    let inner = writer.event(Draft { start: 1, cause: Some(block), ..Draft::default() });
    let elsewhere = writer.event(Draft { lane: 1, site: 2, start: 2, cause: Some(inner), ..Draft::default() });
    let stranger = writer.event(Draft { lane: 1, site: 3, start: 3, ..Draft::default() });
    writer.event(Draft { lane: 1, site: 3, start: 4, cause: Some(stranger), ..Draft::default() });
    let scope = Scope { under: Some(block), ..Scope::default() };
    let count = |store: &Store| store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>();
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
    let layout = writer.event(Draft { site: 3, start: 10, span: Some(50), cause: Some(frame), ..Draft::default() });
    writer.mark(0, 11, Mark::Link, [layout.raw(), change.raw(), 0]);
    writer.event(Draft { site: 3, start: 12, span: Some(20), cause: Some(layout), ..Draft::default() });
    writer.event(Draft { site: 3, start: 70, span: Some(5), cause: Some(frame), ..Draft::default() });
    let store = writer.store();
    let tally = store.tally(By::RootCause, &Scope::default());
    assert_eq!((roots(&tally), tally.shared, tally.exact), (vec![(Some(1), 4), (Some(2), 3)], 2, true));
    let shares: Vec<_> = tally.rows.iter().map(|row| tally.shares().calls(&row.measure)).collect();
    assert_eq!(shares, [Some(80.0), Some(60.0)]);
    let own: Vec<_> = tally.rows.iter().map(|row| row.measure.self_ticks).collect();
    // The frame: 35 of its own, 50 in the first layout, 5 in the last. The change: 1 of its own, 50 in the layout.
    assert_eq!(own, [Some(35 + 50 + 5), Some(1 + 50)]);
    let count = |filter: &str| {
        let scope = Scope::matching(filter.parse().expect("a filter"));
        store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>()
    };
    let [of_frame, of_change, of_none] = ["cause:layout", "cause:measure", "-cause:**"].map(count);
    assert_eq!((of_frame, of_change, of_none), (3, 2, 2));
    let [every, holds] = ["site:announce", "cause:measure"].map(|filter| filter.parse().expect("a filter"));
    let found = store.violations(&every, &holds, 10);
    assert_eq!((found.checked, found.violated, found.exact), (3, 1, true));
    // Below the change, the layout is the first effect.
    let below = store.tally(By::RootCause, &Scope { under: Some(change), ..Scope::default() });
    assert_eq!(roots(&below), [(Some(3), 2)]);
}

#[test]
fn events_that_are_their_own_reasons_have_the_other_reasons_as_well() {
    let mut writer = scene(1);
    let root = writer.event(Draft { start: 0, ..Draft::default() });
    let ids: Vec<EventId> = (1..200).map(|start| writer.event(Draft { site: 2, start, ..Draft::default() })).collect();
    // A ring of links: each event is a reason of the next one, the last one of the first.
    for (at, id) in ids.iter().enumerate() {
        writer.mark(1, 300, Mark::Link, [ids[(at + 1) % ids.len()].raw(), id.raw(), 0]);
    }
    let count = |store: &Store, filter: &str| {
        let scope = Scope::matching(filter.parse().expect("a filter"));
        store.tally(By::Site, &scope).rows.iter().map(|row| row.measure.count).sum::<u64>()
    };
    let apart = writer.store();
    assert_eq!((count(&apart, "cause:layout"), roots(&apart.tally(By::RootCause, &Scope::default())).len()), (0, 2));
    writer.mark(1, 301, Mark::Link, [ids[77].raw(), root.raw(), 0]);
    let whole = writer.store();
    assert_eq!(count(&whole, "cause:layout"), 199);
    assert_eq!(roots(&whole.tally(By::RootCause, &Scope::default())), [(Some(1), 200)]);
}

#[test]
fn verify_reads_all_and_names_what_is_damaged() {
    let (mut writer, ids) = busy(4, 2, 20_000, 3);
    writer.summarise();
    let sound = writer.store().verify();
    assert!(sound.is_sound(), "{sound:?}");
    assert_eq!((sound.events, sound.totals.stored, sound.lanes), (20_000, 20_000, 2));
    // Three events in the middle of a full block become zeros.
    let word = writer.block(ids[9].sequence()) + 40 * SLOT_WORDS;
    (word..word + 3 * SLOT_WORDS).for_each(|at| writer.set(at, 0));
    writer.set(writer.block(ids[9].sequence() + 9) + header::SEQUENCE, 3);
    writer.event(Draft { site: 99, start: u64::from(u32::MAX), outcome: Outcome::Failed, ..Draft::default() });
    let found = writer.store().verify();
    let text = found.damaged.join("\n");
    for words in ["behind a gap", "is impossible there", "its summary counts", "site 99 has 1 events"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(serde_json::to_string(&found).expect("JSON").contains("\"damaged\""));
}

#[test]
fn calls_without_a_time_make_times_partial_and_instants_do_not() {
    let mut writer = scene(1);
    writer.event(Draft { start: 0, span: Some(5), ..Draft::default() });
    writer.event(Draft { start: 10, outcome: Outcome::Instant, ..Draft::default() });
    let measure = |store: Store| store.tally(By::Site, &Scope::default()).rows[0].measure;
    let before = measure(writer.store());
    assert_eq!((before.count, before.timed, before.instants, before.is_partly_timed()), (2, 1, 1, false));
    writer.event(Draft { start: 20, timed: false, ..Draft::default() });
    let after = measure(writer.store());
    assert_eq!((after.count, after.timed, after.total_ticks, after.is_partly_timed()), (3, 1, 5, true));
}

#[test]
fn a_loss_is_between_the_events_before_and_behind_it() {
    let mut writer = scene(1);
    writer.lane(0, "main");
    writer.lane(1, "other");
    writer.event(Draft { start: 100, ..Draft::default() });
    writer.event(Draft { start: 140, ..Draft::default() });
    writer.event(Draft { lane: 1, start: 120, ..Draft::default() });
    writer.turn(0, 900);
    let next = writer.event(Draft { start: 950, ..Draft::default() });
    writer.set(writer.block(next.sequence()) + header::LOST_BEFORE, 7);
    // The other lane lost three after its last event. Both counted their calls.
    for (lane, lost) in [(0, 7), (1, 3)] {
        let row = writer.table(sb::LANES) + lane * sb::lane::WORDS;
        writer.set(row + sb::lane::LOST, lost);
    }
    writer.page(&[row(who(1, true), 1, 10)]);
    writer.set(sb::LAST_TICK, 2_000);
    let losses = writer.store().losses();
    let loss = |lane, from, to, calls| Loss { lane: LaneId(lane), from, to, calls };
    assert_eq!(losses, Losses { times: vec![loss(0, 140, 900, 7), loss(1, 120, 2_000, 3)], elsewhere: 0 });
}

#[test]
fn a_row_beside_the_row_of_others_is_exact_and_rows_elsewhere_are_lower_bounds() {
    let writer = scene(1);
    let others = |count| row(Who { kind: row::OTHERS, ..who(1, false) }, 0, count);
    // A small page, and the page in which its lane continued until that was full.
    writer.page(&[row(who(1, false), 1, 10), row(who(1, false), 2, 10)]);
    writer.page(&[row(who(1, false), 1, 5), row(who(1, false), 3, 5), others(7), row(who(2, false), 2, 1)]);
    let bounds = |by| {
        let tally = writer.store().tally(by, &Scope::default());
        assert_eq!((tally.exact, tally.rows_exact), (false, true));
        let mut rows: Vec<_> = (tally.rows.iter().filter(|row| !row.is_others()))
            .map(|row| (row.subject.expect("it has one").key, row.measure.count, row.measure.at_least))
            .collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(bounds(By::Subject), [(1, 15, false), (2, 11, true), (3, 5, false)]);
    assert_eq!(bounds(By::SiteSubject), [(1, 15, false), (2, 1, false), (2, 10, true), (3, 5, false)]);
    // The fold table is full, too.
    writer.fold_row(0, others(1));
    writer.fold_row(1, row(who(1, false), 3, 1));
    writer.set(sb::TALLY_USED, 2);
    assert_eq!(bounds(By::Subject), [(1, 15, true), (2, 11, true), (3, 6, false)]);
}
