//! [`WorkDirectory`]: where a partition is made before it is published.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::target::Target;

/// Begins the names of directories in which partitions are made.
const WORK: &str = ".sealing-";
/// A directory in which a partition is made. It is removed unless it is published.
pub struct WorkDirectory {
    path: PathBuf,
    /// Held as long as the owner lives, so that others can recognise an abandoned directory.
    _lock: File,
}

impl WorkDirectory {
    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // After a publication there is nothing to remove.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(lock_file(&self.path));
    }
}

impl Target {
    /// A directory for a partition: beside the partitions, or among the temporary files if the
    /// target is a bucket.
    pub fn work_directory(&self, process: &str) -> Result<WorkDirectory> {
        let base = self.work_base();
        for attempt in 0..1_000 {
            let name = process.replace(['/', '\\'], "_");
            let path = base.join(format!("{WORK}{name}-{}-{attempt}", std::process::id()));
            let lock = File::create(lock_file(&path))
                .with_context(|| format!("cannot write to {}", base.display()))?;
            // Another seal may have found the file before it was locked, and removed it.
            let is_locked = lock.try_lock().is_ok() && is_at(&lock, &lock_file(&path));
            if is_locked && fs::create_dir(&path).is_ok() {
                return Ok(WorkDirectory { path, _lock: lock });
            }
        }
        bail!("cannot create a directory in {}", base.display())
    }

    /// Where partitions are made.
    fn work_base(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Removes the directories and the locks of interrupted seals.
    pub fn remove_abandoned(&self) -> Result<()> {
        for entry in fs::read_dir(self.work_base())?.filter_map(Result::ok) {
            let path = entry.path();
            if !entry.file_name().to_string_lossy().starts_with(WORK) {
                continue;
            }
            if !path.is_dir() {
                // It was interrupted before it made its directory, or after it removed that.
                let is_alone = path.extension().is_some_and(|it| it == "lock")
                    && !path.with_extension("").exists();
                if let Some(lock) =
                    File::open(&path).ok().filter(|lock| is_alone && lock.try_lock().is_ok())
                {
                    let _ = fs::remove_file(&path);
                    drop(lock);
                }
                continue;
            }
            let is_held = File::open(lock_file(&path))
                .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            if is_held {
                continue;
            }
            match fs::remove_dir_all(&path) {
                // Among the temporary files are those of others.
                Err(_) if self.directory.is_none() => continue,
                removed => removed.with_context(|| format!("cannot remove {}", path.display()))?,
            }
            let _ = fs::remove_file(lock_file(&path));
        }
        Ok(())
    }
}

/// True if an open file is still at its path.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(number).ok() == fs::metadata(path).map(number).ok()
}

fn lock_file(directory: &Path) -> PathBuf {
    PathBuf::from(format!("{}.lock", directory.display()))
}
