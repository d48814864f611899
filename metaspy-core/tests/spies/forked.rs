//! A forked child is not looked at: its parent could not tell what it did.

use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_core::method_profilers::{Call, CallEnd, Count, MethodProfiler, MethodSpy};

use crate::{alone, method};

/// Counts calls and their ends.
struct Counting;

/// Hooks that ran in this process.
static HOOKS: AtomicU64 = AtomicU64::new(0);

impl MethodProfiler for Counting {
    const NAME: &'static str = "counting";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.add(1);
        HOOKS.fetch_add(1, Ordering::Relaxed);
    }

    fn after(&self, spy: &MethodSpy<Self>, _: &Call<'_>, _: &CallEnd<'_>) {
        spy.data.add(100);
        HOOKS.fetch_add(1, Ordering::Relaxed);
    }
}

fn works() -> u32 {
    metaspy_probe::hook!("works", 1, 1, "c=1 self=none", [], []);
    7
}

/// Forks within a call.
fn forks() -> libc::pid_t {
    metaspy_probe::hook!("forks", 2, 2, "c=1 self=none", [], []);
    // SAFETY: the child calls functions that allocate nothing, and leaves by `_exit`.
    unsafe { libc::fork() }
}

#[test]
fn in_a_forked_child_no_profiler_runs() {
    let _alone = alone();
    let (spying, other) = (crate::install(Counting), crate::install(Counting));
    works();
    let mirror = spying.mirror();
    let (worked, forked) = (method(&mirror, "works"), method(&mirror, "forks"));
    let child = forks();
    if child == 0 {
        let hooks = HOOKS.load(Ordering::Relaxed);
        works();
        drop(other);
        let is_same = works() == 7 && HOOKS.load(Ordering::Relaxed) == hooks;
        // SAFETY: it ends this process, and nothing of the parent's.
        unsafe { libc::_exit(if is_same { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the status is a place of our own.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(
        (libc::WIFEXITED(status), libc::WEXITSTATUS(status)),
        (true, 0),
        "the child was looked at"
    );
    works();
    assert_eq!((worked.data.get(), forked.data.get()), (202, 101), "the parent still is");
    drop((spying, other));
}
