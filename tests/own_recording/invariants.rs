//! Invariants of any run: causes never loop, and without losses the tallies equal the events.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use metaspy::prelude::*;
use metaspy::store::{By, EffectsIndex, Filter, Measure, Position, Scope};
use metaspy::{Event, EventId, Outcome, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::turn;

/// A call: its subject, its end, and the calls inside it.
#[derive(Clone, Debug)]
struct Step {
    site: usize,
    key: u32,
    end: End,
    /// Before it calls, it names an earlier event as the cause of what follows, or as a further
    /// reason of itself.
    because: Option<usize>,
    also: Option<usize>,
    elsewhere: bool,
    calls: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Returns,
    Fails,
    Panics,
    /// As `Panics`, and whoever called it carries on.
    PanicsAndIsCaught,
}

/// What really happened.
#[derive(Default)]
struct Happened {
    begun: Vec<(EventId, u32)>,
    /// Calls, failed ones, panicked ones, by site and subject.
    counts: BTreeMap<(usize, u32), (u64, u64, u64)>,
}

type Journal = Mutex<Happened>;

#[observe(subject = step.key)]
fn first(step: &Step, journal: &Journal) -> Option<()> {
    step.run(journal)
}

#[observe(subject = step.key)]
fn second(step: &Step, journal: &Journal) -> Option<()> {
    step.run(journal)
}

#[observe(subject = step.key)]
fn third(step: &Step, journal: &Journal) -> Option<()> {
    step.run(journal)
}

const SITES: [&str; 3] = ["first", "second", "third"];

impl Step {
    fn call(&self, journal: &Journal) {
        let call = || match self.site {
            0 => first(self, journal),
            1 => second(self, journal),
            _ => third(self, journal),
        };
        let run = || match self.end {
            End::PanicsAndIsCaught => drop(catch_unwind(AssertUnwindSafe(call))),
            _ => drop(call()),
        };
        if !self.elsewhere {
            return run();
        }
        // Nothing leads from thread to thread by itself: the cause is named.
        let cause = metaspy::current();
        let there = || {
            let _because = cause.map(because);
            run()
        };
        let joined = std::thread::scope(|scope| scope.spawn(there).join());
        if let Err(panic) = joined {
            resume_unwind(panic)
        }
    }

    fn run(&self, journal: &Journal) -> Option<()> {
        let own = metaspy::current().expect("there is room for it");
        let earlier = {
            let mut happened = journal.lock().expect("no panic while it is held");
            happened.begun.push((own, self.key));
            happened.counts.entry((self.site, self.key)).or_default().0 += 1;
            let begun = happened.begun.clone();
            move |n: Option<usize>| n.map(|n| begun[n % begun.len()].0)
        };
        if let Some(cause) = earlier(self.also) {
            assert!(link(own, cause));
        }
        let ends = Ends { step: self, journal, end: None };
        let _because = earlier(self.because).map(because);
        self.calls.iter().for_each(|step| step.call(journal));
        ends.end(self.end)
    }
}

/// Notes how a call ended, also when a panic of a call inside it comes through.
struct Ends<'a> {
    step: &'a Step,
    journal: &'a Journal,
    end: Option<End>,
}

impl Ends<'_> {
    fn end(mut self, end: End) -> Option<()> {
        match end {
            End::Returns => self.end = Some(end),
            End::Fails => {
                self.end = Some(end);
                return None;
            }
            End::Panics | End::PanicsAndIsCaught => resume_unwind(Box::new("as planned")),
        }
        Some(())
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let mut happened = self.journal.lock().expect("no panic while it is held");
        let (_, failed, panicked) =
            happened.counts.entry((self.step.site, self.step.key)).or_default();
        match self.end {
            Some(End::Fails) => *failed += 1,
            Some(_) => {}
            None => *panicked += 1,
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![
        6 => Just(End::Returns),
        2 => Just(End::Fails),
        1 => Just(End::Panics),
        2 => Just(End::PanicsAndIsCaught),
    ];
    let earlier = || {
        proptest::option::weighted(0.2, any::<prop::sample::Index>().prop_map(|n| n.index(1 << 20)))
    };
    let own = (0..3_usize, 0..4_u32, end, earlier(), earlier(), proptest::bool::weighted(0.1));
    let leaf = own.prop_map(|(site, key, end, because, also, elsewhere)| Step {
        site,
        key,
        end,
        because,
        also,
        elsewhere,
        calls: Vec::new(),
    });
    leaf.clone().prop_recursive(6, 60, 5, move |inner| {
        (leaf.clone(), vec(inner, 0..5)).prop_map(|(own, calls)| Step { calls, ..own })
    })
}

fn events(store: &Store) -> Vec<Event> {
    let filter: Filter = "site:invariants::*".parse().expect("a filter");
    store.forward(Position::Start, &filter, usize::MAX, usize::MAX).events
}

/// Runs the steps, and hands back what happened beside what was recorded.
fn record(steps: &[Step]) -> (Happened, Store, Profile) {
    let recording = Recording::current().expect("there is memory");
    let installed = Profiler::new("invariants")
        .observe(methods("invariants::*"))
        .install()
        .expect("they are observed");
    let journal = Journal::default();
    for step in steps {
        let _ = catch_unwind(AssertUnwindSafe(|| step.call(&journal)));
    }
    assert_eq!(metaspy::current(), None, "whatever happened, the thread is back where it was");
    let profile = installed.uninstall();
    (journal.into_inner().expect("no panic while it was held"), recording.store(), profile)
}

/// Runs a property on 100 trees of calls, all in one recording.
fn for_any_steps(property: impl Fn(Vec<Step>) -> Result<(), TestCaseError>) {
    let _turn = turn();
    let config =
        ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    if let Err(failure) = runner.run(&vec(step(), 1..6), property) {
        panic!("{failure}");
    }
}

#[test]
fn causes_never_loop_and_an_effect_is_found_under_each_of_its_reasons() {
    for_any_steps(|steps| {
        let (happened, store, _) = record(&steps);
        let index = EffectsIndex::build(&store, |_, _| true).expect("the build is not cancelled");
        for &(id, key) in &happened.begun {
            let event = store.event(id).expect("nothing is lost");
            prop_assert_eq!(event.subject, Some(key.identify()));
            let mut causes = store.causes(id);
            let chain: Vec<EventId> = causes.by_ref().map(|cause| cause.id).collect();
            prop_assert_eq!(causes.origin(), metaspy::store::Origin::Root);
            prop_assert_eq!(chain.iter().collect::<BTreeSet<_>>().len(), chain.len());
            prop_assert!(!chain.contains(&id));
            for reason in event.cause.into_iter().chain(store.links(id)) {
                prop_assert!(
                    index.effects(reason).contains(&id),
                    "{} is an effect of {}",
                    id,
                    reason
                );
            }
            for cause in chain.iter().filter_map(|&cause| store.event(cause)) {
                prop_assert!(
                    cause.lane != event.lane || cause.id < id,
                    "in a lane an effect is the later one"
                );
            }
        }
        Ok(())
    });
}

/// The ticks in which at least one of these events was open, lane by lane. They come in the order
/// of their starts.
fn union<'e>(events: impl Iterator<Item = &'e Event>) -> u64 {
    let mut until = std::collections::BTreeMap::new();
    let mut sum = 0;
    for event in events {
        let until = until.entry(event.lane).or_insert(0);
        let end = event.start + event.span.unwrap_or(0);
        sum += end.saturating_sub(event.start.max(*until));
        *until = end.max(*until);
    }
    sum
}

#[test]
fn tallies_equal_the_events_when_nothing_was_lost() {
    for_any_steps(|steps| {
        let (happened, store, profile) = record(&steps);
        let totals = store.totals();
        prop_assert_eq!(
            (totals.lost, totals.unnamed, totals.emitted),
            (0, 0, totals.stored + totals.folded)
        );
        let epochs = profile.scope().epochs.clone();
        let events: Vec<Event> =
            events(&store).into_iter().filter(|event| epochs.contains(&event.epoch)).collect();
        prop_assert_eq!(events.len(), happened.begun.len());

        // Rows, events and what really happened are three accounts of the same calls.
        let rows = profile.counts().by_site_and_subject();
        prop_assert!(rows.exact);
        prop_assert_eq!(rows.rows.len(), happened.counts.len());
        for (&(site, key), &(count, failed, panicked)) in &happened.counts {
            let row = rows.rows.iter().find(|row| {
                let path = row.site.map_or("", |site| store.site_path(site));
                path.ends_with(SITES[site]) && row.subject == Some(key.identify())
            });
            let measure = row.expect("it was called").measure;
            let own = |event: &&Event| {
                Some(event.site) == row.and_then(|row| row.site)
                    && event.subject == Some(key.identify())
            };
            let ticks = events.iter().filter(own).filter_map(|event| event.span);
            let (total_ticks, max_ticks) =
                (union(events.iter().filter(own)), ticks.max().unwrap_or_default());
            let self_ticks = measure.self_ticks;
            let expected = Measure {
                count,
                failed,
                panicked,
                timed: count,
                total_ticks,
                max_ticks,
                self_ticks,
                window_self_ticks: self_ticks.unwrap_or_default(),
                ..Measure::default()
            };
            prop_assert_eq!(measure, expected);
            prop_assert!(self_ticks.is_some_and(|own| own <= total_ticks));
            let outcomes = |outcome| {
                events.iter().filter(own).filter(|event| event.outcome == outcome).count() as u64
            };
            prop_assert_eq!(
                (outcomes(Outcome::Failed), outcomes(Outcome::Panicked)),
                (failed, panicked)
            );
        }

        // However they are grouped, it is all of them; one with several root causes is in the row
        // of each.
        for by in [By::Site, By::Subject, By::RootCause] {
            let scope = Scope { epochs: epochs.clone(), ..Scope::default() };
            let tally = store.tally(by, &scope);
            let further =
                tally.rows.iter().map(|row| row.measure.count).sum::<u64>() - events.len() as u64;
            prop_assert!(
                further >= tally.shared && (further == 0) == (tally.shared == 0),
                "{:?}: {}",
                by,
                further
            );
            prop_assert!(by == By::RootCause || further == 0);
        }
        Ok(())
    });
}

/// Calls what causes the calls of another thread.
#[observe(subject = 9_u32)]
fn spawns(calls: impl FnOnce() + Send) {
    let cause = metaspy::current();
    let there = || {
        let _because = cause.map(because);
        calls();
    };
    std::thread::scope(|scope| scope.spawn(there).join()).expect("panics are caught");
}

/// The same steps in one thread.
fn in_one_thread(steps: &[Step]) -> Vec<Step> {
    let here =
        |step: &Step| Step { elsewhere: false, calls: in_one_thread(&step.calls), ..step.clone() };
    steps.iter().map(here).collect()
}

#[test]
fn totals_of_any_calls_that_left_the_window_are_the_time_in_which_one_was_open() {
    let _turn = crate::common::turn();
    // The ring holds some 20,000 events.
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let installed = Profiler::new("folded")
        .observe(methods("invariants::*"))
        .install()
        .expect("they are observed");
    let mut all: BTreeMap<EventId, Event> = BTreeMap::new();
    let mut exact = 0;
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let mut trees =
        || vec(step(), 1..6).new_tree(&mut runner).expect("a strategy has values").current();
    for round in 0..24 {
        let steps = in_one_thread(&trees());
        spawns(|| {
            let mut begun = 0;
            while begun < 2_000 {
                let journal = Journal::default();
                for step in &steps {
                    let _ = catch_unwind(AssertUnwindSafe(|| step.call(&journal)));
                }
                begun += journal.into_inner().expect("no panic while it was held").begun.len();
            }
        });
        let store = recording.store();
        all.extend(events(&store).into_iter().map(|event| (event.id, event)));
        assert_eq!(
            all.len() as u64,
            store.totals().emitted,
            "an event left the window before it was read"
        );
        if round % 4 != 3 {
            continue;
        }
        let mut in_order: Vec<&Event> = all.values().collect();
        in_order.sort_by_key(|event| (event.start, event.id));
        let run = union(in_order.iter().copied());
        for by in [By::Site, By::Subject, By::SiteSubject] {
            let tally = store.tally(by, &Scope::default());
            for row in &tally.rows {
                let is_of_row = |event: &&&Event| {
                    row.site.is_none_or(|site| site == event.site)
                        && (by == By::Site || row.subject == event.subject)
                };
                let expected = union(in_order.iter().filter(is_of_row).copied());
                let Measure { total_ticks, total_at_most, self_ticks, window_self_ticks, .. } =
                    row.measure;
                assert!(
                    total_ticks >= expected,
                    "{by:?} {row:?}: {expected} ticks after {} calls",
                    all.len()
                );
                assert!(
                    total_at_most || total_ticks == expected,
                    "{by:?} {row:?}: {expected} ticks, {} calls",
                    all.len()
                );
                assert!(
                    window_self_ticks <= total_ticks
                        && self_ticks.is_none_or(|own| own <= total_ticks)
                );
                exact += u64::from(!total_at_most);
            }
            let own: u64 = tally.rows.iter().map(|row| row.measure.window_self_ticks).sum();
            assert!(own <= run, "{by:?}: {own} of {run} ticks");
        }
    }
    assert!(recording.store().totals().folded > 20_000 && exact > 50, "{exact} totals were exact");
    drop(installed);
}
