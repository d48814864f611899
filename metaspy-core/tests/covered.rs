//! Hooks that show a profiler on which objects calls begin: each function stands here twice, with
//! such a hook and with one that sees the whole call, and the profiler knows the same of both.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use metaspy_core::method_profilers::{Calls, TestCoverage};
use metaspy_core::store::{By, Scope, Store, TallyRow};
use metaspy_core::{Installed, Profiler, Recording};

/// As the weaver writes it.
macro_rules! covered {
    ($name:literal, [$($object:tt)*]) => {
        metaspy_probe::covered!($name, 1, 2, "c=1 self=ref vis=pub entry covered", [$($object)*]);
    };
}

macro_rules! whole {
    ($name:literal, [$($object:tt)*]) => {
        metaspy_probe::hook!($name, 1, 2, "c=1 self=ref vis=pub", [$($object)*], []);
    };
}

/// An object with a size, and one that has its address.
struct Thing(u64);
#[repr(transparent)]
struct Wrapped(Thing);
/// Many may have one address.
struct Nothing;

trait Asked {
    /// One site for all types.
    #[inline(never)]
    fn asked(&self) -> u64 {
        covered!("asked", [place self]);
        whole!("asked_whole", [place self]);
        1
    }
}

impl Asked for Thing {}
impl Asked for Wrapped {}
impl Asked for Nothing {}
impl Asked for [u8] {}

impl Thing {
    /// Each argument is in a register, and none may be lost.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "as many as there are registers")]
    fn sums(
        &self,
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        e: u64,
        x: f64,
        y: f64,
        z: f64,
        v: f32,
        w: f32,
    ) -> f64 {
        covered!("sums", [place self]);
        (self.0 + 2 * a + 3 * b + 4 * c + 5 * d + 6 * e) as f64
            + 7.0 * x
            + 8.0 * y
            + 9.0 * z
            + 10.0 * f64::from(v)
            + 11.0 * f64::from(w)
    }
}

#[inline(never)]
fn recurses(depth: u64) -> u64 {
    covered!("recurses", []);
    whole!("recurses_whole", []);
    if depth == 0 { 0 } else { 1 + recurses(depth - 1) }
}

#[inline(never)]
fn fails() {
    covered!("fails", []);
    whole!("fails_whole", []);
    panic!("on purpose");
}

/// One test at a time observes the sites.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn install() -> Installed {
    Profiler::new("covered").method_profiler(TestCoverage::default()).install().expect("it can be")
}

/// The calls of each function.
fn calls(store: &Store) -> BTreeMap<String, u64> {
    let tally = store.tally(By::Site, &Scope::default());
    assert!(tally.exact && store.verify().is_sound());
    let name = |row: &TallyRow| {
        let path = store.site_path(row.site.expect("it is about a site"));
        path.rsplit("::").next().unwrap_or_default().to_owned()
    };
    tally
        .rows
        .iter()
        .filter(|row| row.measure.count > 0)
        .map(|row| (name(row), row.measure.count))
        .collect()
}

/// Uninstalls, and returns the calls and the receivers of a function, which are those of the other
/// one with its body.
fn known(installed: Installed, name: &str) -> (u64, usize) {
    let profile = installed.uninstall();
    let mirror = profile.mirror::<TestCoverage>().expect("it was installed");
    let calls = calls(profile.store());
    let of = |name: &str| {
        let method =
            mirror.methods().iter().find(|method| method.facts.name == name).expect("it is there");
        (calls.get(name).copied().unwrap_or(0), method.data.receivers.len())
    };
    let found = of(name);
    assert_eq!(found, of(&format!("{name}_whole")));
    found
}

#[test]
fn each_call_counts_and_objects_are_told_apart() {
    let _turn = turn();
    for (objects, receivers) in
        [(1, 1), (2, 2), (60, 60), (99, 99), (100, 100), (150, 100), (3_000, 100)]
    {
        let _recording = Recording::memory().start().expect("there is memory");
        let installed = install();
        let things: Vec<Thing> = (0..objects).map(Thing).collect();
        for _ in 0..20 {
            assert_eq!(things.iter().map(Asked::asked).sum::<u64>(), objects);
        }
        // In another order, and from the last to the first.
        things.iter().rev().chain(things.iter().step_by(7)).for_each(|thing| _ = thing.asked());
        assert_eq!(
            known(installed, "asked"),
            (objects * 21 + objects.div_ceil(7), receivers),
            "{objects} objects"
        );
    }
}

#[test]
fn types_at_one_address_and_objects_without_a_size_are_told_apart() {
    let _turn = turn();
    let _recording = Recording::memory().start().expect("there is memory");
    let installed = install();
    let (wrapped, list) = (Wrapped(Thing(1)), vec![0_u8; 9]);
    for _ in 0..50 {
        wrapped.asked();
        wrapped.0.asked();
        Nothing.asked();
        list[..].asked();
        list[..0].asked();
    }
    let (calls, receivers) = known(installed, "asked");
    assert_eq!((calls, receivers), (250, 3));
}

#[test]
fn each_call_counts_however_it_ends_and_on_all_threads() {
    let _turn = turn();
    let _recording = Recording::memory().start().expect("there is memory");
    let installed = install();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(recurses(99), 99);
                (0..10).for_each(|_| assert!(catch_unwind(fails).is_err()));
                assert_eq!(recurses(9), 9);
            });
        }
    });
    let profile = installed.uninstall();
    let calls = calls(profile.store());
    let of = |name: &str| (calls[name], calls[&format!("{name}_whole")]);
    assert_eq!((of("recurses"), of("fails")), ((440, 440), (40, 40)));
}

#[test]
fn the_function_keeps_its_registers() {
    let _turn = turn();
    let _recording = Recording::memory().start().expect("there is memory");
    let things = [Thing(1), Thing(2), Thing(3)];
    let sum = |thing: &Thing| thing.sums(1, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5, 5.5);
    let plain = things.each_ref().map(sum);
    let installed = install();
    for _ in 0..200 {
        assert_eq!(things.each_ref().map(sum), plain);
    }
    let profile = installed.uninstall();
    assert_eq!(calls(profile.store())["sums"], 600);
}

#[test]
fn recordings_and_profilers_follow_each_other() {
    let _turn = turn();
    let first = Recording::memory().start().expect("there is memory");
    let things: Vec<Thing> = (0..5).map(Thing).collect();
    let ask = |times: usize| (0..times).for_each(|at| _ = things[at % 5].asked());
    let installed = install();
    ask(100);
    let another = install();
    ask(50);
    drop(another);
    ask(25);
    let second = Recording::memory().start().expect("there is memory");
    ask(10);
    let installed_calls = calls(&first.store())["asked"];
    drop(installed);
    ask(1_000);
    assert_eq!((installed_calls, calls(&second.store())["asked"]), (175, 10));
}

static HANDLED: AtomicU64 = AtomicU64::new(0);
static OF_HANDLER: [Thing; 40] = [const { Thing(7) }; 40];

#[cfg(unix)]
extern "C" fn handle(_: libc::c_int) {
    let at = HANDLED.fetch_add(1, Relaxed) as usize;
    OF_HANDLER[at % 40].asked();
    OF_HANDLER[at % 40].sums(1, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5, 5.5);
}

#[cfg(unix)]
#[test]
fn calls_in_signal_handlers_are_counted_at_their_sites() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is memory");
    let installed = install();
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler calls hooks and touches an atomic.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: it reports the calling thread.
    let interrupted = unsafe { libc::pthread_self() };
    let is_done = AtomicBool::new(false);
    let things: Vec<Thing> = (0..40).map(Thing).collect();
    let made = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(interrupted, libc::SIGUSR1) };
                thread::yield_now();
            }
        });
        let mut made = 0;
        while HANDLED.load(Relaxed) < 500 {
            made += things.iter().map(Asked::asked).sum::<u64>();
        }
        is_done.store(true, Relaxed);
        made
    });
    drop(installed);
    let (store, handled) = (recording.store(), HANDLED.load(Relaxed));
    let tally = store.tally(By::Site, &Scope::default());
    let counted = |name: &str| {
        let is_it =
            |row: &&TallyRow| row.site.is_some_and(|site| store.site_path(site).ends_with(name));
        tally.rows.iter().find(is_it).map_or(0, |row| row.measure.count)
    };
    let [asked, whole, sums] = ["::asked", "::asked_whole", "::sums"].map(counted);
    assert!(
        asked <= made + handled && whole <= made + handled && sums <= handled,
        "{asked} {whole} {sums}"
    );
    // A call that interrupts a hook is known by its number alone.
    assert_eq!(asked + whole + sums + store.header().reentrant, 2 * (made + handled) + handled);
    assert_eq!(store.totals().emitted, 2 * (made + handled) + handled);
}

#[test]
fn what_sees_more_than_beginnings_is_refused() {
    let _turn = turn();
    let _recording = Recording::memory().start().expect("there is memory");
    let refused = Profiler::new("calls").method_profiler(Calls::default()).install();
    assert!(refused.is_err_and(|error| error.to_string().contains("covered::")));
}
