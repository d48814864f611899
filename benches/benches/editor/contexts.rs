//! Published programs with the tree of calling contexts, counts of objects, and callers with times.

use std::path::Path;

use metaspy_benches::child;
use metaspy_benches::package::Package;
use metaspy_benches::programs::{self, Case, Program};
use metaspy_benches::report::target;

/// How the programs are built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    Plain,
    /// All functions of the crate have hooks, and the allocator counts.
    Woven,
    /// The allocator counts, and only the program's own functions have hooks.
    Heap,
    /// All functions of the crate have hooks that read the clock.
    Timed,
}

/// A build, and the environment of its programs.
struct Measured {
    name: &'static str,
    build: Build,
    environment: &'static [(&'static str, &'static str)],
    /// The most that the geometric mean and the worst may be.
    goal: Option<(f64, f64)>,
}

const CASES: [Measured; 6] = [
    Measured { name: "plain", build: Build::Plain, environment: &[], goal: None },
    Measured { name: "unarmed", build: Build::Woven, environment: &[], goal: None },
    Measured {
        name: "tree",
        build: Build::Woven,
        environment: &[("METASPY_PROFILE", "contexts")],
        goal: Some((3.0, 8.0)),
    },
    Measured {
        name: "heap",
        build: Build::Heap,
        environment: &[("METASPY_PROFILE", "allocations")],
        goal: Some((1.15, f64::INFINITY)),
    },
    Measured {
        name: "all",
        build: Build::Woven,
        environment: &[("METASPY_PROFILE", "allocations")],
        goal: Some((3.5, f64::INFINITY)),
    },
    Measured {
        name: "callers",
        build: Build::Timed,
        environment: &[("METASPY_PROFILE", "calls")],
        goal: Some((2.5, f64::INFINITY)),
    },
];

/// Builds the programs, measures each case interleaved, and prints the table.
pub fn measure(command: &Path) {
    let programs = programs::wanted(None);
    let package = programs::package(&programs);
    let [plain, woven, heap, timed] =
        ["plain", "woven", "heap", "timed"].map(|name| target().join("editor").join(name));
    let words = child::option("--words").unwrap_or_default();
    let selectors: Vec<String> =
        programs.iter().map(|it| format!("{}::** {words}", it.name)).collect();
    let weave: Vec<&str> = selectors.iter().flat_map(|selector| ["--weave", selector]).collect();
    build(&package, Path::new(env!("CARGO")), &plain, &["build", "--release"]);
    // The command weaves what a run records: an allocator that counts, or times.
    let run = ["metaspy", "run", "--release", "--quiet"];
    build(&package, command, &woven, &[&run[..], &["--allocations"], &weave].concat());
    build(&package, command, &heap, &[&run[..], &["--allocations"]].concat());
    build(&package, command, &timed, &[&run[..], &["--timed"], &weave].concat());
    let of = |build: Build| match build {
        Build::Plain => plain.join("release/editor-programs"),
        Build::Woven => woven.join("metaspy/release/editor-programs"),
        Build::Heap => heap.join("metaspy/release/editor-programs"),
        Build::Timed => timed.join("metaspy/release/editor-programs"),
    };
    let case = |measured: &Measured| Case {
        name: measured.name,
        program: of(measured.build),
        environment: measured.environment,
        under: &[],
    };
    let cases = CASES.each_ref().map(case);

    print!("{:<16}", "");
    CASES.iter().skip(1).for_each(|case| print!("{:>9}", case.name));
    println!("   x the plain time");
    let mut ratios: [Vec<f64>; CASES.len()] = Default::default();
    for Program { name, .. } in programs {
        let found = programs::interleaved(name, &cases);
        print!("{name:<16}");
        for (case, ratio) in found.into_iter().enumerate().skip(1) {
            print!("{ratio:>9.2}");
            ratios[case].push(ratio);
        }
        println!();
    }
    summarise(&ratios);
}

/// The last lines of the table, beside the paper's and the goals.
fn summarise(ratios: &[Vec<f64>]) {
    let mean = |ratios: &[f64]| {
        (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
    };
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
        println!(
            "goal {verdict}: {}: geometric mean {mean:.2} of {most}, worst {worst:.2} of {worst_most}",
            case.name
        );
    }
}

fn build(package: &Package, program: &Path, target: &Path, line: &[&str]) {
    let package = Package { dir: package.dir.clone(), target: target.to_owned() };
    package.time(program, line);
}
