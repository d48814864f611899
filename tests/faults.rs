//! Faults: code that panics where metaspy looks, and more of everything than there is room for.
#![cfg(feature = "record")]

mod common;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{self, Debug, Write};
use std::future::Future;
use std::path::Path;
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use common::{panics, quietly, watch};
use metaspy::prelude::*;
use metaspy::store::{By, Filter, Position, Scope, Totals};
use metaspy::{Event, EventId, Outcome, Store};

/// There is one log per process, so tests that start a recording take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test in a process of its own: this program, started again for it alone.
fn alone(test: &str, run: impl FnOnce()) {
    if std::env::var_os("METASPY_ALONE").is_some() {
        return run();
    }
    let mut again = Command::new(std::env::current_exe().expect("this is a program"));
    let output = again.args(["--exact", test, "--nocapture"]).env("METASPY_ALONE", "1").output().expect("it starts");
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}\n{said}\n{printed}", output.status);
    assert!(printed.contains("1 passed"), "there is a test of this name: {printed}");
}

/// Every call stands in one place, and there were `calls` of them.
fn add_up(totals: Totals, calls: u64) {
    let Totals { emitted, stored, folded, counted, lost, unnamed, .. } = totals;
    assert_eq!(emitted, stored + folded + counted + lost + unnamed, "{totals:?}");
    assert_eq!(emitted, calls, "{totals:?}");
}

/// Writes 100 MB; a patient one stops when it is told to.
struct Endless {
    patient: bool,
}

impl Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..100_000_000 / 1_000 {
            let written = f.write_str(&"é".repeat(500));
            if self.patient {
                written?;
            }
            let _ = f.write_char('!');
        }
        Ok(())
    }
}

#[test]
fn an_argument_that_prints_100_mb_is_cut_at_256_bytes_and_marked() {
    let _turn = turn();
    #[observe(args(thing), ret)]
    fn takes_endless(thing: Endless) -> Endless {
        thing
    }
    for patient in [true, false] {
        let seen = watch(methods("takes_endless").details(), "takes_endless", || {
            takes_endless(Endless { patient });
        });
        let details = seen.profile.store().details(seen.events[0].id);
        assert_eq!(details.len(), 2);
        for detail in details {
            assert_eq!((detail.value.as_str(), detail.cut), ("é".repeat(128).as_str(), true));
        }
    }
}

struct Bomb;

impl Debug for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tick")?;
        std::panic::panic_any(Bomb)
    }
}

/// A payload that panics as well: nobody can be rid of it quietly.
impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("even its end is a fault")
        }
    }
}

#[test]
fn an_argument_whose_debug_panics_is_marked_and_the_call_goes_on() {
    let _turn = turn();
    #[observe(args(bomb, n))]
    fn takes_bomb(bomb: &Bomb, n: u32) -> u32 {
        let _ = bomb;
        n + 1
    }
    let seen = watch(methods("takes_bomb").details(), "takes_bomb", || {
        let bomb = std::mem::ManuallyDrop::new(Bomb);
        assert_eq!(quietly(|| takes_bomb(&bomb, 2)), 3);
    });
    assert_eq!(seen.details(0), ["bomb=tick (its Debug panicked)", "n=2"]);
    let details = seen.profile.store().details(seen.events[0].id);
    assert_eq!((details[0].cut, details[1].cut), (true, false));
}

struct Mirror(u32);

impl Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looks at itself through the method whose argument and return value it is.
        write!(f, "mirror {}", self.shown(&Mirror(self.0 + 1)).0)
    }
}

#[observe]
impl Mirror {
    #[observe(args(other), ret)]
    fn shown(&self, other: &Mirror) -> Mirror {
        Mirror(self.0 + other.0)
    }
}

#[test]
fn an_argument_whose_debug_calls_the_observed_method_comes_to_an_end() {
    alone("an_argument_whose_debug_calls_the_observed_method_comes_to_an_end", || {
        let seen = watch(methods("Mirror::shown").details(), "Mirror::shown", || {
            Mirror(1).shown(&Mirror(2));
        });
        assert_eq!(seen.text(), "shown returned\n", "what Debug calls is metaspy's doing");
        assert_eq!(seen.details(0), ["other=mirror 5", "=mirror 7"]);
    });
}

#[observe(subject = key)]
fn decided(key: u32) -> bool {
    assert!(key < 7, "no such key");
    key.is_multiple_of(2)
}

#[test]
fn a_group_whose_predicate_calls_what_it_decides_about_comes_to_an_end() {
    alone("a_group_whose_predicate_calls_what_it_decides_about_comes_to_an_end", || {
        let belongs = |subject: Subject| decided(subject.key as u32);
        let seen = watch(group(belongs, site!(decided)), "decided", || {
            assert_eq!([2, 3, 2].map(decided), [true, false, true]);
            panics(|| _ = decided(8));
        });
        assert_eq!(seen.text(), "decided returned\ndecided returned\n", "a predicate that panics says no");
        assert_eq!((seen.profile.count_of(2_u32), seen.profile.counts().total()), (2, 2));
    });
}

#[observe(subject = asked_itself(key + 1) + 1)]
fn asked_itself(key: u32) -> u32 {
    if key == 11 { std::panic::panic_any(Bomb) } else { key }
}

#[test]
fn a_subject_expression_may_call_its_own_method_and_may_panic_with_anything() {
    alone("a_subject_expression_may_call_its_own_method_and_may_panic_with_anything", || {
        let seen = watch(methods(site!(asked_itself)), "asked_itself", || {
            assert_eq!(asked_itself(3), 3);
            quietly(|| assert_eq!(asked_itself(10), 10));
        });
        let subjects: Vec<_> = seen.events.iter().map(|event| event.subject).collect();
        assert_eq!(subjects, [Some(5_u32.identify()), None]);
        assert_eq!(seen.text(), "asked_itself returned\nasked_itself returned\n");
        assert_eq!(seen.profile.store().header().handler_panics, 1);
    });
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
            std::thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, run).unwrap_or_else(|error| {
                panic!("thread {thread}: {error}");
            });
        }
    });
}

#[test]
fn two_thousand_live_threads_are_all_counted_under_16_mib() {
    alone("two_thousand_live_threads_are_all_counted_under_16_mib", || {
        for mode in [Mode::Full, Mode::Sampled, Mode::Tally] {
            let recording = Recording::memory().budget(16 << 20).start().expect("there are 16 MiB");
            let installed = Profiler::new("crowd").observe(methods(site!(crowded)).mode(mode)).install();
            let installed = installed.expect("it is observed");
            crowd(300);
            let store = recording.store();
            let totals = store.totals();
            add_up(totals, 2_000 * 300);
            let rows = installed.uninstall().counts().by_site().rows.clone();
            assert_eq!(rows[0].measure.count, totals.emitted - totals.unnamed, "{mode:?} {totals:?}");
            println!("{mode:?}: {totals:?}");
        }
    });
}

#[test]
fn install_ten_events_uninstall_costs_at_most_1_mib() {
    alone("install_ten_events_uninstall_costs_at_most_1_mib", || {
        let Ok(before) = rss_anon_kib() else { return println!("SKIPPED: memory: no /proc/self/status") };
        let profiler = Profiler::new("ten").observe(methods(site!(crowded))).install().expect("it is observed");
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
        assert_eq!(ran, order.iter().zip(1..).map(|(&n, step)| step * [3, 1, 2][n]).sum::<u64>(), "{order:?}");
    }
}

/// What was seen of an event is still true of it, or it is gone.
fn is_true_or_gone(store: &Store, seen: &Event) -> bool {
    let Some(now) = store.event(seen.id) else { return false };
    let what = |event: &Event| (event.site, event.subject, event.cause, event.lane, event.epoch, event.start);
    assert_eq!(what(&now), what(seen));
    if !seen.is_running() && seen.outcome != Outcome::Moved {
        assert_eq!((now.outcome, now.span), (seen.outcome, seen.span));
    }
    true
}

#[test]
fn a_reader_slower_than_the_ring_sees_what_is_true_or_that_it_is_gone() {
    let _turn = turn();
    #[observe(subject = key)]
    fn wrapped(key: u64) -> u64 {
        key
    }
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let _installed = Profiler::new("ring").observe(methods(site!(wrapped))).install().expect("it is observed");
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
        for _ in 0..2_000 {
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
    let store = recording.store();
    add_up(store.totals(), calls.load(Relaxed));
    assert!(store.verify().damaged.is_empty(), "{:?}", store.verify());
}

#[test]
fn a_panic_in_a_handler_never_reaches_the_application() {
    alone("a_panic_in_a_handler_never_reaches_the_application", || {
        #[observe]
        async fn handled_later() -> u32 {
            2
        }
        let faulty = |sites: &str| {
            methods(sites).before(|_| std::panic::panic_any(Bomb)).after(|_| panic!("after, too")).before(|_| ())
        };
        let profiler = Profiler::new("faulty").observe(faulty("crowded")).observe(faulty("handled_later"));
        let installed = profiler.install().expect("panics are caught");
        quietly(|| {
            assert_eq!(crowded(1), 1);
            let answer = pin!(handled_later()).poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(answer, Poll::Ready(2));
        });
        let profile = installed.uninstall();
        assert_eq!(profile.counts().total(), 2);
        let store = profile.store();
        assert_eq!(store.header().handler_panics, 4);
        assert!(store.notes().iter().any(|note| note.starts_with("A handler panicked")), "{:?}", store.notes());
        assert_eq!(crowded(1), 1);
        assert_eq!(metaspy::current(), None);
    });
}

#[test]
fn under_panic_abort_handlers_are_refused_unless_the_program_insists() {
    let run = |insists: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["run", "--offline", "--quiet"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abort"))
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort"))
            .env("METASPY_HANDLERS_MAY_ABORT", insists)
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs, as it runs this test");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let refused = run("0");
    assert!(refused.starts_with("refused: ") && refused.contains("panic = \"abort\""), "{refused}");
    assert_eq!(run("1"), "handled\n");
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
    let recording = Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
    let profiler = Profiler::new("late").observe(methods("outlives")).observe(methods(site!(crowded)));
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
    let _installed = Profiler::new("last").observe(methods(site!(crowded))).install().expect("it is observed");
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
