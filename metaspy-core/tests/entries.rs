//! Hooks that only count the calls that begin: every call is in the recording that was there,
//! whatever happens to its thread, and whatever else is asked for is refused.

use std::collections::BTreeMap;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use metaspy_core::arm::{Arming, Mode, Subjects};
use metaspy_core::instrumenter::Installation;
use metaspy_core::method_profilers::Calls;
use metaspy_core::store::{By, Scope, Store};
use metaspy_core::{InstallError, Installed, Instrumenter, Profiler, Recording, Session, Subject};

/// As the weaver writes it.
macro_rules! entry {
    ($name:literal) => {
        metaspy_probe::entry!($name, 1, 2, "c=1 self=none vis=pub entry");
    };
}

#[inline(never)]
fn recurses(depth: u64) -> u64 {
    entry!("recurses");
    if depth == 0 { 0 } else { 1 + recurses(depth - 1) }
}

#[inline(never)]
fn fails() {
    entry!("fails");
    panic!("on purpose");
}

struct Dropped;

impl Drop for Dropped {
    #[inline(never)]
    fn drop(&mut self) {
        entry!("drop");
    }
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
    entry!("sums");
    (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) as f64
        + x.iter().sum::<f64>()
        + 7.0 * y
        + 8.0 * z
        + 9.0 * f64::from(v)
        + 10.0 * f64::from(w)
}

/// One site for all types.
#[inline(always)]
fn generic<T: Copy>(value: T) -> T {
    entry!("generic");
    value
}

async fn waits() {
    entry!("waits");
    std::future::ready(()).await;
}

/// One test at a time observes the sites.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Observed(Arming);

impl Instrumenter for Observed {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"entries::**".parse()?, &self.0).map(|()| Installation::none())
    }
}

fn observe(arming: Arming) -> Result<Installed, InstallError> {
    Profiler::new("entries").observe(Observed(arming)).install()
}

fn count() -> Installed {
    observe(Arming::all(Mode::Tally)).expect("they can be counted")
}

/// The calls of each function.
fn calls(store: &Store) -> BTreeMap<String, u64> {
    let tally = store.tally(By::Site, &Scope::default());
    assert!(tally.exact && store.verify().is_sound());
    let rows = tally.rows.iter().filter(|row| row.measure.count > 0);
    rows.map(|row| {
        let path = store.site_path(row.site.expect("it is about a site"));
        (path.rsplit("::").next().unwrap_or_default().to_owned(), row.measure.count)
    })
    .collect()
}

fn expected<const N: usize>(calls: [(&str, u64); N]) -> BTreeMap<String, u64> {
    calls.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn every_call_counts_however_it_ends() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is memory");
    let counted = count();
    assert_eq!(recurses(999), 999);
    for _ in 0..10 {
        let failed = catch_unwind(|| {
            let _dropped = Dropped;
            fails();
        });
        assert!(failed.is_err(), "it panics on purpose");
    }
    for _ in 0..5 {
        drop(waits());
        let polled = std::pin::pin!(waits())
            .as_mut()
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        assert!(polled.is_ready());
    }
    assert_eq!((generic(1_u8), generic('a'), generic(2.5_f64)), (1, 'a', 2.5));
    drop(counted);
    recurses(10);
    let found = calls(&recording.store());
    // A future that is never polled is no call.
    assert_eq!(
        found,
        expected([("recurses", 1_000), ("fails", 10), ("drop", 10), ("waits", 5), ("generic", 3)])
    );
    // How they ended is not known, and neither number is an answer.
    for outcome in ["panicked", "returned"] {
        let scope = Scope {
            filter: format!("outcome:{outcome}").parse().expect("it is a filter"),
            ..Scope::default()
        };
        let tally = recording.store().tally(By::Site, &scope);
        assert!(tally.rows.is_empty() && tally.unknown == Some(1_028), "{outcome}: {tally:?}");
    }
}

#[test]
fn the_function_keeps_its_registers() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is memory");
    let counted = count();
    for at in 0..100_u64 {
        // The first call of a thread, and the first one at a site, leave the function.
        let sum = std::thread::spawn(move || {
            (0..3)
                .map(|_| sums(at, 1, 2, 3, 4, 5, [0.5; 4], 1.5, 2.5, 3.5, 4.5))
                .collect::<Vec<_>>()
        });
        let expected = (at + 2 + 6 + 12 + 20 + 30) as f64 + 2.0 + 10.5 + 20.0 + 31.5 + 45.0;
        assert_eq!(sum.join().expect("it returns"), [expected; 3]);
    }
    drop(counted);
    assert_eq!(calls(&recording.store()), expected([("sums", 300)]));
}

#[test]
fn threads_count_for_themselves_and_recordings_follow_each_other() {
    let _turn = turn();
    let first = Recording::memory().start().expect("there is memory");
    let counted = count();
    let work = || {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1_000).for_each(|_| _ = recurses(9)));
            }
        });
    };
    work();
    recurses(4);
    let before = calls(&first.store());
    // An epoch begins and ends, and then another recording.
    drop(count());
    recurses(4);
    let after = calls(&first.store());
    let second = Recording::memory().start().expect("there is memory");
    work();
    recurses(6);
    drop(counted);
    assert_eq!(before, expected([("recurses", 80_005)]));
    assert_eq!(after, expected([("recurses", 80_010)]));
    assert_eq!(calls(&second.store()), expected([("recurses", 80_007)]));
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Relaxed);
    recurses(0);
}

#[cfg(unix)]
#[test]
fn calls_in_signal_handlers_are_counted_with_those_that_they_interrupt() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is memory");
    let counted = count();
    recurses(0);
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler calls a hook and touches an atomic.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: it reports the calling thread.
    let interrupted = unsafe { libc::pthread_self() };
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let made = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(interrupted, libc::SIGUSR1) };
                std::thread::yield_now();
            }
        });
        let mut made = 1;
        while HANDLED.load(Relaxed) < 500 {
            recurses(99);
            made += 100;
        }
        is_done.store(true, Relaxed);
        made
    });
    drop(counted);
    let (store, handled) = (recording.store(), HANDLED.load(Relaxed));
    assert_eq!(calls(&store)["recurses"] + store.header().reentrant, made + handled);
}

#[cfg(unix)]
#[test]
fn a_forked_child_counts_nothing_for_its_parent() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is memory");
    let counted = count();
    recurses(9);
    // SAFETY: the child calls a hook and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_whole = recurses(99) == 99;
        // SAFETY: it ends the process.
        unsafe { libc::_exit(if is_whole { 7 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7);
    recurses(9);
    drop(counted);
    assert_eq!(calls(&recording.store()), expected([("recurses", 20)]));
}

/// The directory of a process whose forked child has a recording of its own.
#[cfg(unix)]
const FORKS: &str = "METASPY_TEST_FORKS";

/// Forks in the midst of calls. Parent and child make 10 and 100 more.
#[cfg(unix)]
fn call_in_parent_and_child() {
    recurses(4);
    // SAFETY: this thread is the only one that uses the core, and the child leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        recurses(6);
        let recording = Recording::in_forked_child()
            .expect("there is room")
            .expect("the environment selects one");
        recurses(99);
        recording.close();
        // SAFETY: it ends the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 0));
    recurses(9);
}

#[cfg(unix)]
#[test]
fn a_forked_child_has_a_recording_of_its_own_once_it_asks_for_it() {
    const NAME: &str = "a_forked_child_has_a_recording_of_its_own_once_it_asks_for_it";
    if std::env::var_os(FORKS).is_some() {
        return call_in_parent_and_child();
    }
    assert!(
        Recording::in_forked_child().expect("nothing is made").is_none(),
        "this process has no child of that kind"
    );
    let directory = std::env::temp_dir().join(format!("metaspy-forks-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command.args(["--exact", NAME, "--nocapture"]).env(FORKS, "1").env("METASPY_MODE", "tally");
    let output =
        command.env("METASPY_RECORD", directory.join("run.spy")).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let mut calls: Vec<u64> = recordings(&directory)
        .iter()
        .map(|file| calls(&Store::open(file).expect("it is a recording")).values().sum())
        .collect();
    calls.sort_unstable();
    assert_eq!(calls, [15, 100]);
    fs::remove_dir_all(directory).expect("it is ours");
}

/// The directory of a process whose recording rotates.
const ROTATES: &str = "METASPY_TEST_ROTATES";
/// How many files it writes at least.
const FILES: usize = 20;

fn recordings(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).expect("it is there").filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "spy")).collect()
}

/// What the process does: its threads call a function until there are enough files. Returns how
/// often.
fn call_while_it_rotates(directory: &Path) -> u64 {
    let is_done = AtomicBool::new(false);
    let work = || {
        let mut calls = 0;
        while !is_done.load(Relaxed) {
            recurses(49);
            // A thread that ends.
            thread::scope(|scope| scope.spawn(|| recurses(0)).join()).expect("it only calls");
            calls += 51;
        }
        calls
    };
    thread::scope(|scope| {
        let workers = [(); 2].map(|()| scope.spawn(work));
        while recordings(directory).len() < FILES {
            thread::yield_now();
        }
        is_done.store(true, Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("it only calls")).sum()
    })
}

#[test]
fn a_rotation_has_each_call_in_one_of_its_files() {
    if let Some(directory) = std::env::var_os(ROTATES) {
        println!("calls={};", call_while_it_rotates(directory.as_ref()));
        return;
    }
    let directory = std::env::temp_dir().join(format!("metaspy-entries-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command
        .args(["--exact", "a_rotation_has_each_call_in_one_of_its_files", "--nocapture"])
        .env(ROTATES, &directory);
    command.env("METASPY_RECORD", directory.join("run.spy"));
    let output = command
        .envs([("METASPY_ROTATE", "1MiB,1ms"), ("METASPY_MODE", "tally")])
        .output()
        .expect("it runs");
    let (text, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && error.is_empty(), "{text}{error}");
    let made = text
        .split_once("calls=")
        .and_then(|(_, rest)| rest.split_once(';'))
        .expect("it prints them")
        .0;
    let files = recordings(&directory);
    let counted = |file: &PathBuf| {
        let store = Store::open(file).expect("it was recorded");
        assert!(store.missing().is_empty(), "{}: {:?}", file.display(), store.missing());
        calls(&store).get("recurses").copied().unwrap_or_default()
    };
    let found: u64 = files.iter().map(counted).sum();
    assert_eq!((found, files.len() >= FILES), (made.parse().expect("it is a number"), true));
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn what_such_a_hook_does_not_see_is_refused() {
    let _turn = turn();
    let _recording = Recording::memory().start().expect("there is memory");
    let all = Arming::all(Mode::Tally);
    let more = [
        Arming::all(Mode::Full),
        Arming::all(Mode::Sampled),
        Arming { details: true, ..all.clone() },
        Arming { subjects: Subjects::Only(vec![Subject::NONE]), ..all.clone() },
    ];
    for arming in more {
        let error =
            observe(arming).expect_err("it sees no more than the number of calls").to_string();
        assert!(error.contains("cargo metaspy build") && error.contains("entries::"), "{error}");
    }
    let profiler = Profiler::new("calls").method_profiler(Calls::default());
    let error = profiler.install().expect_err("a method profiler sees nothing").to_string();
    assert!(error.contains("cargo metaspy build"), "{error}");
    recurses(3);
}
