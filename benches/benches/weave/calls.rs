//! A call of a woven function: what it adds to the plain one.

use std::path::Path;
use std::process::Command;

use crate::{Line, row};
use metaspy_benches::package::Package;

/// The program measures itself: the same method, plain and woven, on one object, on a thousand, and on two threads.
const PROGRAM: &str = r#"
use std::hint::black_box;
use std::time::Instant;

const CALLS: u64 = 2_000_000;

mod plain {
    pub struct Thing(pub u64);
    impl Thing {
        #[inline(never)]
        pub fn call(&self, with: u64) -> u64 {
            std::hint::black_box(with) + self.0
        }
    }
}
mod woven {
    pub struct Thing(pub u64);
    impl Thing {
        #[inline(never)]
        pub fn call(&self, with: u64) -> u64 {
            std::hint::black_box(with) + self.0
        }
    }
}

fn time(call: impl Fn(u64) -> u64) -> f64 {
    let started = Instant::now();
    let mut sum = 0;
    for at in 0..CALLS {
        sum += call(at);
    }
    black_box(sum);
    started.elapsed().as_nanos() as f64 / CALLS as f64
}

fn main() {
    let (plain, woven) = (plain::Thing(1), woven::Thing(1));
    let (plain_many, many): (Vec<_>, Vec<_>) = (0..1000).map(|at| (plain::Thing(at), woven::Thing(at))).unzip();
    time(|at| woven.call(at));
    let took = [
        time(|at| plain.call(at)),
        time(|at| woven.call(at)),
        time(|at| plain_many[at as usize % 1000].call(at)),
        time(|at| many[at as usize % 1000].call(at)),
    ];
    let both = || std::thread::scope(|scope| {
        let other = scope.spawn(|| time(|at| many[0].call(at)));
        let own = time(|at| woven.call(at));
        (own + other.join().unwrap()) / 2.0
    });
    let plain_both = std::thread::scope(|scope| {
        let other = scope.spawn(|| time(|at| plain.call(at)));
        let own = time(|at| plain.call(at));
        (own + other.join().unwrap()) / 2.0
    });
    let [plain, woven, plain_many, many] = took;
    println!("{plain} {woven} {plain_many} {many} {plain_both} {}", both());
}
"#;

/// The environment of each case.
const CASES: [(&str, &[(&str, &str)]); 5] = [
    ("not armed", &[]),
    ("counted", &[("METASPY_RECORD", "live"), ("METASPY_MODE", "tally")]),
    ("coverage", &[("METASPY_PROFILE", "coverage")]),
    ("callers and time", &[("METASPY_PROFILE", "calls")]),
    ("events", &[("METASPY_RECORD", "live")]),
];

/// Measures each case, interleaved.
pub fn measure(command: &Path, rounds: usize) -> Vec<Line> {
    let manifest = "[package]\nname = \"woven-calls\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let files = [("Cargo.toml", manifest.to_owned()), ("src/main.rs", PROGRAM.to_owned())];
    let package = Package::new("calls", &files);
    package.time(command, &["metaspy", "build", "--release", "--weave", "woven_calls::woven::**"]);
    let built = package.target.join("metaspy/release/woven-calls");
    let mut found: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); 6]; CASES.len()];
    for round in 0..rounds {
        eprint!("\rcalls: round {} of {rounds} ", round + 1);
        for step in 0..CASES.len() {
            let at = (round + step) % CASES.len();
            for (column, took) in run(&built, CASES[at].1).into_iter().enumerate() {
                found[at][column].push(took);
            }
        }
    }
    eprintln!();
    let mut lines = Vec::new();
    for (at, (case, _)) in CASES.iter().enumerate() {
        let [plain, one, plain_many, many, plain_both, both] = &found[at][..] else { unreachable!("it prints six") };
        lines.push(row("a call", case, one, plain, "ns"));
        lines.push(row("  1000", "on a thousand objects", many, plain_many, "ns"));
        lines.push(row("  both", "on two threads", both, plain_both, "ns"));
    }
    lines
}

fn run(program: &Path, environment: &[(&str, &str)]) -> Vec<f64> {
    let dir = std::env::temp_dir().join(format!("metaspy-bench-{}", std::process::id()));
    let mut command = Command::new(program);
    for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).env("METASPY_DIR", &dir).output().expect("it starts");
    let _ = std::fs::remove_dir_all(dir);
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.split_whitespace().map(|number| number.parse().expect("it is a number")).collect()
}
