//! [`OwnFile`]: the file of a recording, in a program that may close it.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that this process has created for a recording.
///
/// A program may close all descriptors that it has not opened itself, and then open files of its
/// own, which get the same numbers. So each use compares the file behind the number with the one
/// that was created.
pub struct OwnFile {
    path: PathBuf,
    file: File,
    identity: Identity,
}

/// Device and number of a file; 0 where the system has none.
#[derive(Default)]
struct Identity {
    device: AtomicU64,
    number: AtomicU64,
}

impl OwnFile {
    /// Creates a file that only its user can read. It never opens an existing file or follows a
    /// link.
    pub fn create(path: &Path) -> io::Result<OwnFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
        }
        let file = beside_standard_streams(options.open(path)?)?;
        let identity = Identity::default();
        identity.set(&file.metadata()?);
        Ok(OwnFile { path: path.to_owned(), file, identity })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if this is its metadata.
    pub(crate) fn is_described_by(&self, metadata: &Metadata) -> bool {
        self.identity.number.load(Ordering::Relaxed) != 0 && self.identity.is_of(metadata)
    }

    /// The open file. An error if the program has closed it.
    pub fn get(&self) -> io::Result<&File> {
        match self.file.metadata() {
            Ok(metadata) if self.identity.is_of(&metadata) => Ok(&self.file),
            _ => {
                Err(io::Error::new(io::ErrorKind::NotConnected, "the program has closed this file"))
            }
        }
    }

    /// True if the file is at its path, and at no other one.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_at_its_path(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(&self.path);
        found.is_ok_and(|metadata| self.is_described_by(&metadata) && metadata.nlink() == 1)
    }

    /// Takes the file that has replaced this one at its path. Only this process's descriptor of the
    /// replaced file is closed.
    #[cfg(target_os = "linux")]
    pub(crate) fn become_copy(&self, copy: &OwnFile) {
        use std::os::fd::AsRawFd;
        if let (Ok(file), Ok(copy)) = (self.get(), copy.get())
            && let Ok(metadata) = copy.metadata()
        {
            // SAFETY: both numbers are of files of this process. `self.file` keeps its number, and
            // closes it once.
            unsafe { libc::dup3(copy.as_raw_fd(), file.as_raw_fd(), libc::O_CLOEXEC) };
            self.identity.set(&metadata);
        }
    }

    /// Closes the file: in a forked child, because a file that is open in any process seems to be
    /// written, or for a log that is let go.
    pub fn close(&self) {
        #[cfg(unix)]
        if self.get().is_ok() {
            use std::os::fd::AsRawFd;
            // SAFETY: the number is of this file. It is used no more: logs are never dropped.
            unsafe { libc::close(self.file.as_raw_fd()) };
        }
    }
}

/// Returns the same file under a number above those of the standard streams: a stream that is
/// closed at the start of a program may be opened again later, by its number.
fn beside_standard_streams(file: File) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        if file.as_raw_fd() <= libc::STDERR_FILENO {
            // A copy never has such a number.
            return file.try_clone();
        }
    }
    Ok(file)
}

impl Identity {
    fn set(&self, metadata: &Metadata) {
        let (device, number) = identity_of(metadata);
        self.device.store(device, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }

    fn is_of(&self, metadata: &Metadata) -> bool {
        (self.device.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed))
            == identity_of(metadata)
    }
}

/// Device and number.
fn identity_of(metadata: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        (0, 0)
    }
}
