//! Profilers of the user's own, as far as the plan knows them.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use metaspy_weave::plan::{Core, Target, stamp};

use crate::cargo_metaspy::graph::Graph;

/// Whether there is a program to link them with. One that has a core of its own has profilers compiled against another
/// one; only its author can give it these.
pub fn judge(graph: &Graph, profilers: &[PathBuf], is_core_needed: bool) -> Result<()> {
    if profilers.is_empty() {
        return Ok(());
    }
    let members = graph.woven().into_iter().filter(|package| graph.is_member(package));
    let with_core =
        members.filter(|package| graph.has_core(package, false)).map(|package| format!("`{}`", package.name));
    let with_core: Vec<String> = with_core.collect();
    let advice = "depends on metaspy: its programs have the profilers that it depends on. Let it depend on the profiler's \
        crate, and name that once in its `main.rs`: `use the_profiler as _;`";
    match (is_core_needed, with_core.is_empty()) {
        (false, false) => bail!("--profiler: {} {advice}; then start it with `--profile NAME`", with_core.join(", ")),
        (false, true) => {
            bail!("--profiler: nothing that is built here is a program, so there is nothing to link it with")
        }
        (true, false) => eprintln!("warning: metaspy: --profiler: {} {advice}", with_core.join(", ")),
        (true, true) => {}
    }
    Ok(())
}

/// Programs are linked again when a profiler changed: cargo knows nothing of it.
pub fn stamp_targets(targets: &mut BTreeMap<PathBuf, Target>, core: Option<&Core>) -> Result<()> {
    let Some(core) = core.filter(|core| !core.profilers.is_empty()) else { return Ok(()) };
    let mut hasher = DefaultHasher::new();
    for library in [&core.library].into_iter().chain(&core.profilers) {
        library.hash(&mut hasher);
        fs::read(library).with_context(|| format!("{} cannot be read", library.display()))?.hash(&mut hasher);
    }
    let linked = format!("{:016x}", hasher.finish());
    for target in targets.values_mut().filter(|target| target.needs_core) {
        target.stamp = stamp([&target.stamp, &linked]);
    }
    Ok(())
}
