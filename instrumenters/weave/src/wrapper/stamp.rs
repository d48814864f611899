//! The stamp of each crate's last compilation, so that a changed selection is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Target, write_whole};
use crate::wrapper::arguments::Arguments;

/// The stamp of a crate that was compiled without hooks.
pub const PLAIN: &str = "plain";

/// The selection that a crate was compiled with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrateStamp {
    /// The package, as an argument of cargo.
    pub package: String,
    /// The file of its root.
    pub root: PathBuf,
    /// The directory of the results, below the target directory: both may be copied to another place.
    pub out_dir: PathBuf,
    /// The stamp of the target, or [`PLAIN`].
    pub stamp: String,
}

/// Writes the stamp before the crate is compiled: after a killed build, cargo compiles the crate again anyway.
pub fn write(plan: &Plan, arguments: &Arguments, target: Option<&Target>) -> Result<()> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let root = arguments.root().map(fs::canonicalize).transpose()?.unwrap_or_default();
    let real = |dir: &Path| fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let (target_dir, out_dir) = (real(plan.dir.parent().unwrap_or(&plan.dir)), arguments.out_dir().unwrap_or_default());
    let out_dir = real(&out_dir);
    let record = CrateStamp {
        package: format!("{}@{}", variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION")),
        root,
        out_dir: out_dir.strip_prefix(&target_dir).unwrap_or(&out_dir).to_owned(),
        stamp: target.map_or(PLAIN.to_owned(), |target| target.stamp.clone()),
    };
    let path = plan.dir.join("stamps").join(format!("{}.json", arguments.unit()));
    Ok(write_whole(&path, &serde_json::to_vec(&record)?)?)
}

/// All stamps, with their files.
pub fn stamps(dir: &Path) -> Vec<(PathBuf, CrateStamp)> {
    let entries = fs::read_dir(dir.join("stamps")).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter_map(|path| Some((path.clone(), serde_json::from_slice(&fs::read(&path).ok()?).ok()?))).collect()
}
