//! Limits: more threads, events and profilers than there is room for, and no call that is not
//! counted.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::alone;
use crate::turn;
use metaspy::prelude::*;
use metaspy::recording::Policy;
use metaspy::store::{By, Filter, Position, RowOrder, Scope, TallyRow, Totals};
use metaspy::{Event, EventId, Lookups, Outcome, Store};

/// Every call stands in one place, and there were `calls` of them.
fn add_up(totals: Totals, calls: u64) {
    let Totals { emitted, stored, folded, counted, lost, unnamed, .. } = totals;
    assert_eq!(emitted, stored + folded + counted + lost + unnamed, "{totals:?}");
    assert_eq!(emitted, calls, "{totals:?}");
}

#[observe(subject = key)]
fn crowded(key: u64) -> u64 {
    key
}

/// Two thousand threads that all live until the last of them has called.
fn crowd(calls: u64) {
    const THREADS: usize = 2_000;
    let everybody = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let run = || {
                everybody.wait();
                (0..calls).for_each(|key| _ = crowded(key));
                everybody.wait();
            };
            std::thread::Builder::new()
                .stack_size(128 << 10)
                .spawn_scoped(scope, run)
                .unwrap_or_else(|error| {
                    panic!("thread {thread}: {error}");
                });
        }
    });
}

#[test]
fn two_thousand_live_threads_are_all_counted_under_16_mib() {
    alone(module_path!(), "two_thousand_live_threads_are_all_counted_under_16_mib", || {
        for mode in [Mode::Full, Mode::Sampled, Mode::Tally] {
            let recording = Recording::memory().budget(16 << 20).start().expect("there are 16 MiB");
            let installed =
                Profiler::new("crowd").observe(methods(site!(crowded)).mode(mode)).install();
            let installed = installed.expect("it is observed");
            crowd(300);
            // While the collector is still at work, counts are marked as inexact.
            while recording.collect() {}
            let store = recording.store();
            let totals = store.totals();
            add_up(totals, 2_000 * 300);
            let profile = installed.uninstall();
            let rows = profile.counts().by_site();
            let named = totals.emitted - totals.unnamed;
            let seen = (rows.rows[0].measure.count, rows.exact);
            assert_eq!(seen, (named, totals.unnamed == 0), "{mode:?} {totals:?}");
        }
    });
}

#[test]
fn install_ten_events_uninstall_costs_at_most_1_mib() {
    alone(module_path!(), "install_ten_events_uninstall_costs_at_most_1_mib", || {
        let Ok(before) = rss_anon_kib() else {
            return println!("SKIPPED: memory: no /proc/self/status");
        };
        let profiler = Profiler::new("ten")
            .observe(methods(site!(crowded)))
            .install()
            .expect("it is observed");
        (0..10).for_each(|key| _ = crowded(key));
        let profile = profiler.uninstall();
        assert_eq!(profile.counts().total(), 10);
        let grown = rss_anon_kib().expect("it was there before") - before;
        assert!(grown <= 1_024, "{grown} KiB");
    });
}

fn rss_anon_kib() -> Result<i64, std::io::Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| std::io::Error::other("no RssAnon"))
}

#[test]
fn profilers_are_uninstalled_in_any_order() {
    let _turn = turn();
    #[observe(subject = key)]
    fn shared_by_three(key: u32) -> u32 {
        key
    }
    static RAN: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        RAN.iter().for_each(|ran| ran.store(0, Relaxed));
        let install = |n: usize| {
            // Everybody, one subject, and a group, in three modes; each with a handler of its own.
            let calls = match n {
                0 => methods(site!(shared_by_three)).mode(Mode::Tally),
                1 => objects([1_u32], site!(shared_by_three)).sampled(4),
                _ => group(|subject| subject.key < 2, site!(shared_by_three)),
            };
            let calls = calls.after(move |_| _ = RAN[n].fetch_add(1, Relaxed));
            Some(Profiler::new(format!("{n}")).observe(calls).install().expect("it is observed"))
        };
        let mut installed = [0, 1, 2].map(install);
        let call = || (0..3).for_each(|key| _ = shared_by_three(key));
        for (step, n) in order.into_iter().enumerate() {
            call();
            let profile = installed[n].take().expect("it is uninstalled once").uninstall();
            let expected = (step as u64 + 1) * [3, 1, 2][n];
            assert_eq!(profile.counts().total(), expected, "{order:?}, {n}");
            assert_eq!(RAN[n].load(Relaxed), expected, "{order:?}, {n}");
        }
        call();
        let ran: u64 = RAN.iter().map(|ran| ran.load(Relaxed)).sum();
        assert_eq!(
            ran,
            order.iter().zip(1..).map(|(&n, step)| step * [3, 1, 2][n]).sum::<u64>(),
            "{order:?}"
        );
    }
}

#[test]
fn installing_and_uninstalling_loses_no_call_of_other_threads() {
    let _turn = turn();
    #[observe(subject = key)]
    fn called_all_the_while(key: u64) -> u64 {
        key
    }
    const CALLS: u64 = 20_000;
    let recording = Recording::memory().budget(8 << 20).start().expect("there are 8 MiB");
    let stays =
        Profiler::new("stays").observe(methods(site!(called_all_the_while)).mode(Mode::Tally));
    let stays = stays.install().expect("it is observed");
    let calling = AtomicU64::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                (0..CALLS).for_each(|key| _ = called_all_the_while(key % 8));
                calling.fetch_sub(1, Relaxed);
            });
        }
        while calling.load(Relaxed) > 0 {
            let calls =
                objects([3_u64], site!(called_all_the_while)).before(|_| panic!("on purpose"));
            let installed =
                Profiler::new("goes").observe(calls.details()).install().expect("it is observed");
            installed.uninstall();
        }
    });
    while recording.collect() {}
    add_up(recording.store().totals(), CALLS * 2);
    let profile = stays.uninstall();
    for key in 0..8_u64 {
        assert_eq!(profile.count_of(key), CALLS * 2 / 8);
    }
}

#[test]
fn ten_thousand_profilers_that_come_and_go_take_no_room_from_the_one_that_stays() {
    let _turn = turn();
    #[observe(subject = key)]
    fn called_by_all(key: u64) -> Result<u64, u64> {
        if key == 5 { Err(key) } else { Ok(key) }
    }
    const PROFILERS: u64 = 10_000;
    const KEYS: u64 = 8;
    let recording = Recording::memory().budget(8 << 20).start().expect("there are 8 MiB");
    let by_all = |mode| methods(site!(called_by_all)).mode(mode);
    let stays =
        Profiler::new("stays").observe(by_all(Mode::Tally)).install().expect("it is observed");
    let call_all = || (0..KEYS).for_each(|key| _ = called_by_all(key));
    std::thread::scope(|scope| {
        scope.spawn(|| (0..PROFILERS).for_each(|_| call_all()));
        for n in 0..PROFILERS {
            let mode = [Mode::Tally, Mode::Full, Mode::Sampled][n as usize % 3];
            let goes =
                Profiler::new("goes").observe(by_all(mode)).install().expect("it is observed");
            call_all();
            let profile = goes.uninstall();
            if n % 1_000 == 0 {
                assert!(profile.count_of(5_u64) >= 1, "{n}");
            }
            call_all();
        }
    });
    let still = stays.so_far();
    let calls = PROFILERS * 3;
    let by_subject = still.counts().by_subject();
    for key in 0..KEYS {
        assert_eq!(still.count_of(key), calls, "{by_subject}");
    }
    let failed = by_subject.of(5_u64).expect("it was called").measure.failed;
    assert_eq!((failed, by_subject.exact), (calls, true));
    while recording.collect() {}
    let totals = recording.store().totals();
    add_up(totals, calls * KEYS);
    assert_eq!(totals.unnamed, 0);
    assert!(recording.store().verify().is_sound(), "{:?}", recording.store().verify());
    assert_eq!(stays.uninstall().counts().total(), calls * KEYS);
}

/// What was seen of an event is still true of it, or it is gone.
fn is_true_or_gone(store: &Store, seen: &Event) -> bool {
    let Some(now) = store.event(seen.id) else { return false };
    let what = |event: &Event| {
        (event.site, event.subject, event.cause, event.lane, event.epoch, event.start)
    };
    assert_eq!(what(&now), what(seen));
    if !seen.is_running() && seen.outcome != Outcome::Moved {
        assert_eq!((now.outcome, now.span), (seen.outcome, seen.span));
    }
    true
}

#[test]
fn a_reader_slower_than_the_ring_sees_true_events_or_notes_their_loss() {
    let _turn = turn();
    #[observe(subject = key)]
    fn wrapped(key: u64) -> u64 {
        key
    }
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let _installed =
        Profiler::new("ring").observe(methods(site!(wrapped))).install().expect("it is observed");
    let (enough, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The ring holds some 20,000 events.
            while !enough.load(Relaxed) || calls.load(Relaxed) < 100_000 {
                wrapped(calls.fetch_add(1, Relaxed));
            }
        });
        let mut seen: HashMap<EventId, Event> = HashMap::new();
        let (mut still_there, mut gone) = (0_u64, 0_u64);
        for _ in 0..100_000 {
            let store = recording.store();
            let page = store.backward(Position::End, &Filter::all(), 50, 10_000);
            seen.extend(page.events.into_iter().map(|event| (event.id, event)));
            seen.retain(|_, event| {
                let found = is_true_or_gone(&store, event);
                *if found { &mut still_there } else { &mut gone } += 1;
                found
            });
            if still_there > 1_000 && gone > 1_000 {
                break;
            }
        }
        enough.store(true, Relaxed);
        assert!(still_there > 0 && gone > 0, "{still_there} were there, {gone} were gone");
    });
    while recording.collect() {}
    let store = recording.store();
    add_up(store.totals(), calls.load(Relaxed));
    assert!(store.verify().damaged.is_empty(), "{:?}", store.verify());
}

/// Pending for ever.
struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

#[test]
fn an_async_call_that_outlives_the_window_ends_on_whatever_thread_drops_it() {
    let _turn = turn();
    #[observe(subject = 77_u64)]
    async fn outlives() {
        Never.await
    }
    let recording =
        Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
    let profiler =
        Profiler::new("late").observe(methods("outlives")).observe(methods(site!(crowded)));
    let installed = profiler.install().expect("they are observed");
    let mut future = Box::pin(outlives());
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(metaspy::current(), None, "nothing lives across an await");
    for key in 0..60_000 {
        crowded(key % 10);
        if key % 500 == 0 {
            while recording.collect() {}
        }
    }
    assert_eq!(running(&recording.store()), 1);
    std::thread::spawn(move || drop(future)).join().expect("it is only dropped");
    let profile = installed.uninstall();
    let row = profile.counts().by_subject().of(77_u64).expect("it was called").measure;
    assert_eq!((row.count, row.cancelled, row.running, row.timed), (1, 1, 0, 1));
    assert_eq!(running(&recording.store()), 0);
    add_up(recording.store().totals(), 60_001);
}

fn running(store: &Store) -> u64 {
    store.tally(By::Site, &Scope::default()).rows.iter().map(|row| row.measure.running).sum()
}

#[test]
fn a_call_in_a_destructor_that_runs_on_an_ending_thread_is_counted() {
    let _turn = turn();
    struct Last(Cell<u64>);
    impl Drop for Last {
        fn drop(&mut self) {
            crowded(self.0.get());
        }
    }
    thread_local! {
        static LAST: Last = const { Last(Cell::new(0)) };
    }
    let recording = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let _installed =
        Profiler::new("last").observe(methods(site!(crowded))).install().expect("it is observed");
    for before in [true, false] {
        let run = move || {
            if before {
                crowded(1);
            }
            LAST.with(|last| last.0.set(5));
            crowded(2);
        };
        std::thread::spawn(run).join().expect("it does not panic");
    }
    add_up(recording.store().totals(), 5);
}

#[test]
fn events_of_sites_whose_names_found_no_room_are_no_damage() {
    // The names stay for the life of the process, and take the room of later recordings.
    alone(module_path!(), "events_of_sites_whose_names_found_no_room_are_no_damage", || {
        Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
        let caches: Vec<_> =
            (0..400).map(|cache| Lookups::new(format!("limits{cache:04000}").leak())).collect();
        let ((), profile) = Profiler::new("caches")
            .observe(methods("limits0*::*"))
            .profile(|| caches.iter().for_each(|cache| _ = cache.look_up(1_u64, || Some(1))))
            .expect("they are observed");
        let (store, header) = (profile.store(), profile.store().header());
        assert!(header.arena_lost > 0, "all names found room");
        // The block of the profile is an event, too.
        add_up(store.totals(), 401);
        let events = store.forward(Position::Start, &Filter::all(), 1_000, 10_000).events;
        assert!(
            events.iter().any(|event| store.site(event.site).is_none()),
            "all events have a name"
        );
        assert!(
            store.notes().iter().any(|note| note.contains("no room for more names")),
            "{:?}",
            store.notes()
        );
        assert!(store.verify().damaged.is_empty(), "{:?}", store.verify());
    });
}

#[test]
fn a_full_recording_of_1_mib_names_every_call_of_many_sites_and_threads() {
    alone(
        module_path!(),
        "a_full_recording_of_1_mib_names_every_call_of_many_sites_and_threads",
        || {
            const SITES: u64 = 100;
            const THREADS: u64 = 24;
            const KEYS: u64 = 50;
            let recording = Recording::memory()
                .budget(1 << 20)
                .policy(Policy::KeepOldest)
                .start()
                .expect("there is 1 MiB");
            let caches: Vec<_> =
                (0..SITES).map(|cache| Lookups::new(format!("many{cache}").leak())).collect();
            let installed = Profiler::new("many")
                .observe(methods("many*::*"))
                .install()
                .expect("they are observed");
            let call_all = || {
                (0..KEYS).for_each(|key| {
                    caches.iter().for_each(|cache| _ = cache.look_up(key, || Some(1)))
                })
            };
            let everybody = Barrier::new(THREADS as usize);
            let turn = Mutex::new(());
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        {
                            // Nobody finds the page of threads without room locked.
                            let _turn = turn.lock().expect("no thread panics");
                            call_all();
                        }
                        // No thread inherits the page of another one.
                        everybody.wait();
                    });
                }
            });
            while recording.collect() {}
            let totals = recording.store().totals();
            add_up(totals, SITES * THREADS * KEYS);
            assert!(totals.lost > 0 && totals.unnamed == 0, "{totals:?}");
            let profile = installed.uninstall();
            let by_site = profile.counts().by_site();
            assert_eq!(by_site.rows.len(), SITES as usize);
            assert!(
                by_site.rows.iter().all(|row| row.measure.count == THREADS * KEYS),
                "{by_site}"
            );
        },
    );
}

#[observe]
fn around(key: u64) -> u64 {
    crowded(key) + crowded(key % 100)
}

/// The first rows of a tally are the same, counted in parts and at once.
fn check_first_rows(store: &Store, by: By, rank: fn(&TallyRow) -> Option<u64>) {
    let name =
        |row: &TallyRow| row.subject.map(|subject| store.subject_text(subject)).unwrap_or_default();
    let mut tally = store.tally(by, &Scope::default());
    let mut rows = 0;
    let order = RowOrder { rank: &rank, name: &name };
    let first = store
        .first_rows(by, &Scope::default(), 30, &order, |_| rows += 1)
        .expect("they are counted in parts");
    assert_eq!((first.row_count, rows), (tally.rows.len(), tally.rows.len()));
    assert_eq!((first.exact, first.shares), (tally.exact, tally.shares()));
    let place = |row: &TallyRow| (row.site, row.subject);
    tally.rows.sort_by_cached_key(|row| {
        let numbers = std::cmp::Reverse((rank(row), row.measure.count));
        (numbers, name(row), place(row))
    });
    assert_eq!(first.rows, tally.rows[..first.rows.len()]);
}

#[test]
fn the_first_rows_of_many_subjects_are_those_of_all() {
    alone(module_path!(), "the_first_rows_of_many_subjects_are_those_of_all", || {
        for subjects in [100, 140_000] {
            let recording = Recording::memory().budget(64 << 20).start().expect("there are 64 MiB");
            let sites = Profiler::new("crowd")
                .observe(methods(site!(crowded)))
                .observe(methods(site!(around)));
            let installed = sites.install().expect("they are observed");
            (0..subjects).for_each(|key| _ = around(key));
            drop(installed);
            while recording.collect() {}
            recording.close();
            let store = recording.store();
            check_first_rows(&store, By::Subject, |row| Some(row.measure.count));
            check_first_rows(&store, By::SiteSubject, |row| Some(row.measure.total_ticks));
        }
    });
}
