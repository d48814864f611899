//! One number, one meaning. Four programs are recorded that know nothing of metaspy: one calls
//! itself, one is asynchronous, one is parallel, and one has objects of several types. What a
//! function did is then the same in every output, and it is what a simple reader of this test
//! computes from the events.

#[allow(dead_code, reason = "the tests of the editor use the rest")]
#[path = "../editor/client.rs"]
mod client;
#[allow(dead_code, reason = "the tests of weaving use the rest")]
#[path = "../weave/common.rs"]
mod common;
mod outputs;
#[allow(dead_code, reason = "the test of SQL uses the rest")]
mod reference;
#[allow(dead_code, reason = "the tests of terminals use the rest")]
#[path = "../terminal/tmux.rs"]
mod tmux;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::Package;
use common::schemas::assert_valid_if_json;
use reference::{Numbers, Reference};
use serde_json::Value;

/// The text of hovers is in one package with these names.
mod shapes {
    pub const SOURCE: &str = include_str!("programs/shapes.rs");
}

/// The name of a program, its source, and the selectors of the libraries that are woven with it.
const PROGRAMS: [(&str, &str, &[&str]); 4] = [
    ("recursive", include_str!("programs/recursive.rs"), &["roxmltree::**"]),
    ("asynchronous", include_str!("programs/asynchronous.rs"), &["tokio_stream::**"]),
    ("parallel", include_str!("programs/parallel.rs"), &["dashmap::**"]),
    ("shapes", shapes::SOURCE, &[]),
];

/// The groupings of a report whose rows the reference has, too.
const GROUPINGS: [&str; 6] =
    ["site", "subject", "site,subject", "cause", "sender", "cause,subject"];

/// The programs whose rows are all compared, and which are recorded again: one thread calls the
/// same each time.
const REPEATED: [&str; 1] = ["recursive"];

/// The libraries that a program needs.
fn dependencies(name: &str) -> &'static str {
    match name {
        "recursive" => "[dependencies]\nroxmltree = \"0.21\"",
        "asynchronous" => {
            "[dependencies]\ntokio = { version = \"1\", default-features = false, features = [\"rt-multi-thread\", \"sync\"] }\n\
             tokio-stream = { version = \"0.1\", default-features = false }"
        }
        "parallel" => "[dependencies]\ndashmap = \"6\"",
        _ => "",
    }
}

/// A program that was recorded.
struct Recorded {
    package: Package,
    /// Its recordings, which are read as one: the directory of a run, or files.
    run: Vec<PathBuf>,
    /// What the command wrote with `--json`.
    json: Value,
}

impl Recorded {
    /// Runs it with the times of its calls. `mode` is what becomes of its events.
    fn new(name: &str, source: &str, woven: &[&str], mode: &str) -> Recorded {
        let package = Package::new(
            &format!("consistent_{name}_{mode}"),
            &[
                ("Cargo.toml", &common::manifest(name, "2024", dependencies(name))),
                ("src/main.rs", source),
            ],
        );
        let own = format!("{name}::**");
        let mut line =
            vec!["run", "--timed", "--weave", &own, "--lcov", "ran.lcov", "--cobertura", "ran.xml"];
        line.extend(woven.iter().flat_map(|selector| ["--weave", selector]));
        let did = package.metaspy_in(&line, &[("METASPY_MODE", mode.as_ref())]);
        assert_eq!(did.code, 0, "{name}: {}", did.stderr);
        let run = package.runs().join("1");
        assert!(run.is_dir(), "{name}: {}", did.stderr);
        Recorded { package, run: vec![run], json: did.json }
    }

    /// Runs the program again, so many rounds of it, without `cargo metaspy`. Returns the directory
    /// of the recording.
    fn again(&self, name: &str, rounds: &str, budget: &str) -> PathBuf {
        let directory = self.package.dir.join(format!("rounds-{rounds}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir(&directory).expect("there is room");
        let mut command =
            self.package.clean_command(&self.package.target_dir().join("metaspy/debug").join(name));
        command.arg(rounds).env("METASPY_RECORD", directory.join("again.spy"));
        let ended = command.env("METASPY_MODE", "full").env("METASPY_BUDGET", budget).status();
        assert!(ended.expect("it was built").success(), "{name}");
        directory
    }

    /// What `metaspy` prints about the recording. JSON is as its schema has it.
    fn ask(&self, line: &[&str]) -> String {
        let mut command = self.package.clean_command(Path::new(env!("CARGO_BIN_EXE_metaspy")));
        let output =
            command.args(line).args(&self.run).output().expect("it was built for this test");
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("it is UTF-8");
        assert_valid_if_json(line, &text);
        text
    }

    /// The same, as JSON.
    fn json(&self, line: &[&str]) -> Value {
        serde_json::from_str(&self.ask(line)).expect("it is JSON")
    }
}

#[test]
fn every_output_has_the_numbers_of_the_events() {
    for (name, source, woven) in PROGRAMS {
        let recorded = Recorded::new(name, source, woven, "full");
        let reference = Reference::read(&recorded.run[0]);
        assert!(reference.by_site.len() >= 6, "{name}: {} functions ran", reference.by_site.len());
        reference.assert_bounds(name);

        let counts: BTreeMap<String, u64> =
            reference.by_site.iter().map(|(path, numbers)| (path.clone(), numbers.count)).collect();
        for (output, found) in outputs::counts(&recorded, &counts) {
            assert_same(&found, &counts, &format!("{name}: counts of {output}"));
        }
        let own: BTreeMap<&String, u64> =
            reference.by_site.iter().map(|(path, numbers)| (path, numbers.own_ns)).collect();
        for (output, found) in outputs::own_times(&recorded) {
            for (path, own_ns) in &own {
                // Each stack of an export is rounded down by itself.
                let lacks = own_ns.checked_sub(found.get(*path).copied().unwrap_or(0));
                let is_rounded = lacks.is_some_and(|lacks| lacks <= counts[*path]);
                assert!(
                    is_rounded,
                    "{name} {path}: {own_ns} ns, {:?} in {output}",
                    found.get(*path)
                );
            }
        }
        for by in ["site", "type", "package"] {
            outputs::assert_totals(&recorded, name, by, &reference);
        }
        outputs::assert_shown(&recorded, name, &reference);
        for by in GROUPINGS {
            outputs::assert_grouped(&recorded, name, by, &reference);
        }
        if !REPEATED.contains(&name) {
            continue;
        }

        // Read as one, two recordings have the sums.
        let again = recorded.again(name, "2", "64MiB");
        let other = Reference::read(&again);
        let merged = Recorded { run: vec![recorded.run[0].clone(), again], ..recorded };
        for by in ["site", "cause", "sender"] {
            outputs::assert_merged(&merged, name, by, &reference.rows(by), &other.rows(by));
        }

        // Most calls have left the window.
        let small = merged.again(name, "1000", "8MiB");
        let folded = Recorded { run: vec![small], ..merged };
        outputs::assert_folded(&folded, name, &reference.rows("site"), 1_000);
    }
}

#[test]
fn every_output_has_the_times_of_the_profiler_of_calls() {
    for (name, source, woven) in PROGRAMS {
        let recorded = Recorded::new(name, source, woven, "tally");
        let command = outputs::methods(&recorded.json);
        assert!(command.len() >= 6, "{name}: {} functions ran", command.len());
        for (output, found) in outputs::profiled(&recorded) {
            assert_same(&found, &command, &format!("{name}: {output}"));
        }
        let run = command.values().map(|numbers| numbers.own_ns).sum::<u64>();
        for (path, Numbers { own_ns, total_ns, .. }) in &command {
            assert!(
                own_ns <= total_ns && *own_ns <= run,
                "{name} {path}: {own_ns} {total_ns} {run}"
            );
        }
        // A type has no total of its own: its methods call each other, and only the sum of theirs
        // is known.
        for by in ["type", "package"] {
            let report = recorded.json(&["report", "--json", "--by", by]);
            for row in report["rows"].as_array().expect("there are rows") {
                assert!(row["profiles"]["calls"]["total_ns"].is_null(), "{name} {by} {row}");
            }
        }
        outputs::assert_hovers(&recorded, name, &command);
    }
}

/// Names what differs alone.
fn assert_same<T: std::fmt::Debug + PartialEq>(
    found: &BTreeMap<String, T>,
    expected: &BTreeMap<String, T>,
    what: &str,
) {
    let paths: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let differs = |path: &&String| found.get(*path) != expected.get(*path);
    let differing: Vec<_> = paths
        .into_iter()
        .filter(differs)
        .map(|path| (path, found.get(path), expected.get(path)))
        .collect();
    assert!(differing.is_empty(), "{what}: {differing:?}");
}
