//! Programs that make published crates work, to weave these whole and to compare their times.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::package::Package;
use crate::report::Clock;
use crate::stats::median;
use crate::{child, rounds};

/// A crate that is woven whole.
pub struct Program {
    /// The name of the crate in paths.
    pub name: &'static str,
    /// Its line in a manifest.
    dependency: &'static str,
    /// The module that makes it work.
    driver: &'static str,
}

macro_rules! programs {
    ($($name:literal $dependency:literal;)+) => {
        [$(Program { name: $name, dependency: $dependency, driver: include_str!(concat!("../programs/", $name, ".rs")) }),+]
    };
}

/// All of them.
pub static PROGRAMS: [Program; 12] = programs! {
    "comrak" r#"comrak = { version = "=0.59.0", default-features = false }"#;
    "csv" r#"csv = "=1.4.0""#;
    "evalexpr" r#"evalexpr = "=13.1.0""#;
    "fancy_regex" r#"fancy-regex = "=0.20.2""#;
    "heck" r#"heck = "=0.5.0""#;
    "petgraph" r#"petgraph = "=0.8.3""#;
    "pulldown_cmark" r#"pulldown-cmark = "=0.13.6""#;
    "regex_lite" r#"regex-lite = "=0.1.9""#;
    "roxmltree" r#"roxmltree = "=0.21.2""#;
    "serde_json" r#"serde_json = "=1.0.154""#;
    "taffy" r#"taffy = "=0.15.1""#;
    "textwrap" r#"textwrap = "=0.16.4""#;
};

const MANIFEST: &str = "[package]\nname = \"editor-programs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
    [workspace]\n\n[dependencies]\nlibc = \"0.2\"\n";

/// A build of the programs, and how they run.
pub struct Case {
    /// Its name in a table.
    pub name: &'static str,
    /// The program of this build.
    pub program: PathBuf,
    /// Its environment.
    pub environment: &'static [(&'static str, &'static str)],
    /// The command that runs it, with its arguments; empty if it runs by itself.
    pub under: &'static [&'static str],
}

/// Callgrind, which counts instructions, and calls as a by-product.
pub const CALLGRIND: &[&str] = &["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Nanoseconds of processor time that a plain program should take at least.
const LONG_ENOUGH: f64 = 1e8;

/// What a run printed: by the clock on the wall and by the processor's, and the sum of its results.
struct Ran {
    wall: f64,
    cpu: f64,
    sum: u64,
}

/// The programs behind `--crates`, else those in `default`, or all; one in a smoke test.
pub fn wanted(default: Option<&str>) -> Vec<&'static Program> {
    let default = if child::is_smoke() { Some("heck") } else { default };
    let names = child::option("--crates").or(default.map(str::to_owned));
    let is_wanted = |it: &&Program| {
        names.as_ref().is_none_or(|names| names.split(',').any(|name| name == it.name))
    };
    PROGRAMS.iter().filter(is_wanted).collect()
}

/// A program whose first argument names a crate, and whose second is how often its work is done.
pub fn package(programs: &[&Program]) -> Package {
    let all =
        |part: &dyn Fn(&Program) -> String| programs.iter().map(|it| part(it)).collect::<String>();
    let manifest = format!("{MANIFEST}{}", all(&|it| format!("{}\n", it.dependency)));
    let modules = all(&|it| format!("mod {};\n", it.name));
    let arms = all(&|it| format!("        Some(\"{0}\") => {0}::main(),\n", it.name));
    let main = format!(
        "mod measure;\n{modules}\nfn main() {{\n    match std::env::args().nth(1).as_deref() {{\n{arms}        \
         _ => eprintln!(\"the first argument is the name of a crate\"),\n    }}\n}}\n"
    );
    let drivers: Vec<(String, &str)> =
        programs.iter().map(|it| (format!("src/{}.rs", it.name), it.driver)).collect();
    let shared = [
        ("src/measure.rs", include_str!("../programs/measure.rs")),
        ("Cargo.toml", &*manifest),
        ("src/main.rs", &*main),
    ];
    let files = drivers.iter().map(|(path, text)| (&**path, *text)).chain(shared);
    let files: Vec<(&str, String)> = files.map(|(path, text)| (path, text.to_owned())).collect();
    Package::new("editor-programs", &files)
}

/// For each case the median of its times, as multiples of the first one's in the same round.
pub fn interleaved(name: &str, cases: &[Case]) -> Vec<f64> {
    let by = |ran: &Ran| if Clock::wanted() == Clock::Wall { ran.wall } else { ran.cpu };
    let first = run(&cases[0], name, 10);
    let times =
        if child::is_smoke() { 10 } else { (LONG_ENOUGH / (first.cpu / 10.0)).ceil() as u64 };
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); cases.len()];
    for round in 0..rounds::wanted() {
        let mut rans: Vec<Option<Ran>> = cases.iter().map(|_| None).collect();
        for step in 0..cases.len() {
            let at = (round + step) % cases.len();
            rans[at] = Some(run(&cases[at], name, times));
        }
        let rans: Vec<Ran> = rans.into_iter().map(|ran| ran.expect("each case ran")).collect();
        for (at, ran) in rans.iter().enumerate() {
            assert_eq!(ran.sum, rans[0].sum, "{name}, {}: hooks change no result", cases[at].name);
            ratios[at].push(by(ran) / by(&rans[0]));
        }
    }
    ratios.iter().map(|ratios| median(ratios)).collect()
}

/// The instructions that the work of a program takes, done so often more; `None` without valgrind.
pub fn instructions(case: &Case, name: &str, times: u64) -> Option<f64> {
    let collected = |times: u64| {
        let output = output(case, CALLGRIND, name, times)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok())
    };
    // What a program does once, and when it starts, is not in the difference.
    Some(collected(2 * times)? - collected(times)?)
}

fn run(case: &Case, name: &str, times: u64) -> Ran {
    let output = output(case, case.under, name, times).expect("it was built");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let numbers: Vec<u64> =
        text.split_whitespace().map(|number| number.parse().expect("it is a number")).collect();
    let [wall, cpu, sum] = numbers[..] else { panic!("it prints three numbers: {text}") };
    Ran { wall: wall as f64, cpu: cpu as f64, sum }
}

/// Runs a program; `None` if the command that runs it is not there.
fn output(case: &Case, under: &[&str], name: &str, times: u64) -> Option<Output> {
    let dir = std::env::temp_dir().join(format!("metaspy-bench-{}", std::process::id()));
    let mut command = match under {
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(&case.program);
            command
        }
        [] => Command::new(&case.program),
    };
    for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE", "METASPY_BUDGET"] {
        command.env_remove(name);
    }
    command
        .arg(name)
        .arg(times.to_string())
        .envs(case.environment.iter().copied())
        .env("METASPY_DIR", &dir);
    // Of a program with the compiler's counters.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    let output = command.output();
    let _ = std::fs::remove_dir_all(dir);
    let output = output.ok()?;
    assert!(
        output.status.success(),
        "{}: {}",
        case.program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(output)
}
