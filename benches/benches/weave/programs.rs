//! Whole programs of small functions: each function of a published crate counted, beside the
//! compiler's own counters.

use std::path::Path;
use std::process::Command;

use crate::Line;
use metaspy_benches::child;
use metaspy_benches::package::Package;
use metaspy_benches::programs::{self, CALLGRIND, Case, Program};
use metaspy_benches::report::target;

/// Their functions are the smallest of all, so a hook costs most there.
const SMALLEST: &str = "roxmltree,regex_lite";

/// How a program is built.
#[derive(Clone, Copy)]
enum Build {
    Plain,
    /// By the compiler, with counters in each branch.
    Covered,
    /// As `cargo metaspy run` does: hooks count calls, and nothing else.
    Entries,
    /// As `cargo metaspy test` does: hooks count calls, and show their objects to the profiler
    /// `coverage`.
    Objects,
    /// As `cargo metaspy run --contexts` does: hooks count calls in their calling contexts, and
    /// nothing else.
    Contexts,
    /// As `cargo metaspy build` does: hooks give whatever the environment of the program requests.
    Whole,
}

/// The environment in which calls are counted, and nothing else.
const COUNTED: &[(&str, &str)] = &[("METASPY_RECORD", "live"), ("METASPY_MODE", "tally")];

/// A build, the environment of its programs, and the command that runs them.
type Measured =
    (&'static str, Build, &'static [(&'static str, &'static str)], &'static [&'static str]);

static CASES: [Measured; 14] = [
    ("plain", Build::Plain, &[], &[]),
    ("-C instrument-coverage", Build::Covered, &[], &[]),
    ("callgrind", Build::Plain, &[], CALLGRIND),
    ("hooks that count, not armed", Build::Entries, &[], &[]),
    ("  counted", Build::Entries, COUNTED, &[]),
    ("hooks of coverage, not armed", Build::Objects, &[], &[]),
    ("  coverage", Build::Objects, &[("METASPY_PROFILE", "coverage")], &[]),
    ("hooks of contexts, not armed", Build::Contexts, &[], &[]),
    ("  contexts", Build::Contexts, &[("METASPY_PROFILE", "contexts")], &[]),
    ("whole hooks, not armed", Build::Whole, &[], &[]),
    ("  counted", Build::Whole, COUNTED, &[]),
    ("  coverage", Build::Whole, &[("METASPY_PROFILE", "coverage")], &[]),
    ("  contexts", Build::Whole, &[("METASPY_PROFILE", "contexts")], &[]),
    ("  callers and time", Build::Whole, &[("METASPY_PROFILE", "calls")], &[]),
];
const COVERED: usize = 1;
const COUNTS: usize = 4;

/// The most that counting may cost: times the plain program, and as a part of the compiler's
/// counters.
const GOALS: [f64; 2] = [2.5, 0.15];

/// Work of a program whose instructions are counted.
const TIMES: u64 = 20;

/// Measures each case interleaved, and prints its time and its instructions as multiples of the
/// plain program's.
pub fn measure(command: &Path) -> Vec<Line> {
    let programs = programs::wanted(Some(SMALLEST));
    let package = programs::package(&programs);
    let in_target = |name: &str| Package {
        dir: package.dir.clone(),
        target: target().join("weave").join("programs").join(name),
    };
    let [plain, covered, entries, objects, contexts, whole] =
        ["plain", "covered", "entries", "objects", "contexts", "whole"].map(in_target);
    let selectors: Vec<String> = programs.iter().map(|it| format!("{}::**", it.name)).collect();
    let weave: Vec<&str> = selectors.iter().flat_map(|selector| ["--weave", selector]).collect();
    let cargo = Path::new(env!("CARGO"));
    plain.time(cargo, &["build", "--release"]);
    built(
        covered.command(cargo, &["build", "--release"]).env("RUSTFLAGS", "-C instrument-coverage"),
    );
    entries.time(command, &[&["metaspy", "run", "--release", "--quiet"][..], &weave].concat());
    objects.time(
        command,
        &[&["metaspy", "run", "--release", "--quiet", "--profile", "coverage"][..], &weave]
            .concat(),
    );
    contexts.time(
        command,
        &[&["metaspy", "run", "--release", "--quiet", "--contexts"][..], &weave].concat(),
    );
    whole.time(command, &[&["metaspy", "build", "--release"][..], &weave].concat());
    let program = |build: Build| match build {
        Build::Plain => plain.target.join("release/editor-programs"),
        Build::Covered => covered.target.join("release/editor-programs"),
        Build::Entries => entries.target.join("metaspy/release/editor-programs"),
        Build::Objects => objects.target.join("metaspy/release/editor-programs"),
        Build::Contexts => contexts.target.join("metaspy/release/editor-programs"),
        Build::Whole => whole.target.join("metaspy/release/editor-programs"),
    };
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let is_there = |(.., under): &&Measured| has_valgrind || under.is_empty();
    let measured: Vec<&Measured> = CASES.iter().filter(is_there).collect();
    let case = |(name, build, environment, under): &&Measured| Case {
        name,
        program: program(*build),
        environment,
        under,
    };
    let cases: Vec<Case> = measured.iter().map(case).collect();

    let mut lines = Vec::new();
    for Program { name, .. } in programs {
        let times = programs::interleaved(name, &cases);
        let plain = programs::instructions(&cases[0], name, TIMES);
        for (case, time) in cases.iter().zip(&times) {
            let instructions = if case.under.is_empty() {
                programs::instructions(case, name, TIMES)
            } else {
                None
            };
            let ratio = instructions.zip(plain).map(|(own, plain)| own / plain);
            let shown = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
            println!(
                "{name:<12} {:<28} {time:>8.2} x the time {shown:>8} x the instructions",
                case.name
            );
            lines.push(Line {
                what: name,
                case: case.name,
                took: None,
                ratio: *time,
                added: None,
                instructions: ratio,
            });
        }
        let at =
            |wanted: usize| measured.iter().position(|case| std::ptr::eq(*case, &CASES[wanted]));
        if let (Some(counts), Some(covered)) = (at(COUNTS), at(COVERED)) {
            let found = [times[counts], times[counts] / times[covered]];
            let is_met =
                !child::is_smoke() && found.iter().zip(GOALS).all(|(found, most)| *found <= most);
            let verdict = if is_met { "met" } else { "missed" };
            println!(
                "goal {verdict}: {name}, counted: {:.2} of {} x the plain time, {:.2} of {} x the time with the compiler's counters",
                found[0], GOALS[0], found[1], GOALS[1]
            );
        }
    }
    lines
}

fn built(command: &mut Command) {
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
