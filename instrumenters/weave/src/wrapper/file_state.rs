//! Files as they were, so that it is noticed when they change.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A file, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    path: PathBuf,
    /// Its size and its time; `None` if it is not there.
    state: Option<(u64, SystemTime)>,
}

impl File {
    /// As it is now.
    pub fn at(path: PathBuf) -> File {
        let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        let state = meta.and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
        File { path, state }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When it changed; `None` if it is not there.
    pub fn changed(&self) -> Option<SystemTime> {
        self.state.map(|(_, changed)| changed)
    }

    /// Whether it still is as it was.
    pub fn is_same(&self) -> bool {
        *self == File::at(self.path.clone())
    }
}

/// A file of source, which is the same as long as its text is: cargo builds nothing again where a package is fetched again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    file: File,
    text: u64,
}

impl Source {
    /// As it is now.
    pub fn at(path: PathBuf) -> Source {
        Source { text: text_of(&path), file: File::at(path) }
    }

    /// Whether it still is as it was.
    pub fn is_same(&self) -> bool {
        self.file.is_same() || self.file.state.is_some() && self.text == text_of(self.file.path())
    }
}

fn text_of(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    fs::read(path).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}
