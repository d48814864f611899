//! The directory in which the programs of a run record.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::Result;

use crate::cargo_metaspy::profilers::Requested;

/// The extension of locks.
const LOCK: &str = "lock";

/// The directory of the recordings of a run.
pub struct Recordings {
    dir: PathBuf,
    /// The lock is held while the directory is needed. `None` if the directory is kept.
    lock: Option<Lock>,
}

/// A file, and a lock on it.
struct Lock(PathBuf, #[expect(dead_code, reason = "it is held")] File);

impl Recordings {
    /// A new directory below this one, or below the user's directory for recordings. Then it is kept.
    pub fn new(dir: &Path) -> Result<Self> {
        let process = std::process::id();
        if let Some(theirs) = env::var_os("METASPY_DIR").filter(|dir| !dir.is_empty()) {
            let dir = std::path::absolute(theirs)?.join(format!("woven-{process}"));
            fs::create_dir_all(&dir)?;
            return Ok(Recordings { dir, lock: None });
        }
        let runs = dir.join("runs");
        clear(&runs);
        let dir = runs.join(process.to_string());
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&runs)?;
        let lock = dir.with_extension(LOCK);
        let file = File::create(&lock)?;
        // Without locks in the file system, no other run finds the file unlocked either.
        let _ = file.try_lock();
        fs::create_dir_all(&dir)?;
        Ok(Recordings { dir, lock: Some(Lock(lock, file)) })
    }

    /// Sets the environment of programs: they count their calls and start these profilers. Their counts survive an abort.
    pub fn set_environment(&self, cargo: &mut Command, profilers: &Requested) {
        cargo.env("METASPY_RECORD", "live").env("METASPY_DIR", &self.dir).env("METASPY_RUN", "woven");
        cargo.env("METASPY_MODE", "tally");
        if let Some(names) = profilers.text() {
            cargo.env("METASPY_PROFILE", names);
        }
        if env::var_os("METASPY_BUDGET").is_none() {
            cargo.env("METASPY_BUDGET", (64 << 20).to_string());
        }
    }

    /// The recordings.
    pub fn recordings(&self) -> Vec<PathBuf> {
        self.files("spy")
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
        if let Some(Lock(lock, _)) = &self.lock {
            let _ = fs::remove_dir_all(&self.dir);
            let _ = fs::remove_file(lock);
        }
    }
}

/// Removes the directories of runs whose command was killed.
fn clear(runs: &Path) {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    for lock in entries.filter(|path| path.extension() == Some(OsStr::new(LOCK))) {
        if File::open(&lock).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(lock.with_extension(""));
            let _ = fs::remove_file(lock);
        }
    }
}
