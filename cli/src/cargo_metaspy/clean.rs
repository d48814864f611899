//! Crates that were compiled with another selection.
//!
//! Selections are no part of cargo's fingerprints, so `cargo clean --package` cleans these crates,
//! and cargo builds them again, with the crates that depend on them. An environment dependency in
//! dep-info would not do, because cargo respects that for path dependencies only.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use metaspy_weave::plan::Plan;
use metaspy_weave::wrapper::{PLAIN, stamps};

use crate::cargo_metaspy::cargo::{Cargo, NO_CARGO};
use crate::cargo_metaspy::graph::Graph;

/// Packages that were woven with another selection, in the directory of a profile.
#[derive(Default)]
pub struct Stale {
    packages: BTreeSet<String>,
    /// The directories of their programs.
    directories: BTreeSet<PathBuf>,
    /// Their stamps.
    files: Vec<PathBuf>,
    /// True if one of them could not be woven, and is tried again.
    pub has_failed: bool,
}

/// Finds these packages.
pub fn find(profile: &str, graph: &Graph, plan: &Plan) -> Stale {
    let target_dir = plan.dir.parent().unwrap_or(&plan.dir);
    let target_dir = fs::canonicalize(target_dir).unwrap_or_else(|_| target_dir.to_owned());
    // The directory of a target platform may be in between.
    let is_here = |dir: &Path| {
        // Stamps of an earlier version have the whole path.
        let below = dir.strip_prefix(&target_dir).unwrap_or(dir);
        below.components().take(2).any(|part| part.as_os_str() == OsStr::new(profile))
    };
    let mut stale = Stale::default();
    for (file, record) in stamps(&plan.dir) {
        let target = plan.targets.get(&record.root);
        let is_plain = record.stamp == PLAIN;
        // A library is compiled unchanged if only its tests need hooks.
        let may_be_plain = target.is_none_or(|target| !target.is_woven);
        let is_fresh =
            target.is_some_and(|target| target.stamp == record.stamp) || may_be_plain && is_plain;
        if !is_fresh && is_here(&record.out_dir) && graph.has(&record.package) {
            stale.packages.insert(record.package);
            stale.directories.extend(target_dir.join(&record.out_dir).parent().map(PathBuf::from));
            stale.files.push(file);
            stale.has_failed |= is_plain;
        }
    }
    stale
}

impl Stale {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    /// Cleans them.
    pub fn clean(self, cargo: &Cargo, command: &str, target_dir: &Path) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut clean = cargo.clean(target_dir)?;
        if command == "bench" && !cargo.names_profile() {
            clean.arg("--release");
        }
        clean.args(self.packages.iter().map(|package| format!("--package={package}")));
        // This build may make only some of the programs that cargo removes with their package.
        let programs: Vec<SetAside> =
            self.directories.iter().filter_map(|it| SetAside::of(it).ok()).collect();
        let output = clean.output().context(NO_CARGO)?;
        programs.into_iter().for_each(SetAside::put_back);
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            bail!("cannot clean crates woven with another selection: {}", messages.trim_end());
        }
        for file in self.files {
            fs::remove_file(file)?;
        }
        Ok(())
    }
}

/// Further links to the files of a directory.
struct SetAside {
    directory: PathBuf,
    links: PathBuf,
}

impl SetAside {
    fn of(directory: &Path) -> io::Result<SetAside> {
        let links = directory.join(".metaspy-programs");
        fs::create_dir_all(&links)?;
        for entry in fs::read_dir(directory)?.flatten() {
            if entry.file_type()?.is_file() {
                // One that cannot be linked is built again when it is asked for.
                let _ = fs::hard_link(entry.path(), links.join(entry.file_name()));
            }
        }
        Ok(SetAside { directory: directory.to_owned(), links })
    }

    /// Puts the files back that were removed since.
    fn put_back(self) {
        for entry in fs::read_dir(&self.links).into_iter().flatten().flatten() {
            let place = self.directory.join(entry.file_name());
            if !place.exists() {
                let _ = fs::rename(entry.path(), place);
            }
        }
        let _ = fs::remove_dir_all(&self.links);
    }
}
