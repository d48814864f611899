//! The crates that are woven: the crates with a selected function. Crates of the workspace with
//! tests are named as well, so that coverage attributes calls to the test that runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_core::Selector;
use metaspy_weave::plan::{Selection, Target, stamp};
use metaspy_weave::runtime::{core_stamp, hooks_source};
use metaspy_weave::wrapper::FORMAT;

use crate::cargo_metaspy::graph::{Crate, Graph, Package};
use crate::cargo_metaspy::match_functions::Search;
use crate::cargo_metaspy::source_cache;

/// The crates of the plan, and true if one of them needs a core in this build. Without tests, as
/// with `cargo run`, only binaries are programs. `with_libraries` is true if libraries for other
/// languages get a core.
pub fn targets(
    graph: &Graph,
    selection: &Selection,
    callers: Option<&Selector>,
    with_tests: bool,
    with_libraries: bool,
    dir: &Path,
) -> Result<(BTreeMap<PathBuf, Target>, bool)> {
    let mut search = Search::new(selection)?;
    let crates = crates(graph, !selection.weave.is_empty());
    let known = source_cache::of_all(
        &crates.iter().map(|(_, krate)| *krate).collect::<Vec<_>>(),
        &dir.join("sources"),
    );
    let mut targets = BTreeMap::new();
    let mut is_core_needed = false;
    for ((package, krate), known) in crates.iter().zip(&known) {
        let is_member = graph.is_member(package);
        let found = search.of(known);
        let has_tests = is_member && found.has_tests;
        // The tests of a library of the workspace are programs.
        let for_developers = krate.is_for_developers() || krate.is_library();
        let needs_core = is_member && !graph.has_core(package, for_developers);
        if found.chosen.is_empty() && !needs_core && !has_tests {
            continue;
        }
        is_core_needed |= needs_core
            && (with_tests || krate.is_binary() || (with_libraries && krate.is_system_library()));
        let target = Target {
            package: package.spec(),
            krate: krate.name(),
            root: package.root(),
            is_woven: !found.chosen.is_empty(),
            has_tests,
            needs_core,
            stamp: stamp_of(&found.chosen, needs_core, selection),
        };
        targets.insert(
            fs::canonicalize(&krate.src_path).unwrap_or_else(|_| krate.src_path.clone()),
            target,
        );
    }
    search.check()?;
    // A core of the program may have observed functions, too.
    callers
        .filter(|_| !graph.has_own_core())
        .map_or(Ok(()), |callers| search.check_callers(callers))?;
    Ok((targets, is_core_needed))
}

/// The crates that may be woven: without a selector, the crates of the workspace.
fn crates(graph: &Graph, with_dependencies: bool) -> Vec<(&Package, &Crate)> {
    let packages =
        graph.woven().into_iter().filter(|package| with_dependencies || graph.is_member(package));
    packages
        .flat_map(|package| {
            let is_candidate = move |krate: &&Crate| {
                krate.is_target() && (graph.is_member(package) || krate.is_library())
            };
            package.targets.iter().filter(is_candidate).map(move |krate| (package, krate))
        })
        .collect()
}

/// The stamp of a crate. Tests do not change it: without them, nothing of them is compiled.
fn stamp_of(chosen: &[String], needs_core: bool, selection: &Selection) -> String {
    let depth = if chosen.is_empty() { String::new() } else { selection.depth() };
    let weaver = [
        env!("CARGO_PKG_VERSION").to_owned(),
        FORMAT.to_owned(),
        hooks_source(),
        if needs_core { core_stamp() } else { String::new() },
        depth,
        if needs_core && selection.allocations { "allocations".to_owned() } else { String::new() },
    ];
    stamp(weaver.iter().chain(chosen))
}
