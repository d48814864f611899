//! Crates that were compiled from another selection than this one. Cargo knows nothing of selections, so what it built of
//! them is taken back, and it builds exactly these again, and what depends on them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use metaspy_weave::plan::Plan;
use metaspy_weave::wrapper::{PLAIN, stamps};

use crate::cargo_metaspy::cargo::{Cargo, NO_CARGO};
use crate::cargo_metaspy::graph::Graph;

/// What was built otherwise, in the directory of a profile.
pub struct Stale {
    packages: BTreeSet<String>,
    /// The records of these.
    files: Vec<PathBuf>,
    /// Whether a crate is among them that could not be woven.
    pub is_to_be_tried: bool,
}

/// Looks for it.
pub fn find(profile: &str, graph: &Graph, plan: &Plan) -> Stale {
    let target_dir = plan.dir.parent().unwrap_or(&plan.dir);
    let target_dir = fs::canonicalize(target_dir).unwrap_or_else(|_| target_dir.to_owned());
    // Between the two there may be the directory of a target.
    let is_here = |dir: &Path| {
        let below = dir.strip_prefix(&target_dir).unwrap_or(Path::new(""));
        below.components().take(2).any(|part| part.as_os_str() == OsStr::new(profile))
    };
    let mut stale = Stale { packages: BTreeSet::new(), files: Vec::new(), is_to_be_tried: false };
    for (file, record) in stamps(&plan.dir) {
        let target = plan.targets.get(&record.root);
        let is_plain = record.stamp == PLAIN;
        // A library is compiled as it is where only its tests need something.
        let may_be_plain = target.is_none_or(|target| !target.is_woven);
        let is_fresh = target.is_some_and(|target| target.stamp == record.stamp) || may_be_plain && is_plain;
        if !is_fresh && is_here(&record.out_dir) && graph.has(&record.package) {
            stale.packages.insert(record.package);
            stale.files.push(file);
            stale.is_to_be_tried |= is_plain;
        }
    }
    stale
}

impl Stale {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    /// Takes it back.
    pub fn take_back(self, cargo: &Cargo, command: &str, target_dir: &Path) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut clean = cargo.clean(target_dir)?;
        if command == "bench" && !cargo.names_profile() {
            clean.arg("--release");
        }
        clean.args(self.packages.iter().map(|package| format!("--package={package}")));
        let output = clean.output().context(NO_CARGO)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("what was woven otherwise cannot be taken back: {}", said.trim_end());
        }
        for file in self.files {
            fs::remove_file(file)?;
        }
        Ok(())
    }
}
