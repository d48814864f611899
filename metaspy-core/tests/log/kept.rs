//! What is surprising stays in the recording when its block is folded, with its causes and effects,
//! and each call counts once.

use metaspy_core::causality::{self, Carried};
use metaspy_core::clock;
use metaspy_core::store::{EffectsIndex, Event, EventId, Kept, KeptUnit};

use super::*;

/// Calls between two rounds of the collector, so that it folds before a lane must.
const CALLS_PER_ROUND: u64 = 900;
const RULES: &str = "took:>p99 at site:OUTER; outcome:failed";
/// The key of the first part of each request, which no request has.
const PART: u64 = 1 << 40;
/// Ticks of an ordinary call of the outer site, without the inner ones.
const TICKS: u64 = 100;

fn collect(recording: &Recording) {
    while recording.collect() {}
}

/// A request: one call of the outer site, and two of the inner one, of which the second may fail.
fn request(number: u64, ticks: u64, outcome: Outcome) {
    let outer = enter(&OUTER, node(number));
    clock::advance(ticks);
    for part in 0..2 {
        let inner = enter(&INNER, node(PART + part));
        clock::advance(1);
        inner.done(if part == 1 { outcome } else { Outcome::Returned });
    }
    outer.done(Outcome::Returned);
}

/// Slow requests are rare, and failing ones, too.
fn is_slow(number: u64) -> bool {
    number % 3_000 == 2_500
}

fn fails(number: u64) -> bool {
    number % 5_000 == 1_777
}

fn ticks(number: u64) -> u64 {
    if is_slow(number) { 50 * TICKS } else { TICKS + number % 10 }
}

fn requests(recording: &Recording, numbers: std::ops::Range<u64>) {
    for number in numbers {
        request(
            number,
            ticks(number),
            if fails(number) { Outcome::Failed } else { Outcome::Returned },
        );
        if number % (CALLS_PER_ROUND / 3) == 0 {
            collect(recording);
        }
    }
}

/// Checks that each of these requests was counted once, with its time.
fn check_counts(store: &Store, requests: u64) {
    let found = store.verify();
    assert!(found.is_sound(), "{found:?}");
    let totals = store.totals();
    assert_eq!((totals.emitted, totals.lost, totals.unnamed), (3 * requests, 0, 0), "{totals:?}");
    let tally = store.tally(By::Site, &Scope::default());
    let failed = (0..requests).filter(|&number| fails(number)).count() as u64;
    let longest = (0..requests).map(ticks).max().unwrap_or(0) + 2;
    let total: u64 = (0..requests).map(|number| ticks(number) + 2).sum();
    for row in &tally.rows {
        let (is, site) = (&row.measure, store.site_path(row.site.expect("by site")));
        let expected = if site.ends_with("OUTER") {
            (requests, 0, total, longest)
        } else {
            (2 * requests, failed, 2 * requests, 1)
        };
        assert_eq!((is.count, is.failed, is.total_ticks, is.max_ticks), expected, "{site}: {is:?}");
        assert!(!is.total_at_most && is.running == 0, "{site}: {is:?}");
    }
}

/// A recording of so many requests, in which each call is counted once.
fn recorded(budget: u64, rules: &str, count: u64) -> Recording {
    clock::set_manual(1_000);
    let recording = Recording::memory()
        .budget(budget)
        .collector(false)
        .keep(rules)
        .start()
        .expect("there is room");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().expect("it installs");
    requests(&recording, 0..count);
    drop(installed);
    check_counts(&recording.store(), count);
    recording
}

fn kept(store: &Store) -> Kept {
    store.kept().expect("there are rules")
}

fn event(store: &Store, id: EventId) -> Event {
    store.event(id).unwrap_or_else(|| panic!("{id} is kept"))
}

fn key(event: &Event) -> u64 {
    event.subject.expect("each call has one").key
}

#[test]
fn what_meets_a_rule_stays_with_its_causes_and_effects() {
    const REQUESTS: u64 = 100_000;
    let _turn = turn();
    let store = recorded(8 << 20, RULES, REQUESTS).store();
    let kept = kept(&store);
    assert_eq!(
        (kept.rules.join("; "), kept.gone, kept.unseen_blocks, kept.cut),
        (RULES.to_owned(), 0, 0, 0)
    );
    let (ordinary, surprising): (Vec<&KeptUnit>, Vec<&KeptUnit>) =
        kept.units.iter().partition(|unit| unit.is_ordinary);
    let of_rule = |rule| {
        surprising
            .iter()
            .filter(move |unit| unit.rule == rule)
            .map(|unit| event(&store, unit.event))
    };
    let window = store
        .forward(Position::Start, &"kept:no".parse().expect("a filter"), 1, usize::MAX)
        .events[0]
        .start;
    let slow: Vec<u64> =
        of_rule(0).filter(|event| event.start < window).map(|event| key(&event)).collect();
    let first = slow[0];
    let expected: Vec<u64> = (first..).filter(|&number| is_slow(number)).take(slow.len()).collect();
    assert_eq!(slow, expected, "the first ones come before there is a threshold");
    assert!(first < 10_000 && slow.len() > 15, "{slow:?}");
    let failed: Vec<Event> = of_rule(1).filter(|event| event.start < window).collect();
    assert!(failed.len() > 8, "{failed:?}");
    let effects = EffectsIndex::build(&store, |_, _| true).expect("nothing interrupts it");
    for (event_of, number) in failed.iter().zip((0..).filter(|&number| fails(number))) {
        let outer = event(&store, event_of.cause.expect("it has a cause"));
        assert_eq!(
            (event_of.outcome, key(&outer), store.is_kept(outer.id)),
            (Outcome::Failed, number, true)
        );
    }
    for outer in of_rule(0).filter(|event| event.start < window) {
        let parts: Vec<u64> =
            effects.effects(outer.id).iter().map(|id| key(&event(&store, *id))).collect();
        assert_eq!((parts, outer.span), (vec![PART, PART + 1], Some(50 * TICKS + 2)));
    }
    // The other events of their blocks are folded.
    let page = store.forward(
        Position::Start,
        &"kept:yes".parse().expect("a filter"),
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(page.events.len() as u64, kept.events);
    let ordinary: Vec<Event> = ordinary.iter().map(|unit| event(&store, unit.event)).collect();
    assert!((2..=8).contains(&ordinary.len()), "{ordinary:?}");
    assert!(
        ordinary.iter().all(|event| !is_slow(key(event)) && event.span <= Some(TICKS + 11)),
        "{ordinary:?}"
    );
    let ordinary = ordinary.iter().filter(|event| event.start < window).count();
    assert_eq!(kept.events as usize, 3 * (slow.len() + ordinary) + 2 * failed.len());
    assert!(kept.blocks <= (slow.len() + failed.len() + ordinary) as u64 * 2);
}

#[test]
fn when_there_is_no_more_room_the_least_surprising_units_give_way() {
    const REQUESTS: u64 = 60_000;
    let _turn = turn();
    let store = recorded(1 << 20, "site:OUTER took:>0ns", REQUESTS).store();
    let kept = kept(&store);
    let blocks = store.header().blocks;
    assert!(
        kept.gone > 10_000 && kept.blocks <= blocks / 4 && kept.blocks >= blocks / 8,
        "{kept:?}"
    );
    // The slow ones take longer than any other. The newest ones are in the window.
    let keys = kept.units.iter().map(|unit| key(&event(&store, unit.event))).collect::<Vec<_>>();
    let slow = (0..REQUESTS - 7_000).filter(|&number| is_slow(number)).collect::<Vec<_>>();
    assert!(slow.iter().all(|number| keys.contains(number)), "{slow:?} in {keys:?}");
}

#[test]
fn an_event_that_meets_two_rules_is_a_unit_of_each() {
    const REQUESTS: u64 = 30_000;
    let _turn = turn();
    // The ring is small, and hardly any unit of the first rule stays.
    let recording = recorded(1 << 20, "site:INNER took:>0ns; outcome:failed", REQUESTS);
    // The newest events are looked at now.
    recording.close();
    let kept = kept(&recording.store());
    let failed = kept.units.iter().filter(|unit| unit.rule == 1).count();
    assert_eq!(failed, (0..REQUESTS).filter(|&number| fails(number)).count(), "{kept:?}");
}

#[test]
fn a_reader_of_a_running_program_sees_what_is_kept() {
    let _turn = turn();
    clock::set_manual(1_000);
    let recording =
        Recording::memory().budget(4 << 20).keep("outcome:failed").start().expect("there is room");
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().expect("it installs");
    request(7, TICKS, Outcome::Failed);
    // The collector looks at events when they are old enough, and at blocks that are full.
    let mut next = 8;
    while kept(&recording.store()).units.is_empty() {
        request(next, 1 << 30, Outcome::Returned);
        next += 1;
    }
    let store = recording.store();
    let unit = kept(&store).units[0];
    assert_eq!((key(&event(&store, unit.event)), unit.events), (PART + 1, 2));
}

#[test]
fn a_call_that_lasts_longer_than_the_window_is_kept_while_it_runs() {
    const REQUESTS: u64 = 60_000;
    let _turn = turn();
    clock::set_manual(1_000);
    let rules = "site:OUTER outcome:panicked";
    let recording = Recording::memory()
        .budget(1 << 20)
        .collector(false)
        .keep(rules)
        .start()
        .expect("there is room");
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().expect("it installs");
    let [long, other] = [PART + 7, PART + 8].map(|key| enter(&OUTER, node(key)));
    requests(&recording, 0..REQUESTS);
    let running = recording.store().forward(
        Position::Start,
        &"kept:yes".parse().expect("a filter"),
        9,
        usize::MAX,
    );
    let keys: Vec<u64> = running.events.iter().map(key).collect();
    assert_eq!((keys, kept(&recording.store()).units), (vec![PART + 7, PART + 8], vec![]));
    // Only one of the two meets the rule. The other one leaves with the next block.
    other.done(Outcome::Returned);
    long.done(Outcome::Panicked);
    requests(&recording, REQUESTS..2 * REQUESTS);
    let store = recording.store();
    let unit = kept(&store).units[0];
    let long = event(&store, unit.event);
    assert_eq!((key(&long), kept(&store).units.len()), (PART + 7, 1));
    // It is kept with the mark of its end, which is in another block.
    assert!(long.span.is_some_and(|span| span > 1 << 22), "{long:?}");
    let totals = store.totals();
    assert_eq!(
        (totals.emitted, totals.lost, totals.unnamed, totals.exact),
        (6 * REQUESTS + 2, 0, 0, true)
    );
    assert_eq!((kept(&store).events, kept(&store).blocks), (1, 2));
    assert!(store.verify().is_sound());
}

/// The requests with an effect that left the window and is kept. Whether newer ones were looked at
/// depends on the time.
fn kept_requests(store: &Store) -> Vec<u64> {
    let cause = |unit: &KeptUnit| {
        event(store, event(store, unit.event).cause.expect("a part has a request"))
    };
    let units = kept(store).units;
    units.iter().filter(|unit| store.is_kept(unit.event)).map(|unit| key(&cause(unit))).collect()
}

#[test]
fn a_profiler_keeps_what_is_in_the_window_and_what_comes_while_it_is_installed() {
    const REQUESTS: u64 = 30_000;
    let _turn = turn();
    clock::set_manual(1_000);
    let begin =
        || Recording::memory().budget(1 << 20).collector(false).start().expect("there is room");
    let recording = begin();
    let armed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().expect("it installs");
    let install = |rules: &str| Profiler::new("failures").keep(rules).install();
    // It fails in the window, while the profiler is installed, and at its end.
    requests(&recording, 0..2_000);
    assert_eq!(recording.store().kept(), None);
    let keeping = install("outcome:failed").expect("it is a rule");
    requests(&recording, 2_000..11_778);
    drop(keeping);
    requests(&recording, 11_778..REQUESTS);
    let store = recording.store();
    check_counts(&store, REQUESTS);
    assert_eq!(kept_requests(&store), [1_777, 6_777, 11_777]);
    // In the next recording as well.
    let keeping = install("outcome:failed; room:1%").expect("it was one before");
    let next = begin();
    requests(&next, 0..REQUESTS);
    assert_eq!(
        kept_requests(&next.store()).len() as u64,
        next.store().header().blocks / 100,
        "one block each"
    );
    drop((keeping, armed));
    let refused = |rules: &str| install(rules).expect_err("it is refused").to_string();
    assert!(refused("took:>pfast").contains("`took:>pfast` is no quantile"));
    let many: String = (1..=65).map(|ns| format!("took:>{ns}ns;")).collect();
    assert!(refused(&many).contains("64 rules at most"), "{}", refused(&many));
    assert_eq!(kept(&next.store()).rules, ["outcome:failed"]);
}

/// The effects are on another lane, whose blocks begin at other times: some are looked at before
/// the block of their cause.
#[test]
fn effects_on_other_threads_are_kept_in_whatever_order_their_blocks_are_looked_at() {
    const REQUESTS: u64 = 40_000;
    let fails = |number: u64| number % 1_000 == 77;
    let _turn = turn();
    clock::set_manual(1_000);
    let rules = "outcome:failed site:OUTER";
    let recording = Recording::memory()
        .budget(4 << 20)
        .collector(false)
        .keep(rules)
        .start()
        .expect("there is room");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().expect("it installs");
    let (asks, asked) = std::sync::mpsc::channel::<(u64, Carried)>();
    let (answers, answered) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        for (number, cause) in asked {
            call(&INNER, node(number), || ());
            let _cause = cause.because();
            call(&INNER, node(PART + number), || ());
            answers.send(()).expect("it waits for that");
        }
    });
    for number in 0..REQUESTS {
        let outer = enter(&OUTER, node(number));
        asks.send((number, causality::carried())).expect("it works");
        answered.recv().expect("it works");
        clock::advance(1);
        outer.done(if fails(number) { Outcome::Failed } else { Outcome::Returned });
        if number % (CALLS_PER_ROUND / 3) == 0 {
            collect(&recording);
        }
    }
    drop(asks);
    worker.join().expect("it ends");
    drop(installed);
    recording.close();
    let store = recording.store();
    let effects = EffectsIndex::build(&store, |_, _| true).expect("nothing interrupts it");
    let kept = kept(&store);
    assert_eq!((kept.gone, kept.unseen_blocks, kept.cut), (0, 0, 0), "{kept:?}");
    let units = kept.units;
    let failed: Vec<u64> = (0..REQUESTS).filter(|&number| fails(number)).collect();
    assert_eq!(
        units.iter().map(|unit| key(&event(&store, unit.event))).collect::<Vec<_>>(),
        failed
    );
    for (unit, number) in units.iter().zip(failed) {
        let parts: Vec<u64> =
            effects.effects(unit.event).iter().map(|id| key(&event(&store, *id))).collect();
        assert_eq!((unit.events, parts), (2, vec![PART + number]));
    }
    assert!(store.verify().is_sound());
}
