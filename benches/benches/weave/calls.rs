//! A call of a woven function: what it adds to the plain one.

use std::path::Path;
use std::process::Command;

use crate::{Line, row};
use metaspy_benches::package::Package;

/// The program measures itself: the same method, plain and woven, on objects in turn, and on one in
/// two threads.
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
    let objects: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    let (plain, woven): (Vec<_>, Vec<_>) = (0..objects).map(|at| (plain::Thing(at), woven::Thing(at))).unzip();
    let in_turn = |at: u64| (at % objects) as usize;
    time(|at| woven[in_turn(at)].call(at));
    let took = [time(|at| plain[in_turn(at)].call(at)), time(|at| woven[in_turn(at)].call(at))];
    let both = |call: &(dyn Fn(u64) -> u64 + Sync)| std::thread::scope(|scope| {
        let other = scope.spawn(|| time(call));
        let own = time(call);
        (own + other.join().unwrap()) / 2.0
    });
    let both = [both(&|at| plain[0].call(at)), both(&|at| woven[0].call(at))];
    println!("{} {} {} {}", took[0], took[1], both[0], both[1]);
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

/// How many objects the method is called on in turn.
const OBJECTS: [(&str, &str); 5] =
    [("1", "a call"), ("2", "  2"), ("50", "  50"), ("99", "  99"), ("1000", "  1000")];

/// What a run printed: nanoseconds of a call.
struct Ran {
    plain: f64,
    woven: f64,
    plain_on_two_threads: f64,
    woven_on_two_threads: f64,
}

/// Measures each case, interleaved.
pub fn measure(command: &Path, rounds: usize) -> Vec<Line> {
    let manifest = "[package]\nname = \"woven-calls\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let files = [("Cargo.toml", manifest.to_owned()), ("src/main.rs", PROGRAM.to_owned())];
    let package = Package::new("calls", &files);
    package.time(command, &["metaspy", "build", "--release", "--weave", "woven_calls::woven::**"]);
    let built = package.target.join("metaspy/release/woven-calls");
    let mut found: Vec<[Vec<Ran>; OBJECTS.len()]> =
        CASES.iter().map(|_| Default::default()).collect();
    for round in 0..rounds {
        eprint!("\rcalls: round {} of {rounds} ", round + 1);
        for step in 0..CASES.len() {
            let at = (round + step) % CASES.len();
            for (rans, (objects, _)) in found[at].iter_mut().zip(OBJECTS) {
                rans.push(run(&built, CASES[at].1, objects));
            }
        }
    }
    eprintln!();
    let mut lines = Vec::new();
    for ((case, _), found) in CASES.iter().zip(&found) {
        let of = |rans: &[Ran], took: fn(&Ran) -> f64| rans.iter().map(took).collect::<Vec<f64>>();
        for (rans, (_, what)) in found.iter().zip(OBJECTS) {
            lines.push(row(
                what,
                case,
                &of(rans, |ran| ran.woven),
                &of(rans, |ran| ran.plain),
                "ns",
            ));
        }
        let plain = of(&found[0], |ran| ran.plain_on_two_threads);
        let woven = of(&found[0], |ran| ran.woven_on_two_threads);
        lines.push(row("  both", "on two threads", &woven, &plain, "ns"));
    }
    lines
}

fn run(program: &Path, environment: &[(&str, &str)], objects: &str) -> Ran {
    let dir = std::env::temp_dir().join(format!("metaspy-bench-{}", std::process::id()));
    let mut command = Command::new(program);
    for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE"] {
        command.env_remove(name);
    }
    command.arg(objects).envs(environment.iter().copied()).env("METASPY_DIR", &dir);
    let output = command.output().expect("it starts");
    let _ = std::fs::remove_dir_all(dir);
    let text = String::from_utf8(output.stdout).expect("it is text");
    let numbers: Vec<f64> =
        text.split_whitespace().map(|number| number.parse().expect("it is a number")).collect();
    let [plain, woven, plain_on_two_threads, woven_on_two_threads] = numbers[..] else {
        panic!("it prints four numbers: {text}")
    };
    Ran { plain, woven, plain_on_two_threads, woven_on_two_threads }
}
