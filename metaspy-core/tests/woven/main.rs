//! Woven code as a weaver makes it, in one crate with what it calls.

mod calls;
mod coverage;
mod domain;
mod recorded;
mod settled;

use std::sync::{Mutex, MutexGuard};

/// Who looks at the sites of this process is one thing at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether this test has a process to itself; if not, it is run in one.
fn is_apart(test: &str) -> bool {
    const APART: &str = "METASPY_TEST_APART";
    if std::env::var_os(APART).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("it is known");
    let run = std::process::Command::new(program).args(["--exact", test, "--test-threads=2"]).env(APART, "1").output();
    let run = run.expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"), "it has another name");
    false
}
