//! A forked child uses the core, whatever other threads of its parent held when it was forked.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use metaspy_core::arm::Mode;
use metaspy_core::hook::RegisteredIdentity;
use metaspy_core::site::register_dynamic;
use metaspy_core::{ObjectId, Owner, Recording, SiteDef, SiteKind, label, relate, unrelate};

use crate::{apart, end_later, observe};

/// Forks, each with a child that uses everything.
const FORKS: usize = 200;
/// Sites that are made at run time: whoever installs a profiler looks at all of them.
const SITES: usize = 200;

fn works() -> u32 {
    metaspy_probe::hook!("works", 1, 1, "c=1 self=none", [], []);
    7
}

/// Takes every lock of the core.
fn uses_everything() {
    let object = Box::new(5_u64);
    let registered = RegisteredIdentity::new(&*object, ObjectId::new());
    Owner::new("Tree");
    label(7_u32, "a label");
    relate("owner", 7_u32, 8_u32);
    unrelate("owner", 7_u32, 8_u32);
    let def = SiteDef {
        kind: SiteKind::Method,
        module: "forks",
        name: "later",
        file: file!(),
        lines: (1, 1),
        skipped: None,
    };
    static MADE: AtomicUsize = AtomicUsize::new(0);
    if MADE.fetch_add(1, Ordering::Relaxed) < SITES {
        register_dynamic(def);
    }
    drop(registered);
    let installed = observe("**::forks::works", Mode::Full);
    black_box(works());
    drop(installed);
}

/// What a child does. True if all of it worked.
fn is_usable() -> bool {
    end_later();
    uses_everything();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is memory");
    let installed = observe("**::forks::works", Mode::Full);
    works();
    installed.uninstall().counts().total() == 1 && recording.store().totals().emitted == 1
}

#[test]
fn a_forked_child_wraps_installs_and_records_while_threads_of_its_parent_do() {
    apart(
        "forks::a_forked_child_wraps_installs_and_records_while_threads_of_its_parent_do",
        || {
            Recording::memory().budget(64 << 20).start().expect("there is memory");
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        while !is_over.load(Ordering::Relaxed) {
                            uses_everything();
                        }
                    });
                }
                for at in 0..FORKS {
                    // SAFETY: the child uses the core and the allocator, which the C library keeps
                    // usable, and leaves by `_exit`.
                    let child = unsafe { libc::fork() };
                    if child == 0 {
                        let is_usable = std::panic::catch_unwind(is_usable).unwrap_or(false);
                        // SAFETY: it ends this process, and nothing of the parent's.
                        unsafe { libc::_exit(if is_usable { 0 } else { 1 }) };
                    }
                    let mut status = 0;
                    // SAFETY: the status is a place of our own.
                    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                    let ended = (
                        libc::WIFEXITED(status),
                        libc::WEXITSTATUS(status),
                        libc::WTERMSIG(status),
                    );
                    if ended.0 && ended.1 == 0 {
                        continue;
                    }
                    is_over.store(true, Ordering::Relaxed);
                    panic!("child {at} ended as {ended:?}");
                }
                is_over.store(true, Ordering::Relaxed);
            });
        },
    );
}
