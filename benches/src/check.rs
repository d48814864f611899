//! What was timed is read back: a fast hook that loses or mixes up events would be no achievement.
//!
//! Everything here panics when something is wrong; the child then fails, and the bench with it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use metaspy::Mode;
use metaspy::instrumenter::entry;
use metaspy::store::{By, Filter, Position, Scope, Store, Tally, TallyRow};
use metaspy::{Event, EventId, Outcome, Site, SiteId};

use crate::child::CaseResult;

/// Events whose causes and spans are looked at one by one.
const PAGE: usize = 50_000;

/// What must be found.
#[derive(Debug)]
pub struct Expected {
    /// The site of the measured method.
    pub site: &'static Site,
    /// How closely it was observed.
    pub mode: Mode,
    /// Calls by key; `None`: without a subject.
    pub calls: HashMap<Option<u64>, u64>,
    /// The site of the batches around the calls, and how many there were, if they were observed.
    pub batches: Option<(&'static Site, u64)>,
}

/// Reads a recording, and panics unless it holds what is expected.
pub fn read_back(store: &Store, expected: &Expected) -> CaseResult {
    let calls: u64 = expected.calls.values().sum();
    let batches = expected.batches.map_or(0, |(_, count)| count);
    let totals = at_rest(|| store.totals(), |totals| totals.exact);
    assert_eq!(totals.emitted, calls + batches, "calls and batches: {totals:?}");
    assert_eq!(totals.unnamed, 0, "{totals:?}");
    match expected.mode {
        Mode::Tally => assert_eq!(totals.counted, calls, "counted, and no event: {totals:?}"),
        _ => assert_eq!(totals.counted, 0, "events, and nothing counted: {totals:?}"),
    }
    by_subject(store, expected);
    spans(store, expected, calls);
    if let Some((around, _)) = expected.batches {
        causes(store, entry(expected.site).id, entry(around).id, totals.lost);
    }
    CaseResult { emitted: totals.emitted, lost: totals.lost, ..CaseResult::default() }
}

/// An answer that satisfies: on a busy machine the collector may still be at work when the last
/// call is over.
pub(crate) fn at_rest<R>(ask: impl Fn() -> R, is_exact: impl Fn(&R) -> bool) -> R {
    let mut answer = ask();
    for _ in 0..500 {
        if is_exact(&answer) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(10));
        answer = ask();
    }
    panic!("five seconds after the last call the counts are still not exact");
}

/// Each subject was called as often as in a replay.
fn by_subject(store: &Store, expected: &Expected) {
    let rows = rows(store, By::SiteSubject, expected.site);
    let kinds: HashSet<_> =
        rows.iter().filter_map(|row| row.subject).map(|subject| subject.kind).collect();
    // Subjects that found no room in the tables are in the `others` row of their site: a kind of
    // its own.
    if kinds.len() > 1 {
        let (counted, all): (u64, u64) =
            (rows.iter().map(|row| row.measure.count).sum(), expected.calls.values().sum());
        assert_eq!(counted, all, "calls with the others of their site");
        assert!(expected.calls.len() > 100_000, "{} subjects found room", expected.calls.len());
        return;
    }
    let found: HashMap<Option<u64>, u64> = rows
        .iter()
        .map(|row| (row.subject.map(|subject| subject.key), row.measure.count))
        .collect();
    let mut wrong = expected
        .calls
        .iter()
        .filter(|&(key, count)| *count != found.get(key).copied().unwrap_or(0));
    if let Some((key, count)) = wrong.next() {
        panic!("key {key:?} was called {count} times; found {:?}", found.get(key));
    }
    assert_eq!(
        found.len(),
        expected.calls.values().filter(|count| **count != 0).count(),
        "subjects"
    );
}

/// Every call ended as it did, and as many were timed as in this mode.
fn spans(store: &Store, expected: &Expected, calls: u64) {
    let rows = rows(store, By::Site, expected.site);
    let measure = match rows.as_slice() {
        [row] => row.measure,
        [] if calls == 0 => return,
        _ => panic!("one site has {} rows", rows.len()),
    };
    let ends = [measure.failed, measure.panicked, measure.cancelled, measure.running];
    assert_eq!(ends, [0; 4], "all returned: {measure:?}");
    let stored = measure.count - measure.lost;
    match expected.mode {
        Mode::Full => assert_eq!(measure.timed, stored, "{measure:?}"),
        Mode::Sampled => {
            let share = measure.timed as f64 * 16.0 / stored as f64;
            assert!(
                (0.8..1.25).contains(&share) || stored < 100_000,
                "one in 16 was timed: {measure:?}"
            );
        }
        _ => assert_eq!(measure.timed, 0, "{measure:?}"),
    }
    let is_right =
        measure.total_ticks >= measure.max_ticks && (measure.timed == 0 || measure.total_ticks > 0);
    assert!(is_right, "{measure:?}");
}

fn rows(store: &Store, by: By, of: &'static Site) -> Vec<TallyRow> {
    // Where some subjects were counted together the others are at least what they say; see
    // `by_subject`.
    let is_settled = |tally: &Tally| tally.exact || tally.rows.iter().any(TallyRow::is_others);
    let tally = at_rest(|| store.tally(by, &Scope::default()), is_settled);
    let of = Some(entry(of).id);
    tally.rows.into_iter().filter(|row| row.site == of).collect()
}

/// Each call was caused by the batch around it, and lies within it.
fn causes(store: &Store, called: SiteId, around: SiteId, lost: u64) {
    let page = store.backward(Position::End, &Filter::all(), PAGE, usize::MAX);
    let mut batches: HashMap<EventId, Event> = HashMap::new();
    let mut looked_at = 0;
    for event in page.events.iter().filter(|event| event.site == called) {
        assert_eq!(event.outcome, Outcome::Returned, "{event:?}");
        let Some(cause) = event.cause else {
            assert!(lost != 0, "no cause: {event:?}");
            continue;
        };
        let batch = batches
            .entry(cause)
            .or_insert_with(|| store.event(cause).expect("a cause stands in the window"));
        assert_eq!((batch.site, batch.lane), (around, event.lane), "{event:?} in {batch:?}");
        assert!(cause < event.id, "{event:?}");
        if let (Some(span), Some(whole)) = (event.span, batch.span)
            && event.timed
            && batch.timed
        {
            let within = event.start >= batch.start && event.start + span <= batch.start + whole;
            assert!(within, "{event:?} does not lie in {batch:?}");
        }
        looked_at += 1;
    }
    assert!(looked_at > 0, "no event has a cause");
}
