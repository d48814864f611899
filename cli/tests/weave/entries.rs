//! Hooks that only count: which runs have them, and that their counts are those of the other hooks.

use std::ffi::OsStr;
use std::fs;

use crate::common::{Package, manifest};

/// Calls of many kinds: recursive, generic, in threads, in a destructor while a panic unwinds, async, and of closures.
const MAIN: &str = r#"
use std::future::Future;

pub trait Shape {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 {
        2.0 * self.area()
    }
}

pub struct Square(pub f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Drop for Square {
    fn drop(&mut self) {
        ended();
    }
}

fn ended() {}

fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn both<T: Copy>(value: T) -> (T, T) {
    (value, value)
}

fn fails(x: f64, y: f64) -> f64 {
    let _square = Square(x);
    if y > 0.0 { panic!("on purpose") }
    x
}

async fn waits(times: u32) -> u32 {
    if times == 0 { 0 } else { Box::pin(waits(times - 1)).await + 1 }
}

fn poll<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let threads = [5, 10, 15].map(|n| std::thread::spawn(move || fib(n)));
    let found = threads.map(|thread| thread.join().unwrap());
    both(both(both(1_u8)));
    both("a");
    let failed = (0..3).filter(|_| std::panic::catch_unwind(|| fails(2.0, 1.0)).is_err()).count();
    drop(waits(1));
    println!("{found:?} {failed} {} {} {:?}", fails(2.5, -1.0), Square(1.5).twice(), poll(waits(4)));
}
"#;

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", MAIN)])
}

/// The woven copy of the program.
fn woven(package: &Package) -> String {
    let copies = fs::read_dir(package.target_dir().join("metaspy/weave/overlays")).expect("there are copies");
    let copies =
        copies.flatten().map(|copy| copy.path().join(package.dir.strip_prefix("/").unwrap()).join("src/main.rs"));
    copies.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

#[test]
fn their_counts_are_those_of_the_other_hooks() {
    let package = package("entered");
    for profile in [&[][..], &["--release"]] {
        let other = package.metaspy(&[&["run", "--profile", "coverage", "--closures"], profile].concat());
        assert!(woven(&package).contains("__metaspy::hook!"), "{}", woven(&package));
        let counted = package.metaspy(&[&["run", "--closures"], profile].concat());
        let text = woven(&package);
        assert!(text.contains("__metaspy::entry!") && !text.contains("__metaspy::hook!"), "{text}");
        assert_eq!(counted.stdout.lines().next(), Some("[5, 55, 610] 3 2.5 4.5 Some(4)"));
        assert_eq!(counted.stdout.lines().next(), other.stdout.lines().next());
        let calls = |path: &str| (counted.calls(path), other.calls(path));
        let expected = [
            ("entered::fib", 15 + 177 + 1973),
            ("entered::both", 4),
            ("entered::fails", 4),
            ("entered::ended", 5),
            ("entered::Square::Drop::drop", 5),
            ("entered::Square::Shape::area", 1),
            ("entered::Shape::twice", 1),
            ("entered::waits", 5),
            ("entered::main::{closure#2}", 3),
        ];
        for (path, count) in expected {
            assert_eq!(calls(path), (Some(count), Some(count)), "{path}");
        }
        assert!(counted.json["exact"] == true && other.json["exact"] == true);
        let again = package.metaspy(&[&["run", "--closures"], profile].concat());
        assert_eq!(again.compiled(), [""; 0], "the same run builds nothing");
    }
}

#[test]
fn what_they_do_not_see_is_built_where_it_is_wanted_and_else_refused() {
    let package = package("refuses");
    package.metaspy(&["run"]);
    let run = |environment: &[(&str, &str)]| {
        let mut command = std::process::Command::new(package.target_dir().join("metaspy/debug/refuses"));
        for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE", "METASPY_DETAILS"] {
            command.env_remove(name);
        }
        let output =
            command.current_dir(&package.dir).envs(environment.iter().copied()).output().expect("it was built");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let recorded = ("METASPY_RECORD", "run.spy");
    for more in [("METASPY_MODE", "full"), ("METASPY_DETAILS", "1"), ("METASPY_PROFILE", "calls")] {
        let error = run(&[("METASPY_MODE", "tally"), recorded, more]);
        assert!(error.contains("cargo metaspy build") && error.contains("only counts"), "{more:?}: {error}");
    }
    assert_eq!(run(&[recorded, ("METASPY_MODE", "tally")]), "");

    // How the calls ended is not known, and no number says so.
    let report = |line: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let output = command.current_dir(&package.dir).args(["report", "run.spy"]).args(line).output();
        let text = String::from_utf8(output.expect("it was built for this test").stdout).expect("it is text");
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let all = report(&["--json"]);
    let rows = all["rows"].as_array().expect("there are rows");
    let fails = rows.iter().find(|row| row["key"] == "refuses::fails").expect("it ran");
    assert!(fails["count"] == 4 && fails["panicked"].is_null() && fails["failed"].is_null(), "{fails}");

    let mut gate = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
    gate.current_dir(&package.dir).args(["report", "run.spy", "--fail-if", "count(outcome:panicked) > 3"]);
    let gate = gate.output().expect("it was built for this test");
    let error = String::from_utf8_lossy(&gate.stderr);
    assert!(gate.status.code() == Some(2) && error.contains("run `cargo metaspy` with --timed"), "{error}");

    for (name, value) in [("METASPY_MODE", "full"), ("METASPY_DETAILS", "1"), ("METASPY_PROFILE", "calls")] {
        package.metaspy_in(&["run"], &[(name, OsStr::new(value))]);
        assert!(woven(&package).contains("__metaspy::hook!"), "{name}");
    }
    assert_eq!(package.metaspy(&["build"]).compiled(), [""; 0], "the hooks are those of `build`");
    assert_eq!(run(&[recorded, ("METASPY_MODE", "tally"), ("METASPY_PROFILE", "calls")]), "");
}

#[test]
fn those_of_calling_contexts_find_the_tree_of_the_other_hooks() {
    let package = package("in_contexts");
    /// The contexts of a run: path, calls and depth.
    fn contexts(package: &Package, run: &str) -> serde_json::Value {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let runs = package.runs().join(run);
        let output = command.current_dir(&package.dir).arg("report").arg(runs).args(["--contexts", "--json"]).output();
        let text = String::from_utf8(output.expect("it was built for this test").stdout).expect("it is text");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
    for (number, profile) in [&[][..], &["--release"]].into_iter().enumerate() {
        // Values need the other hooks.
        let other = package.metaspy(&[&["run", "--contexts", "--returns", "--profile", "none"], profile].concat());
        assert!(woven(&package).contains("__metaspy::whole!"), "{}", woven(&package));
        let counted = package.metaspy(&[&["run", "--contexts"], profile].concat());
        let text = woven(&package);
        assert!(text.contains("__metaspy::context!") && text.contains("__metaspy::polled!"), "{text}");
        assert!(!text.contains("__metaspy::hook!"), "{text}");
        assert_eq!(counted.stdout.lines().next(), other.stdout.lines().next());
        let [other, counted] = [1, 2].map(|run| contexts(&package, &(2 * number + run).to_string()));
        assert_eq!(counted, other);
        assert!(counted.to_string().contains("in_contexts::fib"), "{counted}");
    }
}
