//! Directory for files that only one run of a command needs.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Number of names that are tried.
const TRIALS: usize = 16;

/// New subdirectory of the system's temporary directory, which all users share. No other user can read it or guess its
/// name. Dropping it removes its files.
#[derive(Debug)]
pub struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Creates the directory for a command.
    ///
    /// # Errors
    ///
    /// If the temporary directory cannot be written.
    pub fn new(command: &str) -> Result<PrivateDirectory> {
        let around = std::env::temp_dir();
        let created = create(&around, command);
        let created = created.with_context(|| format!("cannot write to {}: set TMPDIR", around.display()))?;
        Ok(PrivateDirectory(created))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
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
}
