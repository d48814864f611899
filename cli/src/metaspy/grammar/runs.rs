//! Test runs in a directory. Recordings of the unnamed run lie directly in it, recordings of a
//! named run in a subdirectory.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use metaspy_core::recording::removed_from;

use crate::exit::say;

/// The recordings of one run of tests.
pub struct Run {
    /// Its name; `None` if it has none.
    pub name: Option<String>,
    /// Its recordings, by name.
    pub recordings: Vec<PathBuf>,
    /// Recordings of it that were removed to make room.
    pub removed: Vec<String>,
    /// When the last of them was written to.
    changed: SystemTime,
}

impl Run {
    /// The run with this name, else the newest; and the others, newest first.
    pub fn choose(dir: &Path, name: Option<&str>) -> Result<(Run, Vec<Run>)> {
        let entries = fs::read_dir(dir)
            .map_err(|error| say(format!("cannot read {}: {error}", dir.display())))?;
        let below =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
        let named = below.map(|path| {
            Run::of(&path, path.file_name().map(|name| name.to_string_lossy().into_owned()))
        });
        let mut runs: Vec<Run> = [Run::of(dir, None)].into_iter().chain(named).collect();
        runs.retain(|run| !run.recordings.is_empty());
        runs.sort_by_key(|run| Reverse(run.changed));
        let chosen = match name {
            None if runs.is_empty() => return Ok((Run::of(dir, None), runs)),
            None => 0,
            Some(name) => {
                runs.iter().position(|run| run.name.as_deref() == Some(name)).ok_or_else(|| {
                    let names: Vec<&str> =
                        runs.iter().filter_map(|run| run.name.as_deref()).collect();
                    let there =
                        if names.is_empty() { "none has a name".into() } else { names.join(", ") };
                    say(format!(
                        "--run: {} has no run {name}; the newest first: {there}",
                        dir.display()
                    ))
                })?
            }
        };
        Ok((runs.remove(chosen), runs))
    }

    fn of(dir: &Path, name: Option<String>) -> Run {
        let entries = fs::read_dir(dir).into_iter().flatten();
        let mut recordings: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        recordings.retain(|path| path.extension().is_some_and(|extension| extension == "spy"));
        recordings.sort();
        let written = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
        let changed = recordings.iter().filter_map(written).max().unwrap_or(SystemTime::UNIX_EPOCH);
        Run { name, recordings, removed: removed_from(dir), changed }
    }
}
