//! A method profiler of a program's own: its columns are in the recording, also when the program is
//! killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use metaspy::Store;
use metaspy::method_profilers::{
    Call, CallEnd, Columns, Count, Data, Max, MethodProfiler, MethodSpy,
};
use metaspy::prelude::*;
use metaspy::store::{By, ProfileTable, RowKey, Scope, Value};

/// Counts the objects of each method's calls, and the failures.
#[derive(Default)]
struct Failures;

struct Failed {
    failures: Count,
    deepest: Max,
}

impl Data for Failed {
    fn new(columns: &mut Columns<'_>) -> Self {
        Failed { failures: columns.sum("failures"), deepest: columns.max("deepest") }
    }
}

impl MethodProfiler for Failures {
    const NAME: &'static str = "failures";
    type Package = ();
    type Type = ();
    type Method = Failed;
    type Around = ();

    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        spy.data.failures.add(u64::from(end.outcome().name() == "failed"));
        spy.data.deepest.see(call.level() as u64 + 1);
    }
}

metaspy::profiler!(Failures);

struct Bank;

#[observe]
impl Bank {
    fn pay(&self, amount: u32) -> Result<u32, String> {
        self.check(amount)
    }

    fn check(&self, amount: u32) -> Result<u32, String> {
        if amount.is_multiple_of(4) { Err("no".to_owned()) } else { Ok(amount) }
    }
}

/// The program of a child process. As a test of its own it does next to nothing.
#[test]
fn pays() {
    for amount in 0..8 {
        let _ = Bank.pay(amount);
    }
    if std::env::var_os("METASPY_TEST_WAITS").is_some() {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn start(name: &str, profilers: &str) -> (PathBuf, Child) {
    let path =
        std::env::temp_dir().join(format!("metaspy-profiles-{}-{name}.spy", std::process::id()));
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["profiles::pays", "--exact"])
        .env("METASPY_RECORD", &path)
        .env("METASPY_PROFILE", profilers);
    command.env("METASPY_OBSERVE", "").env("METASPY_TEST_WAITS", "1").stdout(Stdio::null());
    (path, command.spawn().expect("it can be run again"))
}

/// The recording of a child that was killed when it had paid eight times.
fn killed(name: &str, profilers: &str) -> PathBuf {
    let (path, mut child) = start(name, profilers);
    let begun = Instant::now();
    while !Store::open(&path).is_ok_and(|store| executions(&store, "Bank::pay") == 8) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the child records nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    path
}

fn site(store: &Store, path: &str) -> metaspy::SiteId {
    let mut sites = store.sites().iter().filter(|site| site.path.ends_with(path));
    sites.next().unwrap_or_else(|| panic!("{path} is there")).id
}

fn executions(store: &Store, path: &str) -> u64 {
    let rows = store.tally(By::Site, &Scope::default()).rows;
    rows.iter().find(|row| row.site == Some(site(store, path))).map_or(0, |row| row.measure.count)
}

fn table(store: &Store, profile: &str, name: &str) -> ProfileTable {
    let profile = store.profile(profile).unwrap_or_else(|| panic!("{profile} was installed"));
    profile.table(name).expect("it was declared").clone()
}

fn open(path: &Path) -> Store {
    let store = Store::open(path).expect("it was recorded");
    let _ = std::fs::remove_file(path);
    store
}

#[test]
fn columns_of_a_profiler_on_observed_methods_survive_a_kill_and_merge_over_processes() {
    let paths = [killed("one", "failures"), killed("two", "failures")];
    let [one, two] = paths.each_ref().map(|path| open(path));
    let merged = Store::merged(vec![("one".to_owned(), one.clone()), ("two".to_owned(), two)]);
    for (store, processes) in [(one, 1), (merged.expect("they are two processes"), 2)] {
        let table = table(&store, "failures", "");
        let value =
            |path: &str, column: &str| table.value(RowKey::Site(site(&store, path)), column);
        assert_eq!(value("Bank::pay", "failures"), Value::Number(2 * processes));
        assert_eq!(
            (value("Bank::pay", "deepest"), value("Bank::check", "deepest")),
            (Value::Number(1), Value::Number(2))
        );
        assert_eq!((executions(&store, "Bank::check"), table.lost), (8 * processes, 0));
    }
}

#[test]
fn coverage_and_calls_see_observed_methods() {
    let store = open(&killed("both", "coverage, calls"));
    let tests = table(&store, "coverage", "tests");
    let of_pay = tests.rows.iter().filter_map(|row| match row.key {
        RowKey::Subject(of, test) if of == site(&store, "Bank::pay") => store.label(test),
        _ => None,
    });
    let names: Vec<&str> = of_pay.collect();
    assert!(names.iter().any(|name| name.ends_with("profiles::pays")), "{names:?}");
    let callers = table(&store, "calls", "callers");
    let (pay, check) = (site(&store, "Bank::pay"), site(&store, "Bank::check"));
    assert_eq!(callers.value(RowKey::Caller(check, Some(pay)), "calls"), Value::Number(8));
    assert_eq!(callers.value(RowKey::Caller(pay, None), "calls"), Value::Number(8));
    let times = table(&store, "calls", "");
    let ns = |column| times.value(RowKey::Site(pay), column).number().expect("calls are timed");
    assert!(ns("self") <= ns("total") && ns("total") > 0);
}

#[test]
fn a_profiler_that_is_not_there_is_reported_and_the_program_runs() {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["profiles::pays", "--exact"])
        .env("METASPY_PROFILE", "missing")
        .env("METASPY_RECORD", "memory");
    let output = command.output().expect("it can be run again");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.contains("there is no profiler `missing`"), "{error}");
    assert!(error.contains("failures") && error.contains("coverage"), "{error}");
}
