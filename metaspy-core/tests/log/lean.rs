//! Calls that are events and nothing else: their guards are one word, and their slots have the
//! rest.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use metaspy_core::hook::observed::{self, Unwinding};
use metaspy_core::hook::{Frame, Guard};
use metaspy_core::store::Store;

use super::*;

/// A block has room for 127 events.
const BLOCK: u64 = 127;

/// Runs a body in a call.
pub fn within<R>(site: &'static Site, key: u64, body: impl FnOnce(&mut Guard<'_>) -> R) -> R {
    let mut frame = Frame::vacant();
    let mut guard = begin(site, key, &mut frame);
    let value = body(&mut guard);
    guard.done(Outcome::Returned);
    value
}

fn begin<'f>(site: &'static Site, key: u64, frame: &'f mut Frame) -> Guard<'f> {
    if site.is_armed() {
        Guard::of(site, observed::enter(Unwinding::now(), frame, site, node(key)))
    } else {
        Guard::unarmed(site)
    }
}

/// So many calls that the thread goes on in another block.
fn turn_blocks(blocks: u64) {
    (0..blocks * BLOCK).for_each(|_| within(&INNER, 0, |_| ()));
}

/// The outcome of each event at `OUTER`, by its key.
fn outcomes(store: &Store) -> Vec<(u64, Outcome)> {
    let id = metaspy_core::site::entry(&OUTER).id;
    let outer = events(store).into_iter().filter(|event| event.site == id);
    outer.map(|event| (event.subject.expect("they have one").key, event.outcome)).collect()
}

fn observe(mode: Mode) -> (Recording, metaspy_core::Installed) {
    let recording = Recording::memory().budget(4 << 20).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(mode)).install().unwrap();
    (recording, installed)
}

/// Calls as deep as `deepest`: every fifth one fails early, and a panic that begins at each
/// hundredth is caught above.
fn descend(at: u64, deepest: u64) {
    let call = || {
        let mut frame = Frame::vacant();
        let mut guard = begin(&OUTER, at, &mut frame);
        let within = metaspy_core::current();
        if at < deepest {
            descend(at + 1, deepest);
        }
        assert_eq!(metaspy_core::current(), within, "the thread is back where it was");
        match at {
            _ if at % 100 == 50 => resume_unwind(Box::new("as planned")),
            _ if at.is_multiple_of(5) => guard.exit(Outcome::Failed),
            _ => guard.done(Outcome::Succeeded),
        }
    };
    if at % 100 == 50 {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    } else {
        call();
    }
}

fn expected(at: u64) -> Outcome {
    match at {
        _ if at % 100 == 50 => Outcome::Panicked,
        _ if at.is_multiple_of(5) => Outcome::Failed,
        _ => Outcome::Succeeded,
    }
}

#[test]
fn a_deep_recursion_over_many_blocks_ends_with_each_outcome_and_is_nested() {
    let _turn = turn();
    for (mode, deepest) in [(Mode::Full, 500), (Mode::Sampled, 500), (Mode::Full, 5_000)] {
        let (recording, installed) = observe(mode);
        let stack = std::thread::Builder::new().stack_size(64 << 20);
        stack.spawn(move || descend(0, deepest)).unwrap().join().unwrap();
        let store = recording.store();
        let found: Vec<(u64, Outcome)> = (0..=deepest).map(|at| (at, expected(at))).collect();
        assert_eq!(outcomes(&store), found, "{mode:?}, {deepest} deep");
        let all = events(&store);
        assert!(all.windows(2).all(|pair| pair[1].cause == Some(pair[0].id)));
        let timed = all.iter().filter(|event| event.span.is_some());
        assert!(
            timed.clone().is_sorted_by(|outer, inner| outer.span >= inner.span),
            "an outer call takes longer"
        );
        assert_eq!(
            (timed.count() as u64 == deepest + 1, mode == Mode::Full),
            (mode == Mode::Full, mode == Mode::Full)
        );
        let profile = installed.uninstall();
        assert_eq!((profile.counts().total(), store.totals().lost), (deepest + 1, 0));
    }
}

#[test]
fn a_call_that_runs_while_the_ring_goes_round_is_counted_once_with_its_outcome() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    for round in 0..20_u64 {
        let mut frame = Frame::vacant();
        let mut guard = begin(&OUTER, 10 + round % 2, &mut frame);
        within(&OUTER, 2, |_| turn_blocks(1_000));
        guard.exit(if round % 2 == 0 { Outcome::Failed } else { Outcome::Succeeded });
    }
    let totals = recording.store().totals();
    assert!(totals.folded > 0, "{totals:?}");
    let scope = Scope { epochs: installed.so_far().scope().epochs.clone(), ..Scope::default() };
    let rows = recording.store().tally(By::Subject, &scope).rows;
    let of = |key| {
        let row = rows.iter().find(|row| row.subject == Some(node(key))).expect("it was called");
        (
            row.measure.count,
            row.measure.failed,
            row.measure.running,
            row.measure.timed + row.measure.lost,
        )
    };
    assert_eq!(
        [of(10), of(11), of(2)],
        [(10, 10, 0, 10), (10, 0, 0, 10), (20, 0, 0, 20)],
        "{rows:?}"
    );
    assert_eq!(installed.uninstall().counts().total(), 20 * 2 + 20 * 1_000 * BLOCK);
}

#[test]
fn calls_that_end_out_of_order_end_as_themselves() {
    let _turn = turn();
    for blocks in [0, 1, 3] {
        let (recording, _installed) = observe(Mode::Full);
        let mut frames = [const { Frame::vacant() }; 4];
        let mut guards: Vec<Guard<'_>> = frames
            .iter_mut()
            .enumerate()
            .map(|(key, frame)| begin(&OUTER, key as u64, frame))
            .collect();
        turn_blocks(blocks);
        guards.remove(2).done(Outcome::Failed);
        guards.remove(0).done(Outcome::Succeeded);
        turn_blocks(blocks);
        guards.remove(0).done(Outcome::Returned);
        let ends = [Outcome::Succeeded, Outcome::Returned, Outcome::Failed, Outcome::Running];
        let running: Vec<(u64, Outcome)> = (0..).zip(ends).collect();
        assert_eq!(outcomes(&recording.store()), running, "{blocks} blocks");
        drop(guards);
        assert_eq!(outcomes(&recording.store())[3], (3, Outcome::Returned), "{blocks} blocks");
    }
}

#[test]
fn forgotten_guards_leave_their_calls_running_and_no_other() {
    let _turn = turn();
    let (recording, installed) = observe(Mode::Full);
    within(&OUTER, 1, |_| {
        for _ in 0..3_000 {
            let mut frame = Frame::vacant();
            std::mem::forget(begin(&INNER, 7, &mut frame));
            within(&OUTER, 2, |_| within(&INNER, 8, |_| ()));
        }
        within(&OUTER, 3, |guard| {
            turn_blocks(2);
            guard.exit(Outcome::Failed);
        });
    });
    let store = recording.store();
    let running = events(&store).into_iter().filter(|event| event.outcome == Outcome::Running);
    assert!(running.clone().all(|event| event.subject == Some(node(7))));
    assert_eq!(running.count(), 3_000);
    let profile = installed.uninstall();
    assert_eq!(
        (profile.count_of(node(7)), profile.count_of(node(2)), profile.count_of(node(8))),
        (3_000, 3_000, 3_000)
    );
}

#[test]
fn what_a_destructor_calls_while_a_panic_unwinds_has_returned() {
    struct Calls;
    impl Drop for Calls {
        fn drop(&mut self) {
            within(&OUTER, 2, |_| turn_blocks(2));
            let mut frame = Frame::vacant();
            drop(begin(&OUTER, 3, &mut frame));
        }
    }
    let _turn = turn();
    let (recording, _installed) = observe(Mode::Full);
    let thrown = catch_unwind(|| {
        let mut frame = Frame::vacant();
        let _guard = begin(&OUTER, 1, &mut frame);
        let _calls = Calls;
        resume_unwind(Box::new("as planned"));
    });
    assert!(thrown.is_err());
    let ends = [(1, Outcome::Panicked), (2, Outcome::Returned), (3, Outcome::Returned)];
    assert_eq!(outcomes(&recording.store()), ends);
}

/// Two calls of a thread that has not written the current recording yet.
fn begin_two<'f>([outer, inner]: &'f mut [Frame; 2]) -> [Guard<'f>; 2] {
    [begin(&INNER, 5, outer), begin(&OUTER, 6, inner)]
}

#[test]
fn a_call_across_two_recordings_ends_no_call_of_the_second() {
    let _turn = turn();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let path = std::env::temp_dir().join(format!("metaspy-lean-{}.spy", std::process::id()));
    for first in [Recording::memory(), Recording::file(&path)] {
        let first = first.budget(1 << 20).start().unwrap();
        let run = || {
            let (mut frames, mut later_frames) =
                ([const { Frame::vacant() }; 2], [const { Frame::vacant() }; 2]);
            let old = begin_two(&mut frames);
            let id = metaspy_core::current();
            let second = Recording::memory().budget(1 << 20).start().unwrap();
            let new = begin_two(&mut later_frames);
            assert_eq!(metaspy_core::current(), id, "both recordings give the same numbers as ids");
            let ([old_outer, old_inner], [outer, inner]) = (old, new);
            old_inner.done(Outcome::Succeeded);
            assert_eq!(outcomes(&second.store()), [(6, Outcome::Running)]);
            assert_eq!(
                metaspy_core::current(),
                id,
                "the thread is in the inner event of the second recording"
            );
            inner.done(Outcome::Failed);
            let id = metaspy_core::current();
            old_outer.done(Outcome::Succeeded);
            assert_eq!(
                (metaspy_core::current(), id.is_some()),
                (id, true),
                "the thread is in the outer one"
            );
            outer.done(Outcome::Returned);
            assert_eq!(outcomes(&second.store()), [(6, Outcome::Failed)]);
            assert_eq!(metaspy_core::current(), None);
            assert!(
                events(&second.store()).iter().all(|event| event.outcome != Outcome::Succeeded)
            );
        };
        // A thread of its own begins both recordings with their first blocks.
        std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        first.close();
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
#[cfg(unix)]
fn a_signal_handler_that_calls_at_any_instruction_is_counted_and_nothing_is_overwritten() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    static CALLS: AtomicU64 = AtomicU64::new(0);
    extern "C" fn interrupt(_: libc::c_int) {
        CALLS.fetch_add(1, Relaxed);
        within(&OUTER, 9, |_| within(&INNER, 9, |_| ()));
    }
    let _turn = turn();
    let (recording, installed) = observe(Mode::Full);
    // SAFETY: the handler calls hooks only, and no other test of this program uses the signal.
    unsafe {
        libc::signal(libc::SIGUSR1, interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t)
    };
    // SAFETY: it has no condition.
    let here = unsafe { libc::pthread_self() } as usize;
    let done = AtomicBool::new(false);
    let mut calls = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                // SAFETY: the thread waits for the end of this scope.
                unsafe { libc::pthread_kill(here as libc::pthread_t, libc::SIGUSR1) };
                std::thread::yield_now();
            }
        });
        while CALLS.load(Relaxed) < 30_000 {
            within(&INNER, 1, |_| within(&INNER, 2, |_| ()));
            calls += 1;
        }
        done.store(true, Relaxed);
    });
    assert_eq!(metaspy_core::current(), None);
    let store = recording.store();
    let totals = store.totals();
    let refused = store.header().reentrant;
    let profile = installed.uninstall();
    assert_eq!(
        (profile.count_of(node(1)), profile.count_of(node(2))),
        (calls, calls),
        "{totals:?}"
    );
    assert_eq!(profile.count_of(node(9)) + refused, 2 * CALLS.load(Relaxed), "{refused} refused");
    assert!(events(&store).iter().all(|event| event.outcome == Outcome::Returned));
}
