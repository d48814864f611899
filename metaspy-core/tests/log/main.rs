//! The log from hook to store: what is written is what is read, whatever happens in between.

mod announced;
mod kept;
#[cfg(unix)]
mod killed_folds;
mod lean;
mod live_copies;
mod own_folds;
mod profiles;
mod registers;
mod shared_rows;
mod statements;
mod subscriptions;

use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Group, Mode, Subjects};
use metaspy_core::hook::{self, Call};
use metaspy_core::instrumenter::Installation;
use metaspy_core::recording::Policy;
use metaspy_core::store::{By, Filter, Position, Scope, Store};
use metaspy_core::{
    Event, InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef,
    SiteKind, Subject,
};

macro_rules! sites {
    ($($name:ident),*) => {$(
        metaspy_core::site::register! {
            static $name: Site = Site::new(SiteDef {
                kind: SiteKind::Method,
                module: "log",
                name: stringify!($name),
                file: file!(),
                lines: (line!(), line!()),
                skipped: None,
            });
        }
    )*};
}

sites!(OUTER, INNER, NEVER);

static NODE: Kind = Kind::new("Node");

fn node(key: u64) -> Subject {
    Subject::new(NODE.id(), key)
}

/// There is one log per process, so these tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Arm(Vec<&'static Site>, Arming);

impl Instrumenter for Arm {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        for site in &self.0 {
            session.arm(site, self.1.clone())?;
        }
        Ok(Installation::none())
    }
}

fn arm<const N: usize>(sites: [&'static Site; N], arming: Arming) -> Profiler {
    Profiler::new("test").observe(Arm(sites.to_vec(), arming))
}

fn enter(site: &'static Site, subject: Subject) -> Call {
    if site.is_armed() { hook::enter(site, subject) } else { Call::inert() }
}

fn call<R>(site: &'static Site, subject: Subject, body: impl FnOnce() -> R) -> R {
    let call = enter(site, subject);
    let value = body();
    call.done(Outcome::Returned);
    value
}

fn events(store: &Store) -> Vec<Event> {
    store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events
}

#[test]
fn a_nested_call_has_the_outer_one_as_its_cause() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    call(&OUTER, node(1), || call(&INNER, node(2), || ()));
    let store = recording.store();
    let events = events(&store);
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].cause, events[1].cause), (None, Some(events[0].id)));
    assert_eq!((events[0].subject, events[1].subject), (Some(node(1)), Some(node(2))));
    assert!(events[0].span >= events[1].span && events[1].span.is_some());
    assert_eq!(store.site_path(events[1].site), "log::INNER");
    assert_eq!(store.effects(events[0].id), [events[1].id]);
}

#[test]
fn a_panic_ends_its_event_as_panicked_and_a_destructor_during_it_does_not() {
    let _turn = turn();
    struct Observed;
    impl Drop for Observed {
        fn drop(&mut self) {
            let _returns = enter(&INNER, node(2));
        }
    }
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let caught = std::panic::catch_unwind(|| {
        let _call = enter(&OUTER, node(1));
        let _observed = Observed;
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(caught.is_err());
    let outcomes: Vec<Outcome> =
        events(&recording.store()).iter().map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Outcome::Panicked, Outcome::Returned]);
}

#[test]
fn a_small_ring_folds_the_oldest_and_every_call_is_counted_once() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).collector(false).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let calls = 60_000;
    for at in 0..calls {
        call(&OUTER, node(at % 10), || call(&INNER, node(at % 7), || ()));
        if at % 1_000 == 0 {
            while recording.collect() {}
        }
    }
    let totals = recording.store().totals();
    assert!(totals.folded > 0 && totals.stored > 0, "{totals:?}");
    assert_eq!(
        totals.emitted,
        totals.stored + totals.folded + totals.counted + totals.lost + totals.unnamed
    );
    assert_eq!(totals.emitted, 2 * calls, "{totals:?}");
    let profile = installed.uninstall();
    assert_eq!(profile.count_of(node(3)), calls / 10 + calls / 7 + u64::from(3 < calls % 7));
    let sites = profile.counts().by_site();
    assert!(sites.exact);
    assert_eq!(sites.at("OUTER").unwrap().measure.count, calls);
}

#[test]
fn a_full_log_that_keeps_the_oldest_counts_what_it_cannot_store() {
    let _turn = turn();
    let policy = Policy::KeepOldest;
    let recording =
        Recording::memory().budget(1 << 20).policy(policy).collector(false).start().unwrap();
    let installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    let calls = 50_000;
    for at in 0..calls {
        call(&OUTER, node(at % 100), || ());
    }
    let totals = recording.store().totals();
    assert!(totals.lost > 0, "{totals:?}");
    assert_eq!(totals.stored + totals.lost, calls, "{totals:?}");
    let profile = installed.uninstall();
    assert!((0..100).all(|key| profile.count_of(node(key)) == calls / 100));
}

#[test]
fn tally_mode_counts_without_events() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let installed = arm([&OUTER], Arming::all(Mode::Tally)).install().unwrap();
    for at in 0..30_000 {
        call(&OUTER, node(at % 300), || ());
    }
    drop(enter(&OUTER, node(1)));
    let mut failing = enter(&OUTER, node(2));
    failing.exit(Outcome::Failed);
    drop(failing);
    let totals = recording.store().totals();
    assert_eq!((totals.stored, totals.counted), (0, 30_002), "{totals:?}");
    let profile = installed.uninstall();
    assert_eq!(profile.count_of(node(1)), 101);
    let rows = profile.counts().by_subject();
    assert_eq!(rows.of(node(2)).unwrap().measure.failed, 1);
    assert_eq!(rows.of(node(3)).unwrap().measure.timed, 0);
}

#[test]
fn more_threads_than_the_recording_has_pages_for_are_counted_or_the_count_is_marked() {
    const THREADS: u64 = 300;
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER], Arming::all(Mode::Tally)).install().unwrap();
    let barrier = std::sync::Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let barrier = &barrier;
            std::thread::Builder::new()
                .stack_size(128 << 10)
                .spawn_scoped(scope, move || {
                    call(&OUTER, node(thread % 3), || barrier.wait());
                    call(&OUTER, node(thread % 3), || ());
                })
                .unwrap();
        }
    });
    let store = recording.store();
    let totals = store.totals();
    let tally = store.tally(By::Site, &Scope::default());
    let measure = &tally.rows.iter().find(|row| row.measure.count > 0).unwrap().measure;
    assert_eq!(measure.count + totals.unnamed, 2 * THREADS, "{totals:?}");
    assert_eq!(measure.at_least, totals.unnamed > 0);
    assert!(measure.count > THREADS * 9 / 5, "{totals:?}");
}

#[test]
fn sampled_calls_are_all_linked_and_some_are_timed() {
    let _turn = turn();
    let recording = Recording::memory().budget(16 << 20).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Sampled)).install().unwrap();
    for at in 0..8_000 {
        call(&OUTER, node(at % 10), || call(&INNER, node(1), || ()));
    }
    let events = events(&recording.store());
    assert_eq!(events.len(), 16_000);
    assert!(events.iter().filter(|event| event.cause.is_none()).count() == 8_000);
    let timed = events.iter().filter(|event| event.timed).count();
    assert!((500..1_500).contains(&timed), "{timed} of 16,000 were timed");
    drop(installed);
}

#[test]
fn a_site_that_never_ran_is_listed() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let store = recording.store();
    assert!(store.sites().iter().any(|site| site.path == "log::NEVER"));
    assert!(!NEVER.is_armed());
}

#[test]
fn an_event_that_outlives_the_window_keeps_its_end() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).collector(false).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let mut long = enter(&OUTER, node(77));
    for at in 0..60_000 {
        call(&INNER, node(at % 10), || ());
        if at % 500 == 0 {
            while recording.collect() {}
        }
    }
    let rows = installed.so_far().counts().by_subject().of(node(77)).unwrap().measure;
    assert_eq!((rows.count, rows.running), (1, 1));
    long.exit(Outcome::Failed);
    drop(long);
    let profile = installed.uninstall();
    let row = profile.counts().by_subject().of(node(77)).unwrap().measure;
    assert_eq!((row.count, row.running, row.failed, row.timed), (1, 0, 1, 1));
    assert!(row.total_ticks > 0);
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, 60_001, "{totals:?}");
}

#[test]
fn threads_that_write_read_and_fold_at_once_lose_no_call() {
    let _turn = turn();
    let recording = Recording::memory().budget(2 << 20).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let (threads, calls) = (4_u64, 100_000_u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for at in 0..calls {
                    call(&OUTER, node(thread), || call(&INNER, node(at % 50), || ()));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20 {
                let store = recording.store();
                for event in store.backward(Position::End, &Filter::all(), 1_000, 100_000).events {
                    assert!(event.subject.is_some_and(|subject| subject.key < 50));
                }
            }
        });
    });
    // While the collector folds, counts are marked as inexact.
    while recording.collect() {}
    let totals = recording.store().totals();
    assert_eq!((totals.emitted, totals.exact), (threads * calls * 2, true), "{totals:?}");
    let profile = installed.uninstall();
    let rows = profile.counts().by_site();
    let (outer, inner) =
        (rows.at("OUTER").unwrap().measure.count, rows.at("INNER").unwrap().measure.count);
    assert!(outer <= threads * calls && inner <= threads * calls);
    // On a machine that is very busy a call may find no row that it can have without waiting.
    assert_eq!(outer + inner + totals.unnamed, totals.emitted);
    assert_eq!(rows.exact, totals.unnamed == 0);
    let ends = rows.at("INNER").unwrap().measure;
    assert_eq!(ends.running, 0);
}

#[test]
fn links_and_named_causes_are_read_back() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let first = hook::instant(&OUTER, node(1)).unwrap();
    let second = hook::instant(&OUTER, node(2)).unwrap();
    {
        let _because = metaspy_core::because(first);
        let effect = enter(&INNER, node(3));
        assert!(metaspy_core::link(effect.event().unwrap(), second));
        effect.done(Outcome::Returned);
    }
    let store = recording.store();
    let effect = events(&store).into_iter().find(|event| event.subject == Some(node(3))).unwrap();
    assert_eq!(effect.cause, Some(first));
    assert_eq!(store.links(effect.id), [second]);
    assert_eq!(metaspy_core::current(), None);
}

#[test]
fn a_handler_runs_around_calls_at_meta_level_and_its_panic_is_caught() {
    let _turn = turn();
    use metaspy_core::hook::Handler;
    use std::sync::atomic::{AtomicU64, Ordering};
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let before = Handler::before(|view| {
        SEEN.fetch_add(1, Ordering::Relaxed);
        assert!(view.event.is_some());
        // What a handler calls is not observed by handlers, and left out of profiles.
        call(&INNER, node(9), || ());
        panic!("a handler's own fault");
    });
    let after = Handler::after(|view| {
        assert_eq!(view.outcome, Some(Outcome::Returned));
        SEEN.fetch_add(100, Ordering::Relaxed);
    });
    let arming = Arming { handlers: vec![before, after], ..Arming::all(Mode::Full) };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let installed = arm([&OUTER], arming).install().unwrap();
    let _inner = arm([&INNER], Arming::all(Mode::Full)).install().unwrap();
    call(&OUTER, node(1), || ());
    let profile = installed.uninstall();
    call(&OUTER, node(1), || ());
    std::panic::set_hook(hook);
    assert_eq!(SEEN.load(Ordering::Relaxed), 101);
    assert_eq!(profile.counts().total(), 1);
    assert_eq!(recording.store().totals().stored, 2);
    let meta = recording
        .store()
        .forward(Position::Start, &"level:>0".parse().unwrap(), 10, usize::MAX)
        .events;
    assert_eq!(meta.len(), 1);
}
