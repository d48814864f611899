//! Woven code as a weaver makes it, in one crate with what it calls.

// What woven code calls is made of these files; here they stand in the crate that calls them.
#[allow(dead_code)]
#[path = "../../src/site/woven/kept.rs"]
mod kept;
#[allow(dead_code)]
#[path = "../../src/site/woven/macros.rs"]
mod macros;
#[allow(dead_code)]
#[path = "../../src/site/woven/polled.rs"]
mod polled;
#[allow(dead_code)]
#[path = "../../src/site/woven/record.rs"]
mod record;
#[allow(dead_code)]
#[path = "../../src/site/woven/shown.rs"]
mod shown;

pub extern crate core as library;
pub use kept::*;
pub use polled::*;
pub use record::*;
pub use shown::*;

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
