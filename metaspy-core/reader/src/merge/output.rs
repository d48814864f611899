//! Memory of a merged recording, or a temporary file if the recording is large.

use std::fs::{File, OpenOptions};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::platform::map;
use metaspy_format::Region;

/// Maximum size of a recording in memory, in bytes.
const IN_MEMORY: usize = 256 << 20;

/// Zeroed words, each written once.
pub(crate) struct OutputMemory {
    region: Region,
}

impl OutputMemory {
    /// Allocates zeroed memory of `bytes` bytes.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let map = if bytes <= IN_MEMORY {
            map::anonymous(bytes)?
        } else {
            let file = temporary_file()?;
            file.set_len(bytes as u64)?;
            map::allocate(&file, 0, bytes as u64)?;
            map::file(&file, bytes)?
        };
        Ok(OutputMemory { region: Region::writable(map) })
    }

    /// Returns the words.
    pub fn cells(&self) -> &[AtomicU64] {
        self.region.cells().expect("it was made to be written")
    }

    /// Writes a word.
    pub fn set(&self, at: usize, word: u64) {
        self.cells()[at].store(word, Relaxed);
    }

    /// Writes consecutive words.
    pub fn write(&self, at: usize, words: impl IntoIterator<Item = u64>) {
        for (cell, word) in self.cells()[at..].iter().zip(words) {
            cell.store(word, Relaxed);
        }
    }

    /// Returns the written words, for reading.
    pub fn region(&self) -> Region {
        self.region.clone()
    }
}

/// Creates a temporary file that no other process can open. The system deletes it after its last
/// use.
pub(crate) fn temporary_file() -> io::Result<File> {
    let dir = std::env::temp_dir();
    for _ in 0..16 {
        let path =
            dir.join(format!("metaspy-{}-{:016x}", std::process::id(), crate::platform::random()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name is free in the temporary directory"))
}
