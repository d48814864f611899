//! Code file as it was when it ran.
//!
//! It stays open from the moment that its mapping is seen, 128 files at most. Its path may lead to
//! another file at the report, after a build, or to none, in a container that has ended.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File with code, as far as it could be found.
#[derive(Clone, Debug)]
pub enum CodeFile {
    /// The present file at the path.
    AtPath,
    /// The file that a process mapped.
    Mapped(MappedFile),
    /// The file was not found, for this reason.
    Missing(Missing),
}

/// Reason for which the file that ran has no names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The path leads to another file, or the file has other content by now.
    Replaced,
    /// The path leads to no file.
    Removed,
    /// This user may not read the file.
    Refused,
}

/// File that was opened when its mapping was seen.
#[derive(Clone, Debug)]
pub struct MappedFile {
    /// Open file; `None` if too many files are open already.
    kept: Option<Arc<File>>,
    seen: Identity,
}

/// Identity of a file's content, for comparison with a later state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified_s: i64,
    modified_ns: i64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
        }
    }
}

impl MappedFile {
    /// Notes the identity of an open file, and keeps it open if `is_kept`.
    ///
    /// # Errors
    ///
    /// If the system does not return the file's metadata.
    pub fn new(file: File, is_kept: bool) -> io::Result<MappedFile> {
        let seen = Identity::of(&file.metadata()?);
        Ok(MappedFile { kept: is_kept.then(|| Arc::new(file)), seen })
    }
}

impl CodeFile {
    /// Returns a path that leads to the file that ran.
    ///
    /// It is the file's own path if that is still right, so that files beside it are found.
    ///
    /// # Errors
    ///
    /// If no path leads to the file.
    pub fn readable(&self, path: &Path) -> Result<PathBuf, Missing> {
        let mapped = match self {
            CodeFile::AtPath => return Ok(path.to_owned()),
            CodeFile::Missing(why) => return Err(*why),
            CodeFile::Mapped(mapped) => mapped,
        };
        let at_path = fs::metadata(path);
        if at_path.as_ref().is_ok_and(|now| Identity::of(now) == mapped.seen) {
            return Ok(path.to_owned());
        }
        match &mapped.kept {
            Some(file) if file.metadata().is_ok_and(|now| Identity::of(&now) == mapped.seen) => {
                Ok(path_of(file))
            }
            Some(_) => Err(Missing::Replaced),
            None if at_path.is_ok() => Err(Missing::Replaced),
            None => Err(Missing::Removed),
        }
    }
}

/// Directory as a sampled process sees it. It stays open if this process sees another directory at
/// its path.
#[derive(Clone, Debug, Default)]
pub struct Directory(Option<Arc<File>>);

impl Directory {
    /// Opens a directory of another process by a path in `/proc`. Returns `None` if that is not
    /// possible.
    pub fn open(path: &Path) -> Option<Directory> {
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
        Some(Directory(Some(Arc::new(file))))
    }

    /// Returns true if this process sees the same directory at the path.
    pub fn is_ours(&self) -> bool {
        self.0.is_none()
    }

    /// Returns a path of the directory; `ours` is its path in this process.
    pub fn path(&self, ours: impl AsRef<Path>) -> PathBuf {
        self.0.as_ref().map_or_else(|| ours.as_ref().to_owned(), |file| path_of(file))
    }
}

/// Returns a path that leads to an open file, even if its name was changed or removed.
pub fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
