//! The state of files, so that changes are noticed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use metaspy_reader::files;
use serde::{Deserialize, Serialize};

/// The largest file whose content is compared, in bytes.
const MOST: u64 = 64 << 20;

/// A file and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    path: PathBuf,
    /// Its size and its time; `None` if it does not exist.
    state: Option<(u64, SystemTime)>,
}

impl File {
    /// The present state of a file.
    pub fn at(path: PathBuf) -> File {
        let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        let state = meta.and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
        File { path, state }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The time of its last change; `None` if it does not exist.
    pub fn changed(&self) -> Option<SystemTime> {
        self.state.map(|(_, changed)| changed)
    }

    /// True if it has not changed.
    pub fn is_same(&self) -> bool {
        *self == File::at(self.path.clone())
    }
}

/// A file that is unchanged as long as its content is, whatever its time: packages are fetched
/// again, and caches copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    file: File,
    hash: u64,
}

impl Content {
    /// True if the file existed.
    pub fn exists(&self) -> bool {
        self.file.state.is_some()
    }

    /// The present state of a file.
    pub fn at(path: PathBuf) -> Content {
        Content { hash: hash_of(&path), file: File::at(path) }
    }

    /// True if it has not changed.
    pub fn is_same(&self) -> bool {
        self.file.is_same() || self.file.state.is_some() && self.hash == hash_of(self.file.path())
    }
}

fn hash_of(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    // An irregular file, or one that is too large for source, is known by its size and time alone.
    files::read(path, MOST).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}
