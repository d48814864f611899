//! Woven code as a weaver makes it, in one crate with what it calls.

mod calls;
mod coverage;
mod domain;
mod recorded;
mod settled;

use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};

use metaspy_core::method_profilers::{MethodProfiler, Mirror};
use metaspy_core::store::{ProfileTable, RowKey, Value};
use metaspy_core::{Installed, Profile, Profiler, Recording, SiteId, Store};

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
    let mut tests: Vec<String> = subjects.map(|test| store.label(test).expect("tests have names").to_owned()).collect();
    tests.sort();
    tests
}

/// A value as a number.
fn number(value: &Value) -> u64 {
    value.number().unwrap_or(0)
}

/// Who looks at the sites of this process is one thing at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// True if this test has a process of its own; otherwise it is run in one.
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

/// A method profiler that is installed alone.
struct Only<P>(Installed, PhantomData<P>);

fn install<P: MethodProfiler>(profiler: P) -> Only<P> {
    let profiler = Profiler::new(P::NAME).method_profiler(profiler);
    Only(profiler.install().expect("there is room"), PhantomData)
}

#[allow(dead_code)]
impl<P: MethodProfiler> Only<P> {
    fn mirror(&self) -> &'static Mirror<P> {
        self.0.so_far().mirror().expect("it is installed")
    }

    fn profiler(&self) -> &'static P {
        self.0.so_far().method_profiler().expect("it is installed")
    }

    fn uninstall(self) -> (Profile, &'static Mirror<P>) {
        let mirror = self.mirror();
        (self.0.uninstall(), mirror)
    }
}

/// How often a method ran.
fn executions(profile: &Profile, path: &str) -> u64 {
    profile.counts().by_site().at(path).map_or(0, |row| row.measure.count)
}
