//! The log from hook to store: what is written is what is read, whatever happens in between.

use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Group, Mode, Subjects};
use metaspy_core::hook::{self, Call};
use metaspy_core::instrumenter::Hooks;
use metaspy_core::recording::Policy;
use metaspy_core::store::{By, Filter, Position, Scope, Store};
use metaspy_core::{
    Event, InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef, SiteKind, Subject,
};

macro_rules! sites {
    ($($name:ident),*) => {$(
        #[metaspy_core::site::linkme::distributed_slice(metaspy_core::site::SITES)]
        #[linkme(crate = metaspy_core::site::linkme)]
        static $name: Site = Site::new(SiteDef {
            kind: SiteKind::Method,
            module: "log",
            name: stringify!($name),
            file: file!(),
            lines: (line!(), line!()),
            skipped: None,
        });
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
    fn install(&mut self, session: &mut Session) -> Result<Hooks, InstallError> {
        for site in &self.0 {
            session.arm(site, self.1.clone())?;
        }
        Ok(Hooks::none())
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
    let outcomes: Vec<Outcome> = events(&recording.store()).iter().map(|event| event.outcome).collect();
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
    assert_eq!(totals.emitted, totals.stored + totals.folded + totals.counted + totals.lost + totals.unnamed);
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
    let recording = Recording::memory().budget(1 << 20).policy(policy).collector(false).start().unwrap();
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
fn chosen_subjects_and_groups_are_observed_and_nobody_else() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let only = arm([&OUTER], Arming::only(Mode::Full, vec![node(5), node(900)])).install().unwrap();
    let even = Subjects::Group(Group::new(|subject| subject.key % 2 == 0));
    let group = arm([&INNER], Arming { subjects: even, ..Arming::all(Mode::Full) }).install().unwrap();
    for key in 0..1_000 {
        call(&OUTER, node(key), || ());
        call(&INNER, node(key), || ());
    }
    let (only, group) = (only.uninstall(), group.uninstall());
    assert_eq!(only.counts().total(), 2);
    assert_eq!((only.count_of(node(5)), only.count_of(node(6))), (1, 0));
    assert_eq!(group.counts().total(), 500);
    assert_eq!(recording.store().totals().stored, 502);
}

#[test]
fn profilers_share_events_and_each_sees_its_own_part() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let everybody = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    call(&OUTER, node(1), || ());
    let late = arm([&OUTER], Arming::only(Mode::Full, vec![node(1)])).install().unwrap();
    call(&OUTER, node(1), || ());
    call(&OUTER, node(2), || ());
    // Uninstalled in another order than installed.
    let everybody = everybody.uninstall();
    call(&OUTER, node(1), || ());
    call(&OUTER, node(2), || ());
    let late = late.uninstall();
    assert_eq!((everybody.counts().total(), late.counts().total()), (3, 2));
    assert_eq!(recording.store().totals().stored, 4);
    assert!(!OUTER.is_armed());
}

#[test]
fn eight_threads_that_profile_the_same_method_each_read_their_own_count() {
    let _turn = turn();
    let _recording = Recording::memory().budget(16 << 20).start().unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=8_u64 {
            scope.spawn(move || {
                let profiler = arm([&INNER], Arming::all(Mode::Full));
                let (_, profile) = profiler
                    .profile(|| {
                        for at in 0..thread * 100 {
                            call(&INNER, node(at % 3), || ());
                        }
                    })
                    .unwrap();
                let rows = profile.counts().by_site();
                assert!(rows.exact);
                assert_eq!(rows.at("INNER").unwrap().measure.count, thread * 100);
            });
        }
    });
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
    let (outer, inner) = (rows.at("OUTER").unwrap().measure.count, rows.at("INNER").unwrap().measure.count);
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
    let meta = recording.store().forward(Position::Start, &"level:>0".parse().unwrap(), 10, usize::MAX).events;
    assert_eq!(meta.len(), 1);
}

#[test]
fn the_causes_of_a_block_are_the_calls_that_it_made() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let (_, profile) = arm([&OUTER, &INNER], Arming::all(Mode::Full))
        .profile(|| {
            (0..4).for_each(|_| call(&INNER, node(1), || ()));
            (0..5).for_each(|_| call(&OUTER, node(2), || call(&INNER, node(3), || ())));
        })
        .unwrap();
    let causes = profile.counts().by_cause();
    assert_eq!(causes.at("INNER").unwrap().measure.count, 4);
    assert_eq!(causes.at("OUTER").unwrap().measure.count, 10);
}

#[test]
fn a_block_is_profiled_by_events_even_where_a_tally_was_asked_for() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let (_, profile) =
        arm([&INNER], Arming::all(Mode::Tally)).profile(|| (0..7).for_each(|_| call(&INNER, node(1), || ()))).unwrap();
    assert_eq!(profile.count_of(node(1)), 7);
}

#[test]
fn what_was_counted_before_a_profiler_is_not_its_own() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let first = arm([&INNER], Arming::all(Mode::Tally)).install().unwrap();
    (0..7).for_each(|_| call(&INNER, node(1), || ()));
    assert_eq!(first.uninstall().count_of(node(1)), 7);
    let second = arm([&INNER], Arming::all(Mode::Tally)).install().unwrap();
    (0..5).for_each(|_| call(&INNER, node(1), || ()));
    assert_eq!(second.so_far().count_of(node(1)), 5);
    assert_eq!(second.uninstall().count_of(node(1)), 5);
}

#[test]
fn a_subject_that_may_be_among_the_others_of_its_site_is_not_counted_exactly() {
    let _turn = turn();
    let policy = Policy::KeepOldest;
    let recording = Recording::memory().budget(1 << 20).policy(policy).collector(false).start().unwrap();
    let _installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    (0..60_000).for_each(|at| call(&OUTER, node(at % 10_000), || ()));
    let of = |filter: &str| {
        let scope = Scope::of(filter.parse().unwrap());
        let tally = recording.store().tally(By::Site, &scope);
        (tally.rows.iter().map(|row| row.measure.count).sum::<u64>(), tally.exact)
    };
    assert_eq!(of("site:OUTER"), (60_000, true));
    let (known, exact) = of("subject:#0");
    assert!(known <= 6 && !exact, "{known}");
    assert!(!of("kind:Node").1);
}
