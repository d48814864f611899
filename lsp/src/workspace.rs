//! Cargo workspaces in the folders of a client, and their build directories.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, io, thread};

use serde::Deserialize;

/// Time after which cargo is ended: it answers within a second, also on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

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
    pub(crate) fn woven_target(&self) -> PathBuf {
        self.target.join("metaspy")
    }

    /// Returns true if a program was built in this workspace.
    pub(crate) fn has_built(&self, program: &Path) -> bool {
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
    let mut packages: Vec<PathBuf> =
        entries.filter(|path| path.join("Cargo.toml").is_file()).collect();
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
    read_within(folder, PATIENCE)
}

/// Asks cargo, and ends it after this time: it would wait for ever for a manifest that is a pipe.
fn read_within(folder: &Path, patience: Duration) -> Option<Workspace> {
    let manifests = folder.ancestors().map(|folder| folder.join("Cargo.toml"));
    if manifests.into_iter().any(|manifest| manifest.exists() && !manifest.is_file()) {
        return None;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(folder);
    let mut running =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut output = running.stdout.take()?;
    let (send, answered) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let _ = output
            .read_to_end(&mut answer)
            .and_then(|_| send.send(answer).map_err(io::Error::other));
    });
    let answer = answered.recv_timeout(patience);
    if answer.is_err() {
        let _ = running.kill();
    }
    let _ = running.wait();
    let mut found: Workspace = serde_json::from_slice(&answer.ok()?).ok()?;
    found.root = fs::canonicalize(&found.root).unwrap_or(found.root);
    found.target = fs::canonicalize(&found.target).unwrap_or(found.target);
    Some(found)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_is_a_pipe_is_not_awaited() {
        let folder = env::temp_dir().join(format!("metaspy-workspace-{}", std::process::id()));
        let member = folder.join("member");
        fs::create_dir_all(&member).expect("there is room");
        let pipe = |path: &Path| {
            assert!(
                Command::new("mkfifo").arg(path).status().expect("every Unix has it").success()
            );
        };
        pipe(&member.join("Cargo.toml"));
        assert_eq!(read(&member), None);
        // Only cargo knows the members.
        fs::write(folder.join("Cargo.toml"), "[workspace]\nmembers = [\"member\"]\n")
            .expect("there is room");
        assert_eq!(read_within(&folder, Duration::from_millis(200)), None);
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
