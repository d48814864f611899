//! The directory in which the programs of a run record.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use metaspy_core::recording::UNRECORDED;
use metaspy_report::runs::{self, Begun, Note};
use metaspy_weave::plan::{read_whole, read_whole_text};
use metaspy_weave::wrapper::doc_tests::UNCOUNTED;

use crate::cargo_metaspy::profilers::Requested;

/// The recordings of a run, and the programs without one.
pub struct Recordings {
    place: RunDirectory,
    unrecorded: Unrecorded,
}

/// The directory of the recordings of a run.
enum RunDirectory {
    /// A kept run.
    Kept(Begun),
    /// A directory in the user's directory for recordings.
    Theirs(PathBuf),
}

impl Recordings {
    /// A new run below this target directory, or a directory below the user's directory for
    /// recordings.
    pub fn new(target_dir: &Path, note: Note) -> Result<Self> {
        let unrecorded = Unrecorded::before(target_dir)?;
        if let Some(theirs) = env::var_os("METASPY_DIR").filter(|dir| !dir.is_empty()) {
            let dir = std::path::absolute(theirs)?.join(format!(
                "{}{}",
                runs::THEIRS,
                std::process::id()
            ));
            fs::create_dir_all(&dir)?;
            return Ok(Recordings { place: RunDirectory::Theirs(dir), unrecorded });
        }
        let runs = runs::directory(target_dir);
        let begun = Begun::new(&runs, note)
            .with_context(|| format!("cannot record into {}", runs.display()))?;
        Ok(Recordings { place: RunDirectory::Kept(begun), unrecorded })
    }

    /// The directory.
    fn dir(&self) -> &Path {
        match &self.place {
            RunDirectory::Kept(begun) => &begun.run.dir,
            RunDirectory::Theirs(dir) => dir,
        }
    }

    /// Sets the environment of programs: they count their calls, or with `METASPY_MODE=full` record
    /// them as events, and start these profilers. Their counts survive an abort.
    pub(crate) fn set_environment(&self, cargo: &mut Command, profilers: &Requested) {
        let dir = self.dir();
        let around = dir.parent().unwrap_or(dir);
        let run = dir.file_name().unwrap_or_default();
        cargo.env("METASPY_RECORD", "live").env("METASPY_DIR", around).env("METASPY_RUN", run);
        if let Some(names) = profilers.text() {
            cargo.env("METASPY_PROFILE", names);
        }
        for (name, value) in [("METASPY_MODE", "tally"), ("METASPY_BUDGET", "64MiB")] {
            if env::var_os(name).is_none_or(|value| value.is_empty()) {
                cargo.env(name, value);
            }
        }
    }

    /// The directory, if it is kept and contains recordings.
    pub fn kept(&self) -> Option<&Path> {
        Some(self.dir()).filter(|_| {
            matches!(self.place, RunDirectory::Kept(_)) && !self.recordings().is_empty()
        })
    }

    /// The recordings.
    pub fn recordings(&self) -> Vec<PathBuf> {
        runs::recordings_in(self.dir())
    }

    /// Sentences about calls that could not be counted.
    pub fn uncounted(&self) -> BTreeSet<String> {
        let text = read_whole_text(&self.dir().join(UNCOUNTED)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The names of the programs that started without the environment of this run, each once.
    pub fn unrecorded(&self) -> Vec<String> {
        self.unrecorded.names()
    }
}

/// The directory in which programs leave their names if nothing tells them to record.
struct Unrecorded {
    dir: PathBuf,
    /// The names of earlier runs.
    before: BTreeMap<OsString, Vec<u8>>,
}

impl Unrecorded {
    /// Makes the directory, and remembers its files.
    fn before(target_dir: &Path) -> Result<Self> {
        let dir = target_dir.join(UNRECORDED);
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let before = files(&dir);
        Ok(Unrecorded { dir, before })
    }

    fn names(&self) -> Vec<String> {
        let started = files(&self.dir)
            .into_iter()
            .filter(|(name, start)| self.before.get(name) != Some(start));
        started.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }
}

/// Returns the files in a directory, with their content.
fn files(dir: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name(), read_whole(&entry.path()).ok()?))).collect()
}
