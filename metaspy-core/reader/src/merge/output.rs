//! Memory that a merged recording is written to: in memory, or, where it is large, in a file without a name.

use std::fs::{File, OpenOptions};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::platform::map;
use metaspy_format::Region;

/// Bytes up to which a recording is written to memory.
const IN_MEMORY: usize = 256 << 20;

/// Zeroed words that are written once.
pub(crate) struct OutputMemory {
    region: Region,
}

impl OutputMemory {
    /// Room for so many bytes.
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

    /// The words.
    pub fn cells(&self) -> &[AtomicU64] {
        self.region.cells().expect("it was made to be written")
    }

    /// Writes a word.
    pub fn set(&self, at: usize, word: u64) {
        self.cells()[at].store(word, Relaxed);
    }

    /// Writes words, one after the other.
    pub fn write(&self, at: usize, words: impl IntoIterator<Item = u64>) {
        for (cell, word) in self.cells()[at..].iter().zip(words) {
            cell.store(word, Relaxed);
        }
    }

    /// What was written, to be read.
    pub fn region(&self) -> Region {
        self.region.clone()
    }
}

/// A file in the temporary directory that nobody else can open, and that is gone with its last user.
pub(crate) fn temporary_file() -> io::Result<File> {
    let dir = std::env::temp_dir();
    for _ in 0..16 {
        let path = dir.join(format!("metaspy-{}-{:016x}", std::process::id(), crate::platform::random()));
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
