//! Where the programs of a run record, and what they left there.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::Result;

use crate::front::spies::Spies;

/// Where the programs of this run record.
pub struct Recordings {
    dir: PathBuf,
}

impl Recordings {
    /// Below this directory.
    pub fn new(dir: &Path) -> Result<Self> {
        let dir = dir.join("runs").join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir)?;
        Ok(Recordings { dir })
    }

    /// Asks programs to count, and to start these profilers. The counts survive an abort, and profiles do not.
    pub fn ask(&self, cargo: &mut Command, spies: &Spies) {
        cargo.env("METASPY_RECORD", "live").env("METASPY_DIR", &self.dir).env("METASPY_RUN", "woven");
        cargo.env("METASPY_MODE", "tally");
        if let Some(names) = spies.text() {
            cargo.env("METASPY_SPIES", names);
        }
        if env::var_os("METASPY_BUDGET").is_none() {
            cargo.env("METASPY_BUDGET", (64 << 20).to_string());
        }
    }

    /// The recordings.
    pub fn recordings(&self) -> Vec<PathBuf> {
        self.files("spy")
    }

    /// The profiles.
    pub fn profiles(&self) -> Vec<PathBuf> {
        self.files("profile")
    }

    /// The processes that recorded.
    pub fn processes(&self) -> BTreeSet<String> {
        self.recordings().iter().filter_map(|path| process_of(path)).collect()
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> = entries(&self.dir)
            .flat_map(|entry| if entry.is_dir() { entries(&entry).collect() } else { vec![entry] })
            .collect();
        found.retain(|path| path.extension() == Some(OsStr::new(extension)));
        found.sort();
        found
    }
}

impl Drop for Recordings {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// What a file's name says of its process: all before the first dot.
pub fn process_of(path: &Path) -> Option<String> {
    path.file_name()?.to_str()?.split('.').next().map(str::to_owned)
}
