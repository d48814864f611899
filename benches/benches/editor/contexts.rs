//! Published programs with a shadow stack, the tree of calling contexts and counts of objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use metaspy_benches::report::{Clock, target};
use metaspy_benches::stats::median;
use metaspy_benches::{child, rounds};

use metaspy_benches::package::Package;

/// A crate that is woven whole.
struct Crate {
    name: &'static str,
    /// Its line in a manifest.
    dependency: &'static str,
    /// The module that makes it work.
    driver: &'static str,
}

macro_rules! crates {
    ($($name:literal $dependency:literal;)+) => {
        [$(Crate { name: $name, dependency: $dependency, driver: include_str!(concat!("programs/", $name, ".rs")) }),+]
    };
}

static CRATES: [Crate; 12] = crates! {
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

/// How the programs are built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    Plain,
    /// All functions of the crate have hooks, and the allocator counts.
    Woven,
    /// The allocator counts, and only the program's own functions have hooks.
    Heap,
}

/// A build, and the environment of its programs.
struct Case {
    name: &'static str,
    build: Build,
    environment: &'static [(&'static str, &'static str)],
    /// The most that the geometric mean and the worst may be.
    goal: Option<(f64, f64)>,
}

const CASES: [Case; 7] = [
    Case { name: "plain", build: Build::Plain, environment: &[], goal: None },
    Case { name: "unarmed", build: Build::Woven, environment: &[], goal: None },
    Case {
        name: "stack",
        build: Build::Woven,
        environment: &[("METASPY_RECORD", "live"), ("METASPY_MODE", "tally")],
        goal: None,
    },
    Case { name: "tree", build: Build::Woven, environment: &[("METASPY_PROFILE", "contexts")], goal: None },
    Case {
        name: "heap",
        build: Build::Heap,
        environment: &[("METASPY_PROFILE", "allocations")],
        goal: Some((1.15, f64::INFINITY)),
    },
    Case {
        name: "all",
        build: Build::Woven,
        environment: &[("METASPY_PROFILE", "allocations")],
        goal: Some((1.5, 3.0)),
    },
    Case { name: "callers", build: Build::Woven, environment: &[("METASPY_PROFILE", "calls")], goal: None },
];

/// Nanoseconds of processor time that a plain program should take at least.
const LONG_ENOUGH: f64 = 1e8;

/// What a run printed: by the clock on the wall and by the processor's, and the sum of its results.
struct Ran {
    wall: f64,
    cpu: f64,
    sum: u64,
}

/// Builds the programs, measures each case interleaved, and prints the table.
pub fn measure(command: &Path) {
    let crates = wanted();
    let package = package(&crates);
    let [plain, woven, heap] = ["plain", "woven", "heap"].map(|name| target().join("editor").join(name));
    let words = child::option("--words").unwrap_or_default();
    let selectors: Vec<String> = crates.iter().map(|it| format!("{}::** {words}", it.name)).collect();
    let weave: Vec<&str> = selectors.iter().flat_map(|selector| ["--weave", selector]).collect();
    build(&package, Path::new(env!("CARGO")), &plain, &["build", "--release"]);
    // The command gives programs that it runs an allocator that counts.
    let line = ["metaspy", "run", "--release", "--allocations", "--quiet"];
    build(&package, command, &woven, &[&line[..], &weave].concat());
    build(&package, command, &heap, &line);
    let of = |build: Build| match build {
        Build::Plain => plain.join("release/editor-programs"),
        Build::Woven => woven.join("metaspy/release/editor-programs"),
        Build::Heap => heap.join("metaspy/release/editor-programs"),
    };

    print!("{:<16}", "");
    CASES.iter().skip(1).for_each(|case| print!("{:>9}", case.name));
    println!("   x the plain time");
    let mut ratios: [Vec<f64>; CASES.len()] = Default::default();
    for Crate { name, .. } in crates {
        let found = interleaved(name, |case| of(case.build));
        print!("{name:<16}");
        for (case, ratio) in found.into_iter().enumerate().skip(1) {
            print!("{ratio:>9.2}");
            ratios[case].push(ratio);
        }
        println!();
    }
    summarise(&ratios);
}

/// For each case the median ratio to the plain run of the same round.
fn interleaved(name: &str, program: impl Fn(&Case) -> PathBuf) -> [f64; CASES.len()] {
    let plain = &CASES[0];
    let by = |ran: &Ran| if Clock::wanted() == Clock::Wall { ran.wall } else { ran.cpu };
    let first = run(&program(plain), name, plain, 10);
    let times = if child::is_smoke() { 10 } else { (LONG_ENOUGH / (first.cpu / 10.0)).ceil() as u64 };
    let mut ratios: [Vec<f64>; CASES.len()] = Default::default();
    for round in 0..rounds::wanted() {
        let mut rans: [Option<Ran>; CASES.len()] = Default::default();
        for step in 0..CASES.len() {
            let at = (round + step) % CASES.len();
            rans[at] = Some(run(&program(&CASES[at]), name, &CASES[at], times));
        }
        let rans = rans.map(|ran| ran.expect("each case ran"));
        for (at, ran) in rans.iter().enumerate() {
            assert_eq!(ran.sum, rans[0].sum, "{name}, {}: hooks change no result", CASES[at].name);
            ratios[at].push(by(ran) / by(&rans[0]));
        }
    }
    ratios.map(|ratios| median(&ratios))
}

fn run(program: &Path, name: &str, case: &Case, times: u64) -> Ran {
    let dir = std::env::temp_dir().join(format!("metaspy-bench-{}", std::process::id()));
    let mut command = Command::new(program);
    for name in ["METASPY_RECORD", "METASPY_MODE", "METASPY_PROFILE", "METASPY_BUDGET"] {
        command.env_remove(name);
    }
    command.arg(name).arg(times.to_string()).envs(case.environment.iter().copied()).env("METASPY_DIR", &dir);
    let output = command.output().expect("it was built");
    let _ = std::fs::remove_dir_all(dir);
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("it is a number")).collect();
    let [wall, cpu, sum] = numbers[..] else { panic!("it prints three numbers: {text}") };
    Ran { wall: wall as f64, cpu: cpu as f64, sum }
}

/// The last lines of the table, beside the paper's and the goals.
fn summarise(ratios: &[Vec<f64>]) {
    let mean = |ratios: &[f64]| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let worst = |ratios: &[f64]| ratios.iter().copied().fold(0.0, f64::max);
    let rows: [(&str, &dyn Fn(&[f64]) -> f64); 2] = [("geometric mean", &mean), ("worst", &worst)];
    for (what, of) in rows {
        print!("{what:<16}");
        ratios.iter().skip(1).for_each(|ratios| print!("{:>9.2}", of(ratios)));
        println!();
    }
    println!("the paper, with all: geometric mean 3.98, worst 8.75");
    for (case, ratios) in CASES.iter().zip(ratios) {
        let Some((most, worst_most)) = case.goal else { continue };
        let (mean, worst) = (mean(ratios), worst(ratios));
        let verdict = if mean <= most && worst <= worst_most { "met" } else { "missed" };
        println!("goal {verdict}: {}: geometric mean {mean:.2} of {most}, worst {worst:.2} of {worst_most}", case.name);
    }
}

/// The crates behind `--crates`, else all; one in a smoke test.
fn wanted() -> Vec<&'static Crate> {
    let default = if child::is_smoke() { Some("heck".to_owned()) } else { None };
    let names = child::option("--crates").or(default);
    let is_wanted = |it: &&Crate| names.as_ref().is_none_or(|names| names.split(',').any(|name| name == it.name));
    CRATES.iter().filter(is_wanted).collect()
}

/// A program whose first argument names a crate, and whose second is how often its work is done.
fn package(crates: &[&Crate]) -> Package {
    let all = |part: &dyn Fn(&Crate) -> String| crates.iter().map(|it| part(it)).collect::<String>();
    let manifest = format!("{MANIFEST}{}", all(&|it| format!("{}\n", it.dependency)));
    let modules = all(&|it| format!("mod {};\n", it.name));
    let arms = all(&|it| format!("        Some(\"{0}\") => {0}::main(),\n", it.name));
    let main = format!(
        "mod measure;\n{modules}\nfn main() {{\n    match std::env::args().nth(1).as_deref() {{\n{arms}        \
         _ => eprintln!(\"the first argument is the name of a crate\"),\n    }}\n}}\n"
    );
    let drivers: Vec<(String, &str)> = crates.iter().map(|it| (format!("src/{}.rs", it.name), it.driver)).collect();
    let shared =
        [("src/measure.rs", include_str!("programs/measure.rs")), ("Cargo.toml", &*manifest), ("src/main.rs", &*main)];
    let files = drivers.iter().map(|(path, text)| (&**path, *text)).chain(shared);
    let files: Vec<(&str, String)> = files.map(|(path, text)| (path, text.to_owned())).collect();
    Package::new("editor-programs", &files)
}

fn build(package: &Package, program: &Path, target: &Path, line: &[&str]) {
    let package = Package { dir: package.dir.clone(), target: target.to_owned() };
    package.time(program, line);
}
