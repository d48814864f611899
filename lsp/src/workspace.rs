//! The cargo workspaces in the folders that a client has opened, and where their programs are built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize;

/// A cargo workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Workspace {
    /// Its root. Recordings name the files of its packages relative to it.
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    /// The directory that cargo builds into.
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
}

impl Workspace {
    /// The directory that `cargo metaspy` builds into by default.
    pub fn woven_target(&self) -> PathBuf {
        self.target.join("metaspy")
    }

    /// True if a program was built in this workspace.
    pub fn has_built(&self, program: &Path) -> bool {
        program.starts_with(&self.target) || program.starts_with(&self.root)
    }
}

/// The workspaces of a folder: its own one, and otherwise those of the folders directly in it. A folder without cargo is a
/// workspace, too: recordings may name its files.
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

/// Reads a workspace as cargo describes it. Cargo uses no network for this.
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
