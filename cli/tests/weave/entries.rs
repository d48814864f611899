//! Hooks that only count: which runs have them, and that their counts are those of the other hooks.

use std::ffi::OsStr;
use std::fs;

use crate::common::schemas::assert_valid;
use crate::common::{Did, Package, manifest};

/// Calls of many kinds: recursive, generic, in threads, in a destructor while a panic unwinds,
/// async, and of closures.
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

fn half(n: u32) -> Option<u32> {
    if n % 2 == 0 { Some(n / 2) } else { None }
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
    assert_eq!((0..4).filter_map(half).count(), 2);
    println!("{found:?} {failed} {} {} {:?}", fails(2.5, -1.0), Square(1.5).twice(), poll(waits(4)));
}
"#;

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", MAIN)])
}

/// The woven copy of the program.
fn woven(package: &Package) -> String {
    let copies = fs::read_dir(package.target_dir().join("metaspy/weave/overlays"))
        .expect("there are copies");
    let copies = copies
        .flatten()
        .map(|copy| copy.path().join(package.dir.strip_prefix("/").unwrap()).join("src/main.rs"));
    copies.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

#[test]
fn their_counts_are_those_of_the_other_hooks() {
    let package = package("entered");
    for profile in [&[][..], &["--release"]] {
        let other = package.metaspy(
            &[&["run", "--profile", "coverage", "--timed", "--closures"], profile].concat(),
        );
        assert!(woven(&package).contains("__metaspy::hook!"), "{}", woven(&package));
        let covered =
            package.metaspy(&[&["run", "--profile", "coverage", "--closures"], profile].concat());
        let text = woven(&package);
        assert!(
            text.contains("__metaspy::covered!") && !text.contains("__metaspy::hook!"),
            "{text}"
        );
        let area = |did: &Did| {
            let methods = did.json["methods"].as_array().expect("there is a list").iter();
            let area =
                methods.into_iter().find(|method| method["path"] == "entered::Square::Shape::area");
            area.expect("it is there")["places"].clone()
        };
        assert_eq!((area(&covered), area(&other)), (1.into(), 1.into()));
        let counted = package.metaspy(&[&["run", "--closures"], profile].concat());
        let text = woven(&package);
        assert!(text.contains("__metaspy::entry!") && !text.contains("__metaspy::hook!"), "{text}");
        assert_eq!(counted.stdout.lines().next(), Some("[5, 55, 610] 3 2.5 4.5 Some(4)"));
        assert_eq!(counted.stdout.lines().next(), other.stdout.lines().next());
        assert_eq!(counted.stdout.lines().next(), covered.stdout.lines().next());
        let calls = |path: &str| (counted.calls(path), covered.calls(path), other.calls(path));
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
            assert_eq!(calls(path), (Some(count), Some(count), Some(count)), "{path}");
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
        let mut command =
            std::process::Command::new(package.target_dir().join("metaspy/debug/refuses"));
        for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE", "METASPY_DETAILS"] {
            command.env_remove(name);
        }
        let output = command
            .current_dir(&package.dir)
            .envs(environment.iter().copied())
            .output()
            .expect("it was built");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let recorded = ("METASPY_RECORD", "run.spy");
    for more in [("METASPY_MODE", "full"), ("METASPY_DETAILS", "1"), ("METASPY_PROFILE", "calls")] {
        let error = run(&[("METASPY_MODE", "tally"), recorded, more]);
        assert!(
            error.contains("cargo metaspy build") && error.contains("only counts"),
            "{more:?}: {error}"
        );
    }
    assert_eq!(run(&[recorded, ("METASPY_MODE", "tally")]), "");

    // How the calls ended is not known, and no number says so.
    let report = |line: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let output =
            command.current_dir(&package.dir).args(["report", "run.spy"]).args(line).output();
        let text = String::from_utf8(output.expect("it was built for this test").stdout)
            .expect("it is text");
        serde_json::from_str::<serde_json::Value>(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let all = report(&["--json"]);
    assert_valid(&["metaspy", "report", "--json"], &all);
    let outcomes = |report: &serde_json::Value| {
        let rows = report["rows"].as_array().expect("there are rows");
        ["refuses::fails", "refuses::half"].map(|path| {
            let row = rows.iter().find(|row| row["key"] == path).expect("it ran");
            assert_eq!(row["count"], 4, "{row}");
            ["panicked", "failed"].map(|outcome| row[outcome].as_u64())
        })
    };
    assert_eq!(outcomes(&all), [[None; 2]; 2]);
    let gate = |line: [&str; 2]| {
        let mut gate = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
        gate.current_dir(&package.dir).args(["report", "run.spy"]).args(line);
        let gate = gate.output().expect("it was built for this test");
        (gate.status.code(), String::from_utf8_lossy(&gate.stderr).into_owned())
    };
    let (code, error) = gate(["--fail-if", "count(outcome:panicked) > 3"]);
    assert!(code == Some(2) && error.contains("run `cargo metaspy` with --timed"), "{error}");

    for (name, value) in
        [("METASPY_MODE", "full"), ("METASPY_DETAILS", "1"), ("METASPY_PROFILE", "calls")]
    {
        package.metaspy_in(&["run"], &[(name, OsStr::new(value))]);
        assert!(woven(&package).contains("__metaspy::hook!"), "{name}");
    }
    assert_eq!(package.metaspy(&["build"]).compiled(), [""; 0], "the hooks are those of `build`");
    assert_eq!(run(&[recorded, ("METASPY_MODE", "tally"), ("METASPY_PROFILE", "calls")]), "");

    // They see how calls end, but not what these return.
    for mode in ["tally", "full"] {
        assert_eq!(run(&[recorded, ("METASPY_MODE", mode)]), "");
        assert_eq!(outcomes(&report(&["--json"])), [[Some(3), Some(0)], [Some(0), None]], "{mode}");
        for line in [
            ["--fail-if", "count(site:half outcome:failed) > 0"],
            ["--fail-if", "count(site:half outcome:succeeded) < 1"],
            ["--fail-if", "count(site:half -outcome:failed) < 1"],
            ["--expect", "site:half => -outcome:failed"],
        ] {
            let (code, error) = gate(line);
            let is_stated = error.contains("cannot be decided") && error.contains("--returns");
            assert!(code == Some(2) && is_stated, "{mode} {line:?}: {code:?} {error}");
        }
        assert_eq!(gate(["--fail-if", "count(site:half outcome:failed) > 4"]).0, Some(0), "{mode}");
    }
}

#[test]
fn those_of_calling_contexts_find_the_tree_of_the_other_hooks() {
    let package = package("in_contexts");
    /// The contexts of a run: path, calls and depth.
    fn contexts(package: &Package, run: &str) -> serde_json::Value {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let runs = package.runs().join(run);
        let output = command
            .current_dir(&package.dir)
            .arg("report")
            .arg(runs)
            .args(["--contexts", "--json"])
            .output();
        let text = String::from_utf8(output.expect("it was built for this test").stdout)
            .expect("it is text");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
    for (number, profile) in [&[][..], &["--release"]].into_iter().enumerate() {
        // Values need the other hooks.
        let other = package
            .metaspy(&[&["run", "--contexts", "--returns", "--profile", "none"], profile].concat());
        assert!(woven(&package).contains("__metaspy::whole!"), "{}", woven(&package));
        let counted = package.metaspy(&[&["run", "--contexts"], profile].concat());
        let text = woven(&package);
        assert!(
            text.contains("__metaspy::context!") && text.contains("__metaspy::polled!"),
            "{text}"
        );
        assert!(!text.contains("__metaspy::hook!"), "{text}");
        assert_eq!(counted.stdout.lines().next(), other.stdout.lines().next());
        let [other, counted] =
            [1, 2].map(|run| contexts(&package, &(2 * number + run).to_string()));
        assert_eq!(counted, other);
        assert!(counted.to_string().contains("in_contexts::fib"), "{counted}");
    }
}
/// A library that does all that makes counting hard. It is a shared one, too, and loads itself as
/// that. Its functions are called on a stack that threads run in turn, in a task that threads poll
/// in turn, in a forked child, and in threads that end.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const EVERYWHERE: &str = r#"
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn getcontext(context: *mut Saved) -> c_int;
    fn makecontext(context: *mut Saved, function: extern "C" fn(), count: c_int, ...);
    fn swapcontext(from: *mut Saved, to: *const Saved) -> c_int;
}

/// A `ucontext_t` of the C library.
#[repr(C, align(16))]
struct Saved {
    flags: u64,
    link: *mut Saved,
    stack: *mut u8,
    stack_flags: c_int,
    stack_size: usize,
    rest: [u64; 128],
}

impl Saved {
    const NEW: Shared<Saved> = {
        let (link, stack) = (std::ptr::null_mut(), std::ptr::null_mut());
        Shared(UnsafeCell::new(Saved { flags: 0, link, stack, stack_flags: 0, stack_size: 0, rest: [0; 128] }))
    };
}

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}
static OUTSIDE: Shared<Saved> = Saved::NEW;
static INSIDE: Shared<Saved> = Saved::NEW;

#[inline(never)]
fn stepped(number: u64) -> u64 {
    std::hint::black_box(number)
}

extern "C" fn coroutine() {
    loop {
        for number in 0..10 {
            stepped(number);
        }
        unsafe { swapcontext(INSIDE.0.get(), OUTSIDE.0.get()) };
    }
}

fn resumed() {
    unsafe { swapcontext(OUTSIDE.0.get(), INSIDE.0.get()) };
}

fn coroutines() {
    let stack = vec![0_u128; 1 << 14].leak();
    unsafe {
        let inside = INSIDE.0.get();
        getcontext(inside);
        (*inside).stack = stack.as_mut_ptr().cast();
        (*inside).stack_size = size_of_val(stack);
        makecontext(inside, coroutine, 0);
    }
    for _ in 0..3 {
        resumed();
        thread::spawn(resumed).join().unwrap();
    }
}

/// Is pending twice.
struct Pause(u32);

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 += 1;
        if self.0 > 2 { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn paused() -> u64 {
    Pause(0).await;
    resumes() + resumes()
}

fn resumes() -> u64 {
    1
}

/// The next poll is another thread's.
fn polled(mut task: Pin<Box<dyn Future<Output = u64> + Send>>) {
    if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        thread::spawn(move || polled(task)).join().unwrap();
    }
}

fn forked() {}

fn forks() {
    forked();
    let child = unsafe { fork() };
    if child == 0 {
        forked();
        unsafe { _exit(7) };
    }
    let mut status = 0;
    unsafe { waitpid(child, &mut status, 0) };
    assert_eq!(status >> 8, 7, "the child does its work");
    forked();
}

fn short() -> u64 {
    1
}

fn threads() {
    for _ in 0..20 {
        let threads = [(); 4].map(|()| thread::spawn(|| (0..50).map(|_| short()).sum::<u64>()));
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 50));
    }
}

struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        short();
    }
}

fn unwinds(depth: u32) {
    let _ends = Ends;
    if depth == 0 {
        panic!("on purpose")
    }
    unwinds(depth - 1);
}

#[inline(never)]
fn inside(number: u64) -> u64 {
    std::hint::black_box(number)
}

/// What the shared library is loaded for.
#[unsafe(no_mangle)]
pub extern "C" fn exported(calls: u64) -> u64 {
    (0..calls).map(inside).sum()
}

fn loads() {
    let path = std::env::current_exe().unwrap().with_file_name("libeverywhere.so");
    let path = CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
    let library = unsafe { dlopen(path.as_ptr(), 2) };
    assert!(!library.is_null(), "{path:?} is a library");
    let exported = unsafe { dlsym(library, c"exported".as_ptr()) };
    let exported: extern "C" fn(u64) -> u64 = unsafe { std::mem::transmute(exported) };
    assert_eq!(exported(5), 10);
    assert_eq!(thread::spawn(move || exported(3)).join().unwrap(), 3);
}

pub fn all() {
    threads();
    coroutines();
    polled(Box::pin(paused()));
    forks();
    loads();
    assert_eq!(bare::sum(&[1, 2, 3]), 6);
    std::panic::set_hook(Box::new(|_| ()));
    assert!(std::panic::catch_unwind(|| unwinds(9)).is_err());
}
"#;

/// How often its functions are called. A forked child is not counted, and the shared library counts
/// in a recording of its own.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const CALLED_EVERYWHERE: [(&str, u64); 11] = [
    ("everywhere::all", 1),
    ("everywhere::stepped", 60),
    ("everywhere::resumed", 6),
    ("everywhere::paused", 1),
    ("everywhere::resumes", 2),
    ("everywhere::Pause::Future::poll", 3),
    ("everywhere::polled", 3),
    ("everywhere::forked", 2),
    ("everywhere::inside", 8),
    ("bare::sum", 1),
    ("bare::sum::one", 3),
];

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn everywhere() -> Package {
    let more = "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\n[dependencies]\nbare = { path = \"bare\" }\n\n\
                [profile.release]\ncodegen-units = 1";
    let main = "fn main() {\n    everywhere::all();\n}\n";
    let bare = "#![no_std]\npub fn sum(numbers: &[u64]) -> u64 {\n    fn one(number: &u64) -> u64 {\n        *number\n    }\n    \
                numbers.iter().map(one).sum()\n}\n";
    Package::new(
        "everywhere",
        &[
            ("Cargo.toml", &manifest("everywhere", "2024", more)),
            ("src/lib.rs", EVERYWHERE),
            ("src/main.rs", main),
            (
                "bare/Cargo.toml",
                "[package]\nname = \"bare\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            ("bare/src/lib.rs", bare),
        ],
    )
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn they_count_everywhere_and_in_optimised_programs() {
    let package = everywhere();
    for build in [&[][..], &["--release", "--config", "profile.release.lto='thin'"]] {
        let line = [&["run", "--weave", "everywhere::**", "--weave", "bare::**"], build].concat();
        let did = package.metaspy(&line);
        for (path, calls) in CALLED_EVERYWHERE {
            assert_eq!(did.calls(path), Some(calls), "{path} of {build:?}: {}", did.stderr);
        }
        assert_eq!(did.calls("everywhere::unwinds"), Some(10), "{build:?}");
        assert_eq!(did.calls("everywhere::short"), Some(4_000 + 10), "{build:?}");
        assert_eq!(did.json["exact"], true, "{build:?}: {}", did.stderr);
    }
}
