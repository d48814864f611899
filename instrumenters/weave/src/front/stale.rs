//! Crates that were compiled from another selection than this one. Cargo knows nothing of selections, so what it built of
//! them is taken back, and it builds exactly these again, and what depends on them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::front::cargo::Cargo;
use crate::front::graph::Graph;
use crate::plan::Plan;
use crate::wrapper::{PLAIN, records};

/// Takes back what was built otherwise, in the directory of this profile.
pub fn take_back(cargo: &Cargo, command: &str, graph: &Graph, plan: &Plan, target_dir: &Path) -> Result<()> {
    let profile = cargo.profile_dir(command);
    let is_here = |dir: &Path| dir.components().any(|part| part.as_os_str() == OsStr::new(&profile));
    let mut packages = BTreeSet::new();
    let mut files = Vec::new();
    for (file, record) in records(&plan.dir) {
        let stamp = plan.targets.get(&record.root).map(|target| target.stamp.as_str());
        // A library is compiled as it is where only its tests need something.
        let may_be_plain = plan.targets.get(&record.root).is_none_or(|target| !target.is_woven);
        let is_fresh = stamp == Some(&record.stamp) || may_be_plain && record.stamp == PLAIN;
        if !is_fresh && is_here(&record.out_dir) && graph.has(&record.package) {
            packages.insert(record.package);
            files.push(file);
        }
    }
    if packages.is_empty() {
        return Ok(());
    }
    let mut clean = cargo.clean(target_dir);
    if command == "bench" && profile == "release" {
        clean.arg("--release");
    }
    clean.args(packages.iter().map(|package| format!("--package={package}")));
    let output = clean.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("what was woven otherwise cannot be taken back: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    for file in files {
        fs::remove_file(file)?;
    }
    Ok(())
}
