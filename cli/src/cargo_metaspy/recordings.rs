//! The directory in which the programs of a run record.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use metaspy_report::runs::{self, Begun, Note};

use crate::cargo_metaspy::profilers::Requested;

/// The directory of the recordings of a run.
pub enum Recordings {
    /// A kept run.
    Kept(Begun),
    /// A directory in the user's directory for recordings.
    Theirs(PathBuf),
}

impl Recordings {
    /// A new run below this target directory, or a directory below the user's directory for recordings.
    pub fn new(target_dir: &Path, note: Note) -> Result<Self> {
        if let Some(theirs) = env::var_os("METASPY_DIR").filter(|dir| !dir.is_empty()) {
            let dir = std::path::absolute(theirs)?.join(format!("woven-{}", std::process::id()));
            fs::create_dir_all(&dir)?;
            return Ok(Recordings::Theirs(dir));
        }
        let runs = runs::directory(target_dir);
        let begun = Begun::new(&runs, note).with_context(|| format!("cannot record into {}", runs.display()))?;
        Ok(Recordings::Kept(begun))
    }

    /// The directory.
    fn dir(&self) -> &Path {
        match self {
            Recordings::Kept(begun) => &begun.run.dir,
            Recordings::Theirs(dir) => dir,
        }
    }

    /// Sets the environment of programs: they count their calls, or with `METASPY_MODE=full` record them as events, and
    /// start these profilers. Their counts survive an abort.
    pub fn set_environment(&self, cargo: &mut Command, profilers: &Requested) {
        let dir = self.dir();
        let (around, run) = (dir.parent().unwrap_or(dir), dir.file_name().unwrap_or_default());
        cargo.env("METASPY_RECORD", "live").env("METASPY_DIR", around).env("METASPY_RUN", run);
        if let Some(names) = profilers.text() {
            cargo.env("METASPY_PROFILE", names);
        }
        for (name, value) in [("METASPY_MODE", "tally"), ("METASPY_BUDGET", "64MiB")] {
            if env::var_os(name).is_none() {
                cargo.env(name, value);
            }
        }
    }

    /// The directory, if it is kept and contains recordings.
    pub fn kept(&self) -> Option<&Path> {
        Some(self.dir()).filter(|_| matches!(self, Recordings::Kept(_)) && !self.recordings().is_empty())
    }

    /// The recordings.
    pub fn recordings(&self) -> Vec<PathBuf> {
        runs::recordings_in(self.dir())
    }
}
