//! Tallies and totals.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::event::Outcome;
use crate::testing::Draft;
use crate::{
    By, DetailLevel, Filter, LaneId, Loss, Losses, Members, RowOrder, Scope, Tally, TallyRow,
};
use metaspy_format::arena::Entry;
use metaspy_format::row::{self, ROW_WORDS, Who};
use metaspy_format::superblock::{self as sb};
use metaspy_format::{SLOT_WORDS, header};
use metaspy_probe::{SiteId, SiteKind};

use super::{busy, every_event, node, scene};

pub fn row(who: Who, key: u64, count: u64) -> [u64; ROW_WORDS] {
    let mut row = [0; ROW_WORDS];
    (row[row::KEY], row[row::WHO], row[row::COUNT]) = (key, who.pack(), count);
    row
}

pub fn who(site: u32, lost: bool) -> Who {
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
    let wanted =
        every_event(&store).iter().filter(|e| e.site.0 == 2 && e.subject == Some(node(3))).count();
    assert_eq!(store.tally(By::Site, &filtered).rows[0].measure.count, wanted as u64);
    let members = Members::new(|site, subject| site == SiteId(2) && subject == Some(node(3)));
    let chosen = Scope { members: Some(members), detail: DetailLevel::Counts, ..Scope::default() };
    assert_eq!(store.tally(By::Subject, &chosen).rows[0].measure.count, wanted as u64);
}

#[test]
fn blocks_without_a_match_are_skipped_and_no_match_is() {
    let (mut writer, _) = busy(8, 3, 20_000, 12);
    writer.summarise();
    let store = writer.store();
    let mut spans: Vec<u64> = every_event(&store).iter().filter_map(|event| event.span).collect();
    spans.sort_unstable();
    let longest = store.span_ns(*spans.last().expect("calls are timed"));
    let mut texts: Vec<String> = [
        "outcome:failed",
        "-outcome:failed",
        "outcome:panicked",
        "subject:#3",
        "subject:#999",
        "site:measure",
    ]
    .map(String::from)
    .into();
    for compare in ["<", "<=", ">=", ">"] {
        texts.extend(
            [0, longest / 2, longest, longest + 1].map(|ns| format!("took:{compare}{ns}ns")),
        );
    }
    texts.push(format!("took:>={longest}ns -outcome:panicked"));
    for text in texts {
        let scope = |detail| Scope { detail, ..Scope::matching(text.parse().expect("a filter")) };
        // Only counts skip blocks.
        let counted = counts(&store.tally(By::Site, &scope(DetailLevel::Counts)));
        let all = counts(&store.tally(By::Site, &scope(DetailLevel::All)));
        assert_eq!(counted, all, "{text}");
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
    assert_eq!(
        (totals.stored, totals.folded, totals.counted, totals.lost, totals.unnamed),
        (10, 100, 6, 3, 0)
    );
    assert_eq!((totals.emitted, totals.exact), (119, true));
    let tally = store.tally(By::Subject, &Scope::default());
    assert_eq!(
        counts(&tally),
        BTreeMap::from([((None, Some(node(1))), 116), ((None, Some(node(2))), 3)])
    );
    assert_eq!(tally.rows.iter().map(|row| row.measure.lost).sum::<u64>(), 3);
    // The durations of the single folded calls are unknown.
    let slow = store.tally(By::Subject, &Scope::matching("took:>1s".parse().expect("a filter")));
    assert!(!slow.exact && slow.rows.is_empty());
    let elsewhere = store
        .tally(By::Subject, &Scope::matching("took:>1s site:announce".parse().expect("a filter")));
    assert!(elsewhere.exact);
    assert!(store.tally(By::Subject, &Scope { epochs: 2..9, ..Scope::default() }).rows.is_empty());
}

#[test]
fn outcomes_of_calls_that_left_the_window_are_counted_by_a_filter() {
    let mut writer = scene(1);
    for outcome in [Outcome::Panicked, Outcome::Moved] {
        writer.event(Draft { start: 1, subject: node(1), outcome, ..Draft::default() });
    }
    let mut folded = row(who(1, false), 1, 100);
    folded[row::FAILED_PANICKED] = 4 << 32 | 30;
    (folded[row::TIMED], folded[row::TOTAL], folded[row::MAX]) = (100, 900, 90);
    writer.fold_row(0, folded);
    // The end of the moved event.
    let mut late = row(who(1, false), 1, 0);
    (late[row::CANCELLED_RUNNING], late[row::FAILED_PANICKED]) = (1 << 32, 1);
    writer.page(&[row(who(1, true), 1, 5), late]);
    let store = writer.store();
    for (filter, count, unknown) in [
        ("outcome:panicked", 5, 0),
        ("outcome:failed,panicked", 36, 0),
        ("outcome:cancelled", 0, 0),
        ("-outcome:panicked", 102, 0),
        ("-outcome:panicked -outcome:failed", 71, 0),
        ("outcome:panicked subject:#2", 0, 0),
        // Rows do not distinguish these.
        ("outcome:returned", 0, 105),
        ("outcome:running", 0, 6),
        ("took:>1ns", 0, 106),
        // The longest call of a row is known, if all were timed.
        ("took:>1us", 0, 6),
        ("took:<1us site:layout", 101, 6),
    ] {
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            let scope = Scope { detail, ..Scope::matching(filter.parse().expect("a filter")) };
            let tally = store.tally(By::Site, &scope);
            let found = tally.rows.first().map_or(0, |row| row.measure.count);
            assert_eq!((found, tally.unknown), (count, Some(unknown)), "{filter}");
            assert_eq!(tally.exact, unknown == 0, "{filter}");
        }
    }
    // A row has no times by outcome.
    let panicked = store
        .tally(By::Site, &Scope::matching("outcome:panicked".parse().expect("a filter")))
        .rows[0]
        .measure;
    assert_eq!((panicked.timed, panicked.self_ticks, panicked.is_partly_timed()), (1, None, true));
}

#[test]
fn a_cause_that_left_the_window_is_not_decided() {
    let mut writer = scene(1);
    let gone = crate::event::EventId::new(1, 7);
    writer.event(Draft { start: 1, site: 2, cause: gone, ..Draft::default() });
    let tally =
        writer.store().tally(By::Site, &Scope::matching("cause:layout".parse().expect("a filter")));
    assert_eq!((tally.rows.len(), tally.exact, tally.unknown), (0, false, None));
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
    assert_eq!(
        (measure.timed, measure.total_ticks, measure.max_ticks, measure.self_ticks),
        (2, 70, 40, None)
    );
}

#[test]
fn a_kill_between_the_details_of_an_event_and_the_event_damages_nothing() {
    let mut writer = scene(1);
    let done = writer.event(Draft { start: 0, ..Draft::default() });
    let begun = writer.event(Draft { start: 1, ..Draft::default() });
    writer.details(0, 1, begun, &[7; 60]);
    writer.set(writer.block(begun.sequence()) + begun.slot() * SLOT_WORDS, 0);
    assert!(writer.store().verify().is_sound());
    assert_eq!(
        every_event(&writer.store()).iter().map(|event| event.id).collect::<Vec<_>>(),
        [done]
    );
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
    writer.event(Draft {
        site: 99,
        start: u64::from(u32::MAX),
        outcome: Outcome::Failed,
        ..Draft::default()
    });
    let found = writer.store().verify();
    let text = found.damaged.join("\n");
    for words in
        ["behind a gap", "is impossible there", "its summary counts", "site 99 has 1 events"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(serde_json::to_string(&found).expect("JSON").contains("\"damaged\""));
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
    assert_eq!(
        losses,
        Losses { times: vec![loss(0, 140, 900, 7), loss(1, 120, 2_000, 3)], elsewhere: 0 }
    );
}

#[test]
fn a_row_beside_the_row_of_others_is_exact_and_rows_elsewhere_are_lower_bounds() {
    let writer = scene(1);
    let others = |count| row(Who { kind: row::OTHERS, ..who(1, false) }, 0, count);
    // A small page, and the page in which its lane continued until that was full.
    writer.page(&[row(who(1, false), 1, 10), row(who(1, false), 2, 10)]);
    writer.page(&[
        row(who(1, false), 1, 5),
        row(who(1, false), 3, 5),
        others(7),
        row(who(2, false), 2, 1),
    ]);
    let bounds = |by| {
        let tally = writer.store().tally(by, &Scope::default());
        assert_eq!((tally.exact, tally.rows_exact), (false, true));
        let mut rows: Vec<_> = (tally.rows.iter().filter(|row| !row.is_others()))
            .map(|row| {
                (row.subject.expect("it has one").key, row.measure.count, row.measure.at_least)
            })
            .collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(bounds(By::Subject), [(1, 15, false), (2, 11, true), (3, 5, false)]);
    assert_eq!(
        bounds(By::SiteSubject),
        [(1, 15, false), (2, 1, false), (2, 10, true), (3, 5, false)]
    );
    // The fold table is full, too.
    writer.fold_row(0, others(1));
    writer.fold_row(1, row(who(1, false), 3, 1));
    writer.set(sb::TALLY_USED, 2);
    assert_eq!(bounds(By::Subject), [(1, 15, true), (2, 11, true), (3, 6, false)]);
}

#[test]
fn the_outcome_of_a_call_that_left_the_window_is_unknown_if_a_rotation_went_on_while_it_ran() {
    let writer = scene(1);
    let mut folded = row(who(1, false), 1, 3);
    folded[row::CANCELLED_RUNNING] = 1 << 32;
    writer.fold_row(0, folded);
    writer.set(sb::TALLY_USED, 1);
    writer.page(&[row(who(2, false), 1, 5)]);
    let bounds = |filter: &str| {
        let store = writer.store();
        let filter = filter.parse().expect("it is a filter");
        let calls =
            store.call_bounds(&filter, &store.tally(By::Site, &Scope::matching(filter.clone())));
        (calls.least, calls.most, calls.gaps.unended)
    };
    assert_eq!(bounds("outcome:panicked"), (0, Some(0), 0));
    writer.set(sb::FOLLOWED, 2);
    // One call ran, and those that were only counted may have.
    assert_eq!(bounds("outcome:panicked"), (0, Some(6), 6));
    assert_eq!(bounds("site:layout outcome:panicked"), (0, Some(1), 1));
    assert_eq!(bounds("site:layout -outcome:panicked"), (2, Some(3), 1));
    assert_eq!(bounds("site:layout"), (3, Some(3), 0));
}

#[test]
fn a_row_that_may_lack_calls_is_marked_also_if_a_filter_leaves_the_row_of_others_undecided() {
    let writer = scene(1);
    let others = row(Who { kind: row::OTHERS, ..who(1, false) }, 0, 7);
    writer.page(&[row(who(1, false), 1, 10), row(who(1, false), 2, 10), row(who(2, false), 2, 1)]);
    writer.page(&[row(who(1, false), 1, 5), others]);
    let store = writer.store();
    let check = |filter: &str, by, expected: &[(u64, bool)]| {
        let scope = Scope::matching(filter.parse().expect("it is a filter"));
        let numbers = |row: &TallyRow| (row.measure.count, row.measure.at_least);
        let mut rows: Vec<_> = store.tally(by, &scope).rows.iter().map(numbers).collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{filter}");
        let order = RowOrder { rank: &|_| None, name: &|_| String::new() };
        let first = store.first_rows(by, &scope, 10, &order, |_| ());
        let first = first.map(|first| first.rows.iter().map(numbers).collect::<Vec<_>>());
        assert!(first.is_none_or(|first| first == expected), "{filter}");
    };
    // Its row is in each table that has a row of others.
    check("subject:#1", By::Subject, &[(15, false)]);
    check("subject:#2", By::Subject, &[(11, true)]);
    check("subject:#2", By::SiteSubject, &[(1, false), (10, true)]);
    check("subject:#2", By::Site, &[(1, false), (10, true)]);
    check("site:measure subject:#2", By::Subject, &[(1, false)]);
}

#[test]
fn first_rows_of_more_subjects_than_have_room_at_once_are_those_of_all() {
    const SUBJECTS: u64 = 150_000;
    let mut writer = scene(40);
    for number in 0..SUBJECTS {
        let start = 1_000 + number * 100;
        let span = Some(20 + number * 7_919 % 70);
        let outer = writer.event(Draft { subject: node(number), start, span, ..Draft::default() });
        let inner = node((number + 1) % SUBJECTS);
        writer.event(Draft {
            site: 2,
            subject: inner,
            start: start + 5,
            span: Some(1 + number % 13),
            cause: Some(outer),
            ..Draft::default()
        });
    }
    writer.summarise();
    let store = writer.store();
    let rank = |row: &TallyRow| Some(row.measure.total_ticks);
    let name = |row: &TallyRow| format!("{:?}", row.subject);
    for by in [By::Subject, By::SiteSubject] {
        let mut all = store.tally(by, &Scope::default());
        let shares = all.shares();
        let row_count = all.rows.len();
        all.rows.sort_by_key(|row| {
            let rank = (Reverse(row.measure.total_ticks), Reverse(row.measure.count));
            (rank, name(row), row.site)
        });
        let order = RowOrder { rank: &rank, name: &name };
        let mut met = 0;
        let first = store.first_rows(by, &Scope::default(), 50, &order, |_| met += 1);
        let first = first.expect("they are read in parts");
        assert!(format!("{:?}", first.rows) == format!("{:?}", &all.rows[..50]), "{by:?}");
        assert_eq!((first.row_count, met, first.exact), (row_count, row_count, true));
        assert_eq!(first.shares, shares);
    }
}

#[test]
fn calls_of_woven_methods_that_were_only_counted_may_be_on_any_object() {
    let writer = scene(1);
    let words = ["app::Tenant::bill", "src/lib.rs", "", "c=1 self=ref"];
    writer.entry(Entry::Site, 9, &[SiteKind::Method as u64, 0], &words);
    writer.fold_row(0, row(Who { kind: 0, ..who(9, false) }, 0, 5));
    let store = writer.store();
    let bounds = |text: &str| {
        let filter: Filter = text.parse().expect("a filter");
        let tally = store.tally(By::Site, &Scope::matching(filter.clone()));
        let bounds = store.call_bounds(&filter, &tally);
        (bounds.least, bounds.most)
    };
    assert_eq!(bounds("site:bill"), (5, Some(5)));
    assert_eq!([bounds("subject:#7"), bounds("-subject:#7")], [(0, Some(5)); 2]);
    assert_eq!(bounds("kind:Nobody"), (0, Some(0)));
}
