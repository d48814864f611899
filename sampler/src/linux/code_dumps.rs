//! Temporary directory in which sampled programs register the code that they make.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Prefix of the directory's name. The process number of the sampler follows.
const NAME: &str = "metaspy-code-";

/// Subdirectory of the system's temporary directory. Dropping it removes the files.
///
/// A sampler that is killed leaves its directory behind. The directory is locked until its sampler
/// ends, so the next sampler can recognize and remove it.
pub struct CodeDumps {
    path: PathBuf,
    _lock: File,
}

impl CodeDumps {
    /// Creates the directory. Returns `None` if the user has chosen a directory, or if it cannot be
    /// made.
    pub fn new() -> Option<CodeDumps> {
        if std::env::var_os("METASPY_CODE_MAP").is_some() {
            return None;
        }
        let directory = std::env::temp_dir();
        remove_left(&directory);
        let path = directory.join(format!("{NAME}{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        let lock = File::open(&path).ok()?;
        lock.try_lock().ok()?;
        Some(CodeDumps { path, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for CodeDumps {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories of this user's samplers that were killed.
fn remove_left(directory: &Path) {
    let Ok(own) = fs::metadata("/proc/self") else { return };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse::<u32>().ok())
        else {
            continue;
        };
        let is_ours = entry.metadata().is_ok_and(|of| of.is_dir() && of.uid() == own.uid());
        // A sampler locks its directory a moment after it has made it. A sampler in a container has
        // another number there.
        let is_running = pid != std::process::id() && Path::new(&format!("/proc/{pid}")).exists();
        if is_ours
            && !is_running
            && File::open(entry.path()).is_ok_and(|left| left.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
