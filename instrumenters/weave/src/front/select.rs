//! Which crates are woven: those with a function that is selected. Of the workspace's own, those with tests are named as
//! well, so that what is run can be told by test.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::front::graph::Graph;
use crate::front::search::{Found, Search};
use crate::plan::{Selection, Target, stamp};
use crate::runtime::hooks_source;

/// The crates that the plan names, and whether one of them that is now built needs a core. Where no tests are built, as
/// with `cargo run`, only binaries are programs.
pub fn targets(graph: &Graph, selection: &Selection, with_tests: bool) -> Result<(BTreeMap<PathBuf, Target>, bool)> {
    let (mut targets, mut is_core_needed) = (BTreeMap::new(), false);
    let mut search = Search::new(selection)?;
    for package in graph.woven() {
        let is_member = graph.is_member(package);
        for krate in package.targets.iter().filter(|krate| krate.is_target() && (is_member || krate.is_library())) {
            let is_asked = is_member || !selection.weave.is_empty();
            let found = if is_asked { search.of(krate) } else { Found::default() };
            let has_tests = is_member && found.has_tests;
            // A member's library has tests, which are programs.
            let for_developers = krate.is_for_developers() || krate.is_library();
            let needs_core = is_member && !graph.has_core(package, for_developers);
            if found.chosen.is_empty() && !needs_core && !has_tests {
                continue;
            }
            is_core_needed |= needs_core && (with_tests || krate.is_binary());
            let target = Target {
                package: package.spec(),
                krate: krate.name(),
                root: package.root(),
                is_woven: !found.chosen.is_empty(),
                has_tests,
                needs_core,
                stamp: stamp_of(&found.chosen, needs_core, selection),
            };
            targets.insert(fs::canonicalize(&krate.src_path).unwrap_or_else(|_| krate.src_path.clone()), target);
        }
    }
    search.judge()?;
    Ok((targets, is_core_needed))
}

/// Whether a crate has tests changes no stamp: where they are not run, nothing of them is compiled.
fn stamp_of(chosen: &[String], needs_core: bool, selection: &Selection) -> String {
    let depth = if chosen.is_empty() { "" } else { selection.depth() };
    let weaver = [env!("CARGO_PKG_VERSION").to_owned(), hooks_source(), needs_core.to_string(), depth.to_owned()];
    stamp(weaver.iter().chain(chosen))
}
