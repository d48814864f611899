//! Signal handlers that make calls between any two instructions of a hook.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use metaspy_core::{Outcome, Recording};

use crate::{calls, count, node, turn, wide, work};

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: libc::c_int) {
    let key = HANDLED.fetch_add(1, Relaxed);
    let outcome = if key.is_multiple_of(4) { Outcome::Failed } else { Outcome::Returned };
    work(node(if key.is_multiple_of(2) { key % 700 } else { wide(key % 700) }), outcome);
}

#[test]
fn calls_in_signal_handlers_are_counted_with_those_that_they_interrupt() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is room");
    let counted = count();
    // The lane is there, and so is the kind: a handler that meets neither has a test of its own.
    work(node(0), Outcome::Returned);
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler calls hooks and touches atomics.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: reports the calling thread.
    let (interrupted, is_done) = (unsafe { libc::pthread_self() }, AtomicBool::new(false));
    let made: u64 = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(interrupted, libc::SIGUSR1) };
                std::thread::yield_now();
            }
        });
        let mut made = 1;
        while HANDLED.load(Relaxed) < 200_000 {
            for key in 0..700 {
                work(node(key), Outcome::Failed);
                work(node(wide(key)), Outcome::Returned);
                made += 2;
            }
        }
        is_done.store(true, Relaxed);
        made
    });
    drop(counted);
    let (store, handled) = (recording.store(), HANDLED.load(Relaxed));
    let reentrant = store.header().reentrant;
    assert!(reentrant < handled / 10, "{reentrant} of {handled} came while a row was made");
    assert_eq!(calls(&store) + reentrant, made + handled);
    assert!(store.verify().is_sound());
}
