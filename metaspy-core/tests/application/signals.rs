//! Signal handlers that call hooks, in threads that met none before: while a thread begins or ends,
//! while it allocates, and within another hook.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use metaspy_core::arm::Mode;
use metaspy_core::method_profilers::{Calls, TestCoverage};
use metaspy_core::{Installed, Profiler, Recording, Store};

use crate::allocator::allocations_during;
use crate::{apart, observe, observe_in_detail};

/// Calls by the handler, and by the threads.
static CALLS: AtomicU64 = AtomicU64::new(0);

fn handles() {
    metaspy_probe::hook!("handles", 1, 1, "c=1 self=none", [], []);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

fn handles_about(object: &u64) {
    metaspy_probe::hook!("handles_about", 2, 2, "c=1 self=none", [place object], []);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

fn works() {
    metaspy_probe::hook!("works", 3, 3, "c=1 self=none", [], []);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn on_signal(_: libc::c_int) {
    static OBJECT: u64 = 7;
    handles();
    handles_about(&OBJECT);
}

/// Lets this thread, and those that it starts, receive the signal or not.
fn mask(how: libc::c_int) {
    // SAFETY: zero is a valid set, which is owned here.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut set, libc::SIGPROF);
        libc::pthread_sigmask(how, &set, std::ptr::null_mut());
    }
}

/// Sends the signal to the threads that work, every so many microseconds of their time.
fn every(microseconds: libc::suseconds_t) {
    let interval = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the kernel copies the value.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
}

fn handler(handler: extern "C" fn(libc::c_int)) {
    // SAFETY: zero is a valid action, and the handler calls hooks only.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut());
    }
}

/// Threads that begin, allocate, call a hook or none, and end, interrupted at any place.
fn interrupted(install: impl FnOnce() -> Installed) {
    // Only threads that are started below are interrupted.
    mask(libc::SIG_BLOCK);
    handler(on_signal);
    let recording = Recording::memory().budget(64 << 20).start().expect("there is memory");
    let installed = install();
    thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                mask(libc::SIG_UNBLOCK);
                for _ in 0..1_500 {
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            for size in 0..40 {
                                drop(black_box(vec![0_u8; size * 100]));
                                (0..number).for_each(|_| works());
                            }
                        });
                    });
                }
            });
        }
        every(100);
    });
    every(0);
    let profile = installed.uninstall();
    let totals = recording.store().totals();
    let calls = ["handles", "handles_about", "works"]
        .map(|name| profile.counts().by_site().at(name).map(|row| row.measure.count));
    let counted: u64 = calls.into_iter().flatten().sum();
    assert_eq!(counted + totals.unnamed, CALLS.load(Ordering::Relaxed), "{totals:?}");
    // A profiler does not see the calls of a handler that interrupts its hooks, and says so.
    for callers in recording.store().profiles().iter().flat_map(|profile| &profile.tables) {
        let calls = callers.rows.iter().map(|row| callers.value(row.key, "calls").number());
        let seen: u64 = calls.flatten().sum();
        let missed = (counted + totals.unnamed).saturating_sub(seen);
        assert!(callers.name != "callers" || missed <= callers.lost, "{missed} of {counted}");
    }
}

/// Returns a value that a profiler compares.
fn handles_and_returns(object: &u64) -> [u64; 2] {
    metaspy_probe::whole!("handles_and_returns", 4, 4, "c=1 self=none deep", [place object], [], [own any [u64; 2]], { [*object; 2] })
}

extern "C" fn count_allocations(_: libc::c_int) {
    let allocations = allocations_during(|| {
        on_signal(0);
        assert_eq!(handles_and_returns(&9), [9; 2]);
    });
    CALLS.fetch_add(allocations, Ordering::Relaxed);
}

#[test]
fn the_first_object_of_a_method_takes_no_memory_in_a_signal_handler() {
    apart("signals::the_first_object_of_a_method_takes_no_memory_in_a_signal_handler", || {
        let _recording =
            Recording::memory().budget(16 << 20).collector(false).start().expect("there is memory");
        let profiler = Profiler::new("coverage").method_profiler(TestCoverage::default());
        let installed = profiler.install().expect("the sites are there");
        handler(count_allocations);
        // SAFETY: the handler calls hooks only.
        thread::spawn(|| unsafe { libc::raise(libc::SIGPROF) }).join().expect("it ends");
        let mirror = installed.uninstall().mirror::<TestCoverage>().expect("it was installed");
        let receivers = |name| {
            let method = mirror
                .methods()
                .iter()
                .find(|method| method.facts.name == name)
                .expect("it is a method");
            method.data.receivers.len()
        };
        assert_eq!((receivers("handles_about"), receivers("handles_and_returns")), (1, 1));
        assert_eq!(CALLS.load(Ordering::Relaxed), 2, "two calls and no allocation");
    });
}

#[test]
fn a_call_in_a_signal_handler_has_no_details_and_takes_no_memory() {
    apart("signals::a_call_in_a_signal_handler_has_no_details_and_takes_no_memory", || {
        let recording =
            Recording::memory().budget(16 << 20).collector(false).start().expect("there is memory");
        let installed = observe_in_detail("**::signals::*");
        handler(count_allocations);
        // SAFETY: the handler calls hooks only.
        thread::spawn(|| unsafe { libc::raise(libc::SIGPROF) }).join().expect("it ends");
        installed.uninstall();
        assert_eq!(CALLS.load(Ordering::Relaxed), 2, "two calls and no allocation");
        assert_eq!(recording.store().totals().emitted, 3);
    });
}

#[test]
fn a_signal_handler_may_call_the_first_hook_of_a_thread() {
    apart("signals::a_signal_handler_may_call_the_first_hook_of_a_thread", || {
        interrupted(|| observe("**::signals::*", Mode::Full))
    });
}

#[test]
fn a_signal_handler_may_count_the_first_call_of_a_thread() {
    apart("signals::a_signal_handler_may_count_the_first_call_of_a_thread", || {
        interrupted(|| observe("**::signals::*", Mode::Tally))
    });
}

#[test]
fn a_method_profiler_may_see_the_first_call_of_a_thread_in_a_signal_handler() {
    apart(
        "signals::a_method_profiler_may_see_the_first_call_of_a_thread_in_a_signal_handler",
        || {
            interrupted(|| {
                Profiler::new("calls")
                    .method_profiler(Calls::default())
                    .install()
                    .expect("the sites are there")
            });
        },
    );
}

/// A sandbox may forbid to write files while a program is recorded.
#[test]
fn a_program_that_may_write_no_more_files_receives_no_signal_when_its_recording_ends() {
    const NAME: &str = "signals::a_program_that_may_write_no_more_files_receives_no_signal_when_its_recording_ends";
    apart(NAME, || {
        let file =
            std::env::temp_dir().join(format!("metaspy-no-files-{}.spy", std::process::id()));
        let recording = Recording::file(&file).start().expect("there is room");
        let installed = observe("**::signals::*", Mode::Full);
        works();
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit is a whole one.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &none) }, 0);
        works();
        installed.uninstall();
        recording.close();
        let store = Store::open(&file).expect("it is a recording");
        assert_eq!((store.totals().emitted, store.missing().len()), (2, 0));
        std::fs::remove_file(file).expect("it is ours");
    });
}
