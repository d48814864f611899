//! The profilers of a run: the ones that programs start, and the user's own crates that programs
//! are linked with.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use metaspy_report::text::print_message;
use metaspy_weave::plan::{Core, Entries, Target, read_whole, stamp};

use crate::cargo_metaspy::arguments::Woven;
use crate::cargo_metaspy::cargo::runs_tests;
use crate::cargo_metaspy::graph::Graph;

/// The profiler of executions, receivers and tests.
pub const COVERAGE: &str = "coverage";
/// The profiler of times, callers and callees.
pub const CALLS: &str = "calls";
/// The profiler of calling contexts.
pub const CONTEXTS: &str = "contexts";
/// The profiler of objects, and of calling contexts.
pub const ALLOCATIONS: &str = "allocations";
/// The profiler of types.
pub const TYPES: &str = "types";
/// The profiler of calls that repeat an earlier one.
pub const REPEATS: &str = "repeats";
/// In options: no profilers, not even unnamed ones.
const NONE: &str = "none";
/// In the environment of programs: all profilers of the user's own.
const OWN: &str = "+";

/// The profilers that programs start.
#[derive(Debug, Default)]
pub struct Requested {
    names: Vec<String>,
    with_own: bool,
}

impl Requested {
    /// The requested profilers, and the profilers that other options require.
    pub fn new(command: &str, options: &Woven) -> Requested {
        let mut names: Vec<String> =
            options.profile.iter().filter(|name| *name != NONE).cloned().collect();
        let is_of_tests = runs_tests(command);
        let with_defaults = names.len() == options.profile.len();
        let mut needed = |name: &str, is_needed: bool| {
            if is_needed && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        needed(COVERAGE, with_defaults && (is_of_tests || options.returns || options.args));
        needed(COVERAGE, options.by_test);
        needed(
            CALLS,
            options.timed
                || options.callers.is_some()
                || options.blueprint.is_some() && !is_of_tests,
        );
        needed(ALLOCATIONS, options.allocations);
        needed(CONTEXTS, options.contexts && !options.allocations);
        needed(TYPES, options.types);
        needed(REPEATS, with_defaults && options.args);
        Requested { names, with_own: !options.profiler.is_empty() }
    }

    /// The profilers with a name.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Returns the work of the hooks if only the numbers of calls are recorded, maybe by calling
    /// context: then they see no object, and not how a call ends. `None`: more is recorded.
    pub fn entries(&self, options: &Woven) -> Option<Entries> {
        let sees_values =
            options.returns || options.args || options.types || !options.subject.is_empty();
        let is_empty = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let is_off = |name: &str, off: &str| {
            is_empty(name) || std::env::var_os(name).is_some_and(|value| value == off)
        };
        // The program has the environment of this command.
        let asks_for_more = !is_empty("METASPY_PROFILE")
            || !is_off("METASPY_MODE", "tally")
            || !is_off("METASPY_DETAILS", "0");
        if sees_values || asks_for_more || self.with_own {
            return None;
        }
        let names: Vec<&str> = self.names().map(String::as_str).collect();
        match &names[..] {
            [] => Some(Entries::Counted),
            [COVERAGE] => Some(Entries::Covered),
            names => names
                .iter()
                .all(|name| [CONTEXTS, ALLOCATIONS].contains(name))
                .then_some(Entries::InContexts),
        }
    }

    /// The value of `METASPY_PROFILE`; `None` without profilers.
    pub fn text(&self) -> Option<String> {
        let own = self.with_own.then_some(OWN);
        let names: Vec<&str> = self.names.iter().map(String::as_str).chain(own).collect();
        (!names.is_empty()).then(|| names.join(","))
    }
}

/// Fails if no program can have a profiler with one of these names. Profilers of the user's own are
/// known when a program runs.
pub fn check_names(graph: &Graph, options: &Woven) -> Result<()> {
    if !options.profiler.is_empty() || graph.has_own_core() {
        return Ok(());
    }
    let known = [COVERAGE, CALLS, CONTEXTS, ALLOCATIONS, TYPES, REPEATS, NONE];
    match options.profile.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!(
            "--profile: there is no profiler `{name}`: write `{COVERAGE}`, `{CALLS}`, `{CONTEXTS}`, `{ALLOCATIONS}`, `{TYPES}`, `{REPEATS}` or `{NONE}`, or link one of your own with \
             --profiler; `--cargo-profile {name}` is cargo's option of that name"
        ),
        None => Ok(()),
    }
}

/// Fails without a program to link profilers with. A program with a core of its own needs profilers
/// that are compiled against that core; only its author can add them.
pub fn check(graph: &Graph, profilers: &[PathBuf], is_core_needed: bool) -> Result<()> {
    if profilers.is_empty() {
        return Ok(());
    }
    let members = graph.woven().into_iter().filter(|package| graph.is_member(package));
    let with_core = members
        .filter(|package| graph.has_core(package, false))
        .map(|package| format!("`{}`", package.name));
    let with_core: Vec<String> = with_core.collect();
    let advice = "depends on metaspy, so its programs have the profilers that it depends on. Let it depend on the profiler's \
        crate, and name that once in its `main.rs`: `use the_profiler as _;`";
    match (is_core_needed, with_core.is_empty()) {
        (false, false) => bail!(
            "--profiler: {} {advice}; then start it with `--profile NAME`",
            with_core.join(", ")
        ),
        (false, true) => {
            bail!(
                "--profiler: no program is built, and only programs can be linked with a profiler: build one"
            )
        }
        (true, false) => print_message(&format!(
            "warning: metaspy: --profiler: {} {advice}",
            with_core.join(", ")
        )),
        (true, true) => {}
    }
    Ok(())
}

/// Adds the profilers to the stamps of programs, so that a changed profiler links them again.
pub(crate) fn stamp_targets(
    targets: &mut BTreeMap<PathBuf, Target>,
    core: Option<&Core>,
) -> Result<()> {
    let Some(core) = core.filter(|core| !core.profilers.is_empty()) else { return Ok(()) };
    let mut hasher = DefaultHasher::new();
    for library in [&core.library].into_iter().chain(&core.profilers) {
        library.hash(&mut hasher);
        read_whole(library)
            .with_context(|| format!("cannot read {}", library.display()))?
            .hash(&mut hasher);
    }
    let linked = format!("{:016x}", hasher.finish());
    for target in targets.values_mut().filter(|target| target.needs_core) {
        target.stamp = stamp([&target.stamp, &linked]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cargo_metaspy::arguments::{Cli, Command, sorted};

    fn check(line: &str, expected: Option<&str>) {
        let cli =
            Cli::try_parse_from(sorted(line.split(' ').map(Into::into))).expect("it is understood");
        let (command, woven) = match cli.command {
            Command::Test(woven) => ("test", woven),
            Command::Run(woven) => ("run", woven),
            _ => panic!("it is another command"),
        };
        assert_eq!(Requested::new(command, &woven).text().as_deref(), expected, "{line}");
    }

    #[test]
    fn tests_start_coverage_and_options_start_the_profilers_that_they_need() {
        check("run", None);
        check("test", Some("coverage"));
        check("test --profile none", None);
        check("test --profile none --profile mine --timed", Some("mine,calls"));
        check("run --timed", Some("calls"));
        check("run --timed --contexts", Some("calls,contexts"));
        check("run --contexts --allocations", Some("allocations"));
        check("run --returns --profile coverage", Some("coverage"));
        check("run --args --callers x", Some("coverage,calls,repeats"));
        check("run --profiler ../p --profile a", Some("a,+"));
    }
}
