//! Cargo workspaces in the folders of a client, and their build directories.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize;

/// Cargo workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Workspace {
    /// Root directory. Recordings name the files of the packages relative to it.
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    /// Target directory of cargo.
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
}

impl Workspace {
    /// Returns the default target directory of `cargo metaspy`.
    pub fn woven_target(&self) -> PathBuf {
        self.target.join("metaspy")
    }

    /// Returns true if a program was built in this workspace.
    pub fn has_built(&self, program: &Path) -> bool {
        program.starts_with(&self.target) || program.starts_with(&self.root)
    }
}

/// Finds the workspaces of a folder: the folder's own workspace, or otherwise those of its direct
/// subfolders.
///
/// A folder without cargo is a workspace, too, because recordings may name its files.
pub fn find(folder: &Path) -> Vec<Workspace> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    if let Some(own) = read(&folder) {
        return vec![own];
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut packages: Vec<PathBuf> = entries.filter(|path| path.join("Cargo.toml").is_file()).collect();
    packages.sort();
    let mut found: Vec<Workspace> = packages.iter().filter_map(|package| read(package)).collect();
    found.dedup();
    if found.is_empty() {
        found.push(Workspace { target: folder.join("target"), root: folder });
    }
    found
}

/// Asks cargo for a workspace. Cargo does not use the network for this.
fn read(folder: &Path) -> Option<Workspace> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(folder);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let mut found: Workspace = serde_json::from_slice(&output.stdout).ok()?;
    found.root = fs::canonicalize(&found.root).unwrap_or(found.root);
    found.target = fs::canonicalize(&found.target).unwrap_or(found.target);
    Some(found)
}
