//! The stamp of each crate's last compilation, so that a changed selection is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Target, read_whole, write_whole};
use crate::wrapper::arguments::{Arguments, unit};

/// The stamp of a crate that was compiled without hooks.
pub const PLAIN: &str = "plain";

/// The selection that a crate was compiled with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrateStamp {
    /// The package, as an argument of cargo.
    pub package: String,
    /// The file of its root.
    pub root: PathBuf,
    /// The directory of the results, below the target directory: both may be copied to another
    /// place.
    pub out_dir: PathBuf,
    /// The stamp of the target, or [`PLAIN`].
    pub stamp: String,
}

/// Writes the stamp before the crate is compiled: after a killed build, cargo compiles the crate
/// again anyway.
pub fn write(plan: &Plan, arguments: &Arguments, target: Option<&Target>) -> Result<()> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let package = format!("{}@{}", variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"));
    let root = arguments.root().map(fs::canonicalize).transpose()?.unwrap_or_default();
    let stamp = target.map_or(PLAIN, |target| &target.stamp);
    write_of(
        &plan.dir,
        package,
        root,
        &arguments.out_dir().unwrap_or_default(),
        &arguments.results(),
        stamp,
    )
}

/// Writes the stamp of a crate that was compiled without hooks elsewhere. `results` is the name of
/// its results in `out_dir`.
pub fn write_plain(
    dir: &Path,
    package: String,
    root: PathBuf,
    out_dir: &Path,
    results: &str,
) -> Result<()> {
    write_of(dir, package, root, out_dir, results, PLAIN)
}

fn write_of(
    dir: &Path,
    package: String,
    root: PathBuf,
    out_dir: &Path,
    results: &str,
    stamp: &str,
) -> Result<()> {
    let real = |dir: &Path| fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let target_dir = real(dir.parent().unwrap_or(dir));
    let real_out_dir = real(out_dir);
    let out_dir_below = real_out_dir.strip_prefix(&target_dir).unwrap_or(&real_out_dir).to_owned();
    let record = CrateStamp { package, root, out_dir: out_dir_below, stamp: stamp.to_owned() };
    let path = dir.join("stamps").join(format!("{}.json", unit(results, out_dir)));
    Ok(write_whole(&path, &serde_json::to_vec(&record)?)?)
}

/// All stamps, with their files.
pub fn stamps(dir: &Path) -> Vec<(PathBuf, CrateStamp)> {
    let entries =
        fs::read_dir(dir.join("stamps")).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter_map(|path| {
            Some((path.clone(), serde_json::from_slice(&read_whole(&path).ok()?).ok()?))
        })
        .collect()
}
