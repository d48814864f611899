//! Which crates are woven: those with a function that is selected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::front::graph::{Crate, Graph, Package};
use crate::plan::{Selection, Selectors, Target, stamp};
use crate::runtime::hooks_source;
use crate::source;

/// The crates that the plan names, and whether one of them that is now built needs a core. Where no tests are built, as
/// with `cargo run`, only binaries are programs.
pub fn targets(graph: &Graph, selection: &Selection, with_tests: bool) -> Result<(BTreeMap<PathBuf, Target>, bool)> {
    let selectors = selection.parse()?;
    let (mut targets, mut is_core_needed) = (BTreeMap::new(), false);
    let mut search = Search { selectors, found: BTreeSet::new(), names: BTreeSet::new() };
    for package in graph.woven() {
        let is_member = graph.is_member(package);
        for krate in package.targets.iter().filter(|krate| krate.is_target() && (is_member || krate.is_library())) {
            let is_asked = is_member || !selection.weave.is_empty();
            let chosen = if is_asked { search.chosen(krate) } else { Vec::new() };
            // A member's library has tests, which are programs.
            let for_developers = krate.is_for_developers() || krate.is_library();
            let needs_core = is_member && !graph.has_core(package, for_developers);
            if chosen.is_empty() && !needs_core {
                continue;
            }
            is_core_needed |= needs_core && (with_tests || krate.is_binary());
            let target = target(package, krate, &chosen, needs_core);
            targets.insert(fs::canonicalize(&krate.src_path).unwrap_or_else(|_| krate.src_path.clone()), target);
        }
    }
    search.judge(selection)?;
    Ok((targets, is_core_needed))
}

fn target(package: &Package, krate: &Crate, chosen: &[String], needs_core: bool) -> Target {
    let weaver = [env!("CARGO_PKG_VERSION").to_owned(), hooks_source(), needs_core.to_string()];
    Target {
        package: package.spec(),
        krate: krate.name(),
        root: package.root(),
        is_woven: !chosen.is_empty(),
        needs_core,
        stamp: stamp(weaver.iter().chain(chosen)),
    }
}

struct Search {
    selectors: Selectors,
    /// Selectors that matched, by their place.
    found: BTreeSet<usize>,
    /// All paths, for those that were mistaken.
    names: BTreeSet<String>,
}

impl Search {
    /// The functions of a crate that are selected.
    fn chosen(&mut self, krate: &Crate) -> Vec<String> {
        let mut chosen = Vec::new();
        let name = krate.name();
        for file in source::read(&krate.src_path).unwrap_or_default().files {
            for function in file.parsed.iter().flat_map(|parsed| &parsed.functions.all) {
                let path = file.path_of(&name, function);
                let matching = self.selectors.weave.iter().enumerate().filter(|(_, selector)| selector.matches(&path));
                self.found.extend(matching.map(|(at, _)| at));
                if self.selectors.means(&path) {
                    chosen.push(format!("{path} {}", file.path.display()));
                }
                self.names.insert(path);
            }
        }
        chosen
    }

    /// A selector that matches nothing is a mistake.
    fn judge(&self, selection: &Selection) -> Result<()> {
        let lost = |(at, _): &(usize, &String)| !self.found.contains(at);
        let Some((at, text)) = selection.weave.iter().enumerate().find(lost) else { return Ok(()) };
        let nearest = self.selectors.weave[at].nearest(self.names.iter().map(String::as_str));
        match nearest.is_empty() {
            true => bail!("`{text}` matches no function of the {} that could be woven", self.names.len()),
            false => bail!("`{text}` matches no function; did you mean {}?", nearest.join(", ")),
        }
    }
}
