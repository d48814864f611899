//! Directory for files that only one run of a command needs.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

/// Number of names that are tried.
const TRIALS: usize = 16;

/// Age from which on a directory without a lock is one of a command that was killed.
const LEFT: Duration = Duration::from_secs(60);

/// New subdirectory of the system's temporary directory, which all users share. No other user can
/// read it or guess its name. Dropping it removes its files.
///
/// It is locked as long as it is in use, so the next run of the command removes the files that a
/// killed one has left.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    _lock: Option<File>,
}

impl PrivateDirectory {
    /// Creates the directory for a command.
    ///
    /// # Errors
    ///
    /// If the temporary directory cannot be written.
    pub fn new(command: &str) -> Result<PrivateDirectory> {
        let around = std::env::temp_dir();
        remove_left(&around, command);
        let created = create(&around, command);
        let path =
            created.with_context(|| format!("cannot write to {}: set TMPDIR", around.display()))?;
        let lock = File::open(&path).ok().filter(|lock| lock.try_lock().is_ok());
        Ok(PrivateDirectory { path, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories of runs of a command that were killed. Those of other users stay,
/// because they cannot be read.
fn remove_left(around: &Path, command: &str) {
    let prefix = format!("metaspy-{command}-");
    let has_name =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with(&prefix));
    for entry in fs::read_dir(around)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| has_name(&entry.file_name()))
    {
        let is_old = |entry: &fs::DirEntry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            metadata.modified().ok()?.elapsed().ok().filter(|age| *age > LEFT)
        };
        if is_old(&entry).is_some()
            && File::open(entry.path()).is_ok_and(|left| left.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn create(around: &Path, command: &str) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for _ in 0..TRIALS {
        let random = RandomState::new().build_hasher().finish();
        let path = around.join(format!("metaspy-{command}-{}-{random:016x}", std::process::id()));
        match builder.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_directory_is_new_and_of_its_user_alone() {
        let directory = PrivateDirectory::new("test").expect("there is room");
        let other = PrivateDirectory::new("test").expect("there is room");
        assert_ne!(directory.path(), other.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(directory.path()).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let path = directory.path().to_owned();
        fs::write(path.join("a"), "text").expect("there is room");
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_command_left_is_removed_and_what_is_in_use_stays() {
        let used = PrivateDirectory::new("sweep").expect("there is room");
        let left = create(&std::env::temp_dir(), "sweep").expect("there is room");
        let new = create(&std::env::temp_dir(), "sweep").expect("there is room");
        for path in [used.path(), &left] {
            let before = std::time::SystemTime::now() - 2 * LEFT;
            File::open(path).and_then(|it| it.set_modified(before)).expect("it is ours");
        }
        drop(PrivateDirectory::new("sweep").expect("there is room"));
        assert_eq!([used.path(), &left, &new].map(Path::exists), [true, false, true]);
        fs::remove_dir(new).expect("it is ours");
    }
}
