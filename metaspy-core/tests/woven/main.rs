//! Woven code as a weaver makes it, in one crate with what it calls.

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod contexts;
mod coverage;
mod domain;
mod recorded;
mod replaced;
mod rotated;
mod settled;

use metaspy_core::store::{ProfileTable, RowKey, Value};
use metaspy_core::{Recording, SiteId, Store};

use common::{alone, executions, install};

/// A table of the latest profile with this name, in the recording of this process.
fn table(profile: &str, name: &str) -> (Store, ProfileTable) {
    let store = Recording::current().expect("it records").store();
    let profile = store.profile(profile).expect("it was installed");
    let table = profile.table(name).expect("it was declared").clone();
    (store, table)
}

/// The site with this path behind its module.
fn site(store: &Store, path: &str) -> SiteId {
    let mut sites = store.sites().iter().filter(|site| site.path.ends_with(&format!("::{path}")));
    sites.next().unwrap_or_else(|| panic!("{path} is there")).id
}

/// The tests in which a method ran.
fn tests(path: &str) -> Vec<String> {
    let (store, table) = table("coverage", "tests");
    let subjects = table.rows.iter().filter_map(|row| match row.key {
        RowKey::Subject(of, test) if of == site(&store, path) => Some(test),
        _ => None,
    });
    let mut tests: Vec<String> =
        subjects.map(|test| store.label(test).expect("tests have names").to_owned()).collect();
    tests.sort();
    tests
}

/// A value as a number.
fn number(value: &Value) -> u64 {
    value.number().unwrap_or(0)
}

/// True if this test has a process of its own; otherwise it is run in one.
fn is_apart(test: &str) -> bool {
    const APART: &str = "METASPY_TEST_APART";
    if std::env::var_os(APART).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("it is known");
    let run = std::process::Command::new(program)
        .args(["--exact", test, "--test-threads=2"])
        .env(APART, "1")
        .output();
    let run = run.expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"), "it has another name");
    false
}
