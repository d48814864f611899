//! Instructions of a hook, counted by valgrind: they do not depend on what else the machine does.
//!
//! A case calls one method many times within [`counted`], whose instructions callgrind collects.
//! There is no collector, so a ring that goes round is folded by the measured thread.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use metaspy::instrumenter::Arming;
use metaspy::method_profilers::{Calls, Contexts, MethodProfiler, TestCoverage};
use metaspy::store::{By, Scope};
use metaspy::{Identify, Mode, Profiler, Recording, Site, site};

use crate::arming::observe;
use crate::child::CHILD;
use crate::things::{
    self, Dense, ENTRY, Thing, WOVEN, WOVEN_ON, WOVEN_WHOLE, by_covered_on, by_entry, by_weaver,
    by_weaver_on, by_weaver_whole,
};
use crate::workload::{Workload, nothing};

/// A row may exceed the table by this part of it, and by this many instructions: another compiler
/// chooses other instructions.
const TOLERANCE: (f64, f64) = (0.03, 0.5);
/// The budget without and with a ring that goes round. The second one holds some 100,000 events.
const BUDGET: [u64; 2] = [64 << 20, 4 << 20];
/// Calls before the counted ones, likewise: they make rows, or fill the ring.
const WARM: [u64; 2] = [5_000, 160_000];
/// Calls that are counted: whole laps of a block are a small part of it.
const CALLS: u64 = 40_000;
const OBJECTS: usize = 1_000;

/// A hook: its name in the table, what it is, and how it runs.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    run: fn(),
}

const fn case(name: &'static str, what: &'static str, run: fn()) -> Case {
    Case { name, what, run }
}

/// All of them, in the order of the table. What the first one takes is subtracted from the others.
pub const CASES: [Case; 23] = [
    case("plain", "the call alone", || unarmed(Thing::plain)),
    case("unarmed", "a hook that is not armed", || unarmed(Thing::by_dense)),
    case("tally_site", "counted by site", || {
        armed(site!(things::by_none).site(), Mode::Tally, 0, things::by_none)
    }),
    case("tally_dense", "counted by subject, dense keys", || dense(Mode::Tally, 0)),
    case("tally_wide", "counted by subject, arbitrary keys", || {
        armed(site!(Thing::by_wide).site(), Mode::Tally, 0, Thing::by_wide)
    }),
    case("entry_unarmed", "a woven function that only counts, not armed", || unarmed(by_entry)),
    case("entry", "... counted", || armed(&ENTRY, Mode::Tally, 0, by_entry)),
    case("covered", "a woven method that only begins, covered", || {
        profiled(TestCoverage::default(), 1, by_covered_on)
    }),
    case("covered_receivers", "... on 50 objects in turn", || {
        profiled(TestCoverage::default(), 50, by_covered_on)
    }),
    case("woven_unarmed", "a woven function, not armed", || unarmed(by_weaver)),
    case("woven", "a woven function, counted", || armed(&WOVEN, Mode::Tally, 0, by_weaver)),
    case("receivers", "a woven method on 50 objects in turn, covered", || {
        profiled(TestCoverage::default(), 50, by_weaver_on);
    }),
    case("callers", "a woven function, with its caller and time", || {
        profiled(Calls::default(), OBJECTS, by_weaver)
    }),
    case("returns", "a woven function whose value is seen, counted", || {
        armed(&WOVEN_WHOLE, Mode::Tally, 0, by_weaver_whole);
    }),
    case("returns_callers", "... with its caller and time", || {
        profiled(Calls::default(), OBJECTS, by_weaver_whole);
    }),
    case("contexts", "a woven function, in the tree of contexts", || {
        profiled(Contexts::default(), OBJECTS, by_weaver);
    }),
    case("object", "an event each, for 1 of the 1,000 objects", object),
    case("sampled", "an event each, 1 in 16 timed", || dense(Mode::Sampled, 0)),
    case("full", "an event each, all timed", || dense(Mode::Full, 0)),
    case("woven_full", "a woven function, an event each", || {
        armed(&WOVEN, Mode::Full, 0, by_weaver)
    }),
    case("woven_full_on", "a woven method, an event each", || {
        armed(&WOVEN_ON, Mode::Full, 0, by_weaver_on)
    }),
    case("sampled_folded", "sampled, and an event is folded for each", || dense(Mode::Sampled, 1)),
    case("full_folded", "full, and an event is folded for each", || dense(Mode::Full, 1)),
];

impl Case {
    /// Runs it in this process.
    pub fn run(&self) {
        (self.run)();
    }

    /// Runs it under callgrind: instructions a call, with the loop and the call itself.
    pub fn count(&self, program: &Path) -> Result<f64, String> {
        let mut command = Command::new("valgrind");
        command.args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=metaspy_counted",
        ]);
        command.arg(program).args([CHILD, self.name]).stdin(Stdio::null());
        for variable in ["METASPY_RECORD", "METASPY_BUDGET"] {
            command.env_remove(variable);
        }
        let output = command.output().map_err(|error| format!("valgrind cannot start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text
            .lines()
            .find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<u64>().ok());
        match collected.filter(|&collected| output.status.success() && collected > CALLS) {
            Some(collected) => Ok(collected as f64 / CALLS as f64),
            None => Err(format!("{} under valgrind: {}\n{text}", self.name, output.status)),
        }
    }
}

fn unarmed(one: impl Fn(&mut Thing, u64) -> u64) {
    let mut workload = Workload::new(OBJECTS, 1, Thing::new);
    workload.run(WARM[0], nothing, &one);
    counted(&mut || {
        workload.run(CALLS, nothing, &one);
    });
}

fn dense(mode: Mode, laps: usize) {
    armed(site!(Thing::by_dense).site(), mode, laps, Thing::by_dense);
}

/// A call about another object than the one that is recorded.
fn object() {
    let recording =
        Recording::memory().budget(BUDGET[0]).collector(false).start().expect("a recording starts");
    let chosen = Arming::only(Mode::Full, vec![Dense(0).identify()]);
    let installed = observe(&[site!(Thing::by_dense).site()], chosen);
    let mut workload = Workload::new(OBJECTS, 1, Thing::new);
    workload.run(WARM[0], nothing, Thing::by_dense);
    counted(&mut || {
        workload.run(CALLS, nothing, Thing::by_dense);
    });
    let emitted = recording.store().totals().emitted;
    let about = workload.replay()[0];
    assert_eq!(emitted, about, "the events of one object");
    drop(installed);
}

/// A woven function with a method profiler, as `cargo metaspy` runs it.
fn profiled(profiler: impl MethodProfiler, objects: usize, one: impl Fn(&mut Thing, u64) -> u64) {
    let recording =
        Recording::memory().budget(BUDGET[0]).collector(false).start().expect("a recording starts");
    let installed =
        Profiler::new("bench").method_profiler(profiler).install().expect("it is the only one");
    let mut workload = Workload::new(objects, 1, Thing::new);
    workload.run(WARM[0], nothing, &one);
    counted(&mut || {
        workload.run(CALLS, nothing, &one);
    });
    let tally = recording.store().tally(By::Site, &Scope::default());
    assert_eq!(tally.rows.iter().map(|row| row.measure.count).sum::<u64>(), workload.done());
    drop(installed);
}

fn armed(site: &'static Site, mode: Mode, laps: usize, one: impl Fn(&mut Thing, u64) -> u64) {
    let recording = Recording::memory()
        .budget(BUDGET[laps])
        .collector(false)
        .start()
        .expect("a recording starts");
    let installed = observe(&[site], Arming::all(mode));
    let mut workload = Workload::new(OBJECTS, 1, Thing::new);
    workload.run(WARM[laps], nothing, &one);
    counted(&mut || {
        workload.run(CALLS, nothing, &one);
    });
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, workload.done(), "{totals:?}");
    assert_eq!((totals.lost, totals.folded > 0), (0, laps > 0), "{totals:?}");
    drop(installed);
}

/// Callgrind collects while this runs, which it finds by its name.
#[inline(never)]
#[unsafe(export_name = "metaspy_counted")]
fn counted(run: &mut dyn FnMut()) {
    run();
}

/// Instructions of each case, and the compiler that chose them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    compiler: String,
    rows: Vec<(String, f64)>,
}

impl Table {
    /// Counts all cases of this program.
    pub fn count(program: &Path) -> Result<Table, String> {
        let counts: Vec<f64> =
            CASES.iter().map(|case| case.count(program)).collect::<Result<_, _>>()?;
        let rows =
            CASES.iter().zip(&counts).map(|(case, count)| (case.name.into(), count - counts[0]));
        Ok(Table { compiler: compiler(), rows: rows.skip(1).collect() })
    }

    /// The committed table.
    pub fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
    }

    /// Reads a table from its text.
    pub fn parse(text: &str) -> Option<Table> {
        let compiler = text.lines().find_map(|line| line.strip_prefix("# by "))?.into();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &str| {
            let (name, count) =
                line.split_whitespace().next().zip(line.split_whitespace().nth(1))?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        Some(Table { compiler, rows: rows.map(row).collect::<Option<_>>()? })
    }

    /// The table as text, which [`Table::parse`] reads.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# Instructions that a call takes beside the plain one.\n\
             # `cargo bench --manifest-path benches/Cargo.toml --bench instructions -- --write` makes this file.\n\
             # by {}\n",
            self.compiler
        );
        for (name, count) in &self.rows {
            let what = CASES.iter().find(|case| case.name == name).map_or("", |case| case.what);
            writeln!(text, "{name:<16} {count:>7.1}  {what}").expect("a string takes all");
        }
        text
    }

    /// The rows that exceed those of another table, and those that it does not have.
    pub fn larger_than(&self, other: &Table) -> Vec<String> {
        let check = |(name, count): &(String, f64)| match other
            .rows
            .iter()
            .find(|(known, _)| known == name)
        {
            None => Some(format!("{name} is not in the table")),
            Some((_, known)) if *count > known * (1.0 + TOLERANCE.0) + TOLERANCE.1 => {
                Some(format!(
                    "{name} takes {count:.1} instructions, and {known:.1} in the table of {}",
                    other.compiler
                ))
            }
            Some(_) => None,
        };
        self.rows.iter().filter_map(check).collect()
    }
}

/// The version of the compiler that builds now.
fn compiler() -> String {
    let version =
        Command::new("rustc").arg("-V").output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&version).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64)]) -> Table {
        Table {
            compiler: "rustc 1".into(),
            rows: rows.iter().map(|(name, count)| ((*name).into(), *count)).collect(),
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = table(&[("full", 100.5), ("woven", 17.0)]);
        assert_eq!(Table::parse(&table.text()), Some(table));
    }

    #[test]
    fn a_row_that_grows_beyond_the_tolerance_is_reported_and_a_smaller_one_is_not() {
        let known = table(&[("full", 100.0), ("woven", 17.0)]);
        assert!(table(&[("full", 103.0), ("woven", 3.0)]).larger_than(&known).is_empty());
        let reported = table(&[("full", 104.0), ("unarmed", 1.0)]).larger_than(&known);
        assert!(
            reported[0].starts_with("full takes 104.0") && reported[1].starts_with("unarmed"),
            "{reported:?}"
        );
    }
}
