//! Hooks that count calls in their calling contexts and see nothing else: the tree is that of the
//! calls, however they end.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use metaspy_core::method_profilers::{Calls, Contexts};
use metaspy_core::store::{ProfileTable, RowKey};
use metaspy_core::{Installed, Profiler, Recording, Store};

/// As the weaver writes it.
macro_rules! context {
    ($name:literal) => {
        metaspy_probe::context!($name, 1, 2, "c=1 self=none vis=pub entry context");
    };
}

#[inline(never)]
fn leaf(number: u64) -> u64 {
    context!("leaf");
    number
}

#[inline(never)]
fn twice(number: u64) -> u64 {
    context!("twice");
    leaf(number) + leaf(number)
}

#[inline(never)]
fn recurses(depth: u64) -> u64 {
    context!("recurses");
    if depth == 0 { leaf(0) } else { 1 + recurses(depth - 1) }
}

struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        context!("drop");
        leaf(1);
    }
}

#[inline(never)]
fn fails(depth: u64) {
    context!("fails");
    let _dropped = Dropped;
    assert!(depth > 0, "on purpose");
    fails(depth - 1);
}

/// Each argument is in a register, and none may be lost.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as many as there are registers")]
fn sums(
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    x: [f64; 4],
    y: f64,
    z: f64,
    v: f32,
    w: f32,
) -> f64 {
    context!("sums");
    (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) as f64
        + x.iter().sum::<f64>()
        + 7.0 * y
        + 8.0 * z
        + 9.0 * f64::from(v)
        + 10.0 * f64::from(w)
}

/// Calls one of many functions, each of which calls a leaf.
macro_rules! many {
    ($($name:ident)*) => {
        $(#[inline(never)]
        fn $name() {
            metaspy_probe::context!("many", 1, 2, "c=1 self=none vis=pub entry context");
            leaf(0);
        })*
        const MANY: &[fn()] = &[$($name),*];
    };
}

many!(a b c d e f g h i j k l m n o p q r s t u v w x y z aa ab ac ad ae af ag ah ai aj ak al am an);

#[inline(never)]
fn calls_many() {
    context!("calls_many");
    MANY.iter().for_each(|function| function());
}

/// One test at a time observes the sites.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn start() -> Recording {
    Recording::memory().budget(8 << 20).start().expect("there is memory")
}

fn install() -> Installed {
    Profiler::new("contexts")
        .method_profiler(Contexts::default())
        .install()
        .expect("such hooks count in contexts")
}

/// The contexts of a recording by path, and their calls.
fn tree(store: &Store) -> BTreeMap<String, u64> {
    let profile = store.profile("contexts").expect("it was installed");
    let table = profile.table("tree").expect("it has one");
    let mut found = BTreeMap::new();
    add(store, table, 0, "", &mut found);
    found
}

fn value(table: &ProfileTable, key: RowKey, column: &str) -> u64 {
    table.value(key, column).number().unwrap_or_default()
}

fn add(
    store: &Store,
    table: &ProfileTable,
    around: u64,
    path: &str,
    found: &mut BTreeMap<String, u64>,
) {
    for row in &table.rows {
        let RowKey::Context(site, above) = row.key else { panic!("{row:?} is a context") };
        if above == around && site.0 != 0 {
            let name = store.site_path(site).rsplit("::").next().unwrap_or_default();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
            *found.entry(path.clone()).or_default() += value(table, row.key, "calls");
            add(store, table, value(table, row.key, "context"), &path, found);
        }
    }
}

fn expected<const N: usize>(calls: [(&str, u64); N]) -> BTreeMap<String, u64> {
    calls.into_iter().map(|(path, count)| (path.to_owned(), count)).collect()
}

/// The calls of a function that the tally counted.
fn tallied(store: &Store, name: &str) -> u64 {
    let tally = store.tally(metaspy_core::store::By::Site, &Default::default());
    let verified = store.verify();
    assert!(tally.exact && verified.is_sound(), "{:?}, {verified:?}", store.totals());
    let is_of = |site| store.site_path(site).rsplit("::").next() == Some(name);
    let rows = tally.rows.iter().filter(|row| row.site.is_some_and(is_of));
    rows.map(|row| row.measure.count).sum()
}

#[test]
fn each_path_of_calls_is_a_context_and_the_tally_has_their_sum() {
    let _turn = turn();
    let recording = start();
    let installed = install();
    for number in 0..100 {
        twice(number);
    }
    leaf(1);
    recurses(2);
    (0..3).for_each(|_| calls_many());
    drop(installed);
    twice(1);
    let store = recording.store();
    let paths = [
        ("leaf", 1),
        ("twice", 100),
        ("twice leaf", 200),
        ("recurses", 1),
        ("recurses recurses", 1),
        ("recurses recurses recurses", 1),
        ("recurses recurses recurses leaf", 1),
        ("calls_many", 3),
        ("calls_many many", 3 * MANY.len() as u64),
        ("calls_many many leaf", 3 * MANY.len() as u64),
    ];
    assert_eq!(tree(&store), expected(paths));
    let leaves = 1 + 200 + 1 + 3 * MANY.len() as u64;
    assert_eq!(
        (tallied(&store, "leaf"), tallied(&store, "twice"), tallied(&store, "recurses")),
        (leaves, 100, 3)
    );
}

#[test]
fn the_function_keeps_its_registers_and_a_thread_that_ends_leaves_its_contexts() {
    let _turn = turn();
    let recording = start();
    let installed = install();
    for at in 0..100_u64 {
        // The first call of a thread, and the first one at a site, leave the function.
        let sum = thread::spawn(move || {
            twice(at);
            (0..3)
                .map(|_| sums(at, 1, 2, 3, 4, 5, [0.5; 4], 1.5, 2.5, 3.5, 4.5))
                .collect::<Vec<_>>()
        });
        let expected = (at + 2 + 6 + 12 + 20 + 30) as f64 + 2.0 + 10.5 + 20.0 + 31.5 + 45.0;
        assert_eq!(sum.join().expect("it returns"), [expected; 3]);
    }
    drop(installed);
    assert_eq!(
        tree(&recording.store()),
        expected([("sums", 300), ("twice", 100), ("twice leaf", 200)])
    );
}

#[test]
fn a_panic_leaves_the_contexts_that_it_unwinds() {
    let _turn = turn();
    let recording = start();
    let installed = install();
    for _ in 0..10 {
        assert!(catch_unwind(|| fails(1)).is_err(), "it panics on purpose");
        leaf(0);
    }
    drop(installed);
    let paths = [
        ("leaf", 10),
        ("fails", 10),
        ("fails drop", 10),
        ("fails drop leaf", 10),
        ("fails fails", 10),
        ("fails fails drop", 10),
        ("fails fails drop leaf", 10),
    ];
    assert_eq!(tree(&recording.store()), expected(paths));
}

#[test]
fn calls_that_are_nested_too_deep_are_cut_and_counted() {
    let _turn = turn();
    let recording = start();
    let installed = install();
    let deep = thread::Builder::new().stack_size(64 << 20).spawn(|| (recurses(2_999), twice(1)));
    assert_eq!(deep.expect("there is memory").join().expect("it has room"), (2_999, 2));
    drop(installed);
    let store = recording.store();
    let profile = store.profile("contexts").expect("it was installed");
    let table = profile.table("tree").expect("it has one");
    let sum = |column| table.rows.iter().map(|row| value(table, row.key, column)).sum::<u64>();
    assert_eq!((sum("calls"), sum("cut")), (1_024 + 3, 3_001 - 1_024));
    let found = tree(&store);
    assert_eq!((found["twice"], found["twice leaf"]), (1, 2), "the thread is back at its root");
}

#[test]
fn recordings_and_epochs_follow_each_other_within_calls_too() {
    let _turn = turn();
    let first = start();
    let installed = install();
    twice(1);
    let second = thread::spawn(move || {
        context_of_two(|| {
            twice(1);
            // An epoch begins and ends, and then another recording.
            drop(Profiler::new("none").install());
            twice(1);
            let second = start();
            twice(1);
            second
        })
    });
    let second = second.join().expect("it returns");
    twice(1);
    drop(installed);
    let before = [
        ("twice", 1),
        ("twice leaf", 2),
        ("context_of_two", 1),
        ("context_of_two twice", 2),
        ("context_of_two twice leaf", 4),
    ];
    assert_eq!(tree(&first.store()), expected(before));
    // What began in the recording before has no context in this one.
    assert_eq!(tree(&second.store()), expected([("twice", 2), ("twice leaf", 4)]));
    assert_eq!((tallied(&first.store(), "leaf"), tallied(&second.store(), "leaf")), (6, 4));
}

#[inline(never)]
fn context_of_two<R>(during: impl FnOnce() -> R) -> R {
    context!("context_of_two");
    during()
}

#[test]
fn all_recordings_together_have_all_calls() {
    let _turn = turn();
    let mut recordings = vec![start()];
    let installed = install();
    let is_done = AtomicBool::new(false);
    let calls: u64 = thread::scope(|scope| {
        let threads = [(); 3].map(|()| {
            scope.spawn(|| {
                let mut calls = 0;
                while !is_done.load(Relaxed) {
                    twice(1);
                    calls += 1;
                }
                // Each thread has been in a recording before, and ends in the last one.
                twice(1);
                calls + 1
            })
        });
        for _ in 0..30 {
            recordings.push(start());
            let store = recordings.last().map(Recording::store);
            while store.as_ref().is_some_and(|store| tallied_so_far(store) == 0) {
                thread::yield_now();
            }
        }
        is_done.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    });
    drop(installed);
    let mut sums = BTreeMap::new();
    let mut leaves = 0;
    for recording in &recordings {
        let store = recording.store();
        leaves += tallied(&store, "leaf");
        for (path, count) in tree(&store) {
            // A call whose caller began in the recording before is at the root.
            let name = path.rsplit(' ').next().unwrap_or_default().to_owned();
            *sums.entry(name).or_default() += count;
        }
    }
    assert_eq!(sums, expected([("leaf", 2 * calls), ("twice", calls)]));
    assert_eq!(leaves, 2 * calls);
}

fn tallied_so_far(store: &Store) -> u64 {
    store
        .tally(metaspy_core::store::By::Site, &Default::default())
        .rows
        .iter()
        .map(|row| row.measure.count)
        .sum()
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Relaxed);
    recurses(0);
}

#[cfg(unix)]
#[test]
fn calls_in_signal_handlers_are_below_those_that_they_interrupt() {
    let _turn = turn();
    let recording = start();
    let installed = install();
    recurses(0);
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler calls hooks and touches an atomic.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: it reports the calling thread.
    let interrupted = unsafe { libc::pthread_self() };
    let is_done = AtomicBool::new(false);
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
            twice(1);
            made += 1;
        }
        is_done.store(true, Relaxed);
        made
    });
    twice(1);
    drop(installed);
    let (store, handled) = (recording.store(), HANDLED.load(Relaxed));
    let found = tree(&store);
    let sum = |name: &str| -> u64 {
        found
            .iter()
            .filter(|(path, _)| path.rsplit(' ').next() == Some(name))
            .map(|(_, count)| count)
            .sum()
    };
    assert_eq!(sum("twice"), made + 1);
    let reentrant = store.header().reentrant;
    assert_eq!(
        tallied(&store, "recurses") + tallied(&store, "leaf") + reentrant,
        2 * (made + 1) + 2 * (handled + 1)
    );
    assert_eq!(
        found["twice"],
        made + 1,
        "whatever interrupts it, the thread goes back to its root"
    );
}

#[test]
fn what_such_a_hook_does_not_see_is_refused() {
    let _turn = turn();
    let _recording = start();
    let profiler = Profiler::new("calls")
        .method_profiler(Calls::default())
        .method_profiler(Contexts::default());
    let error = profiler.install().expect_err("a profiler of times sees nothing").to_string();
    assert!(error.contains("cargo metaspy build"), "{error}");
    recurses(3);
}
