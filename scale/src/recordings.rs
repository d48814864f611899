//! [`Recording`]: an open recording with the three names that tell it from others: run, host and
//! process.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail};
use datafusion::arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use datafusion::arrow::temporal_conversions::timestamp_ns_to_datetime;
use metaspy_core::recording;
use metaspy_reader::{EffectsIndex, EndState, Store, files};
use metaspy_report::findings::{self, Findings};

use crate::borders::Borders;
use crate::roots::Roots;

/// Open recording with its names.
#[derive(Clone)]
pub struct Recording {
    /// Reader of the file.
    pub store: Store,
    /// Run of the recording, named by its start, such as `20260131T235959.123456789Z`. The
    /// nanoseconds distinguish recordings of containers, whose processes all have the number 1.
    pub run: String,
    /// Machine of the process; empty for this machine.
    pub host: String,
    /// Program and process number, such as `layout-4711`.
    pub process: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Sentences about parts that cannot be read.
    damage: Vec<String>,
    effects: Arc<OnceLock<EffectsIndex>>,
    roots: Arc<OnceLock<Roots>>,
    borders: Arc<OnceLock<Borders>>,
    findings: Arc<OnceLock<Result<Findings, String>>>,
}

impl Recording {
    /// Opens a recording.
    pub fn open(path: &Path) -> Result<Self> {
        let store = Store::open(path).map_err(|error| {
            let name = path.display().to_string();
            let text = error.to_string();
            anyhow::anyhow!(if text.contains(&name) { text } else { format!("{name}: {text}") })
        })?;
        let program = store.program();
        let header = store.header();
        let name = match Path::new(&program.path).file_stem() {
            _ if !program.name.is_empty() => program.name.clone(),
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => "process".to_owned(),
        };
        Ok(Recording {
            run: moment(header.started_ns),
            host: String::new(),
            process: format!("{name}-{}", header.pid),
            path: path.to_owned(),
            damage: store.missing().to_vec(),
            effects: Arc::default(),
            roots: Arc::default(),
            borders: Arc::default(),
            findings: Arc::default(),
            store,
        })
    }

    /// Opens the recordings of these sources: files, directories of recordings, and names or
    /// numbers of recorded processes.
    pub fn open_all(sources: &[PathBuf]) -> Result<Arc<[Recording]>> {
        let mut recordings = Vec::new();
        for source in sources {
            for path in paths_of(source)? {
                recordings.push(Recording::open(&path)?);
            }
        }
        check_apart(&recordings)?;
        Ok(recordings.into())
    }

    /// Reads all of a recording that has ended, and finds gaps and damaged blocks as
    /// `metaspy verify` does.
    pub fn verify(&mut self) {
        let found = self.store.verify();
        self.damage = [found.missing, found.damaged].concat();
        if found.more_damaged > 0 {
            self.damage.push(format!("{} further places are damaged", found.more_damaged));
        }
    }

    /// Returns the index from events to their effects, which is built at the first use.
    pub fn effects(&self) -> &EffectsIndex {
        self.effects.get_or_init(|| {
            EffectsIndex::build(&self.store, |_, _| true).expect("nothing stops it")
        })
    }

    /// Returns the roots of all events, which are found at the first use.
    pub fn roots(&self) -> &Roots {
        self.roots.get_or_init(|| Roots::of(&self.store))
    }

    /// Returns the events with causes or effects in other processes, which are found at the first
    /// use.
    pub fn borders(&self) -> &Borders {
        self.borders.get_or_init(|| Borders::of(&self.store))
    }

    /// Returns the findings with the settings of the project in the current directory, which are
    /// searched for at the first use. An error is a sentence about the settings.
    pub fn findings(&self) -> Result<&Findings, String> {
        let search = || {
            let directory = env::current_dir()
                .map_err(|error| format!("the current directory cannot be found: {error}"))?;
            let settings = findings::settings_of_project(&directory)?;
            Ok(findings::find(&self.store, &settings))
        };
        self.findings.get_or_init(search).as_ref().map_err(Clone::clone)
    }

    /// Returns sentences about damaged or missing parts of the recording.
    pub fn warnings(&self) -> Vec<String> {
        let name = self.path.display();
        let mut warnings: Vec<String> =
            self.damage.iter().map(|what| format!("{name}: {what}")).collect();
        match self.store.end_state() {
            EndState::Live => warnings.push(format!(
                "{name}: its process still records: these are the rows of this moment"
            )),
            EndState::Killed => warnings.push(format!(
                "{name}: its process was killed: events without an end are `running`"
            )),
            EndState::Unknown => warnings.push(format!("{name}: it was not closed")),
            _ => {}
        }
        warnings
    }

    /// True if a part of the recording cannot be read. Without [`Recording::verify`], only missing
    /// parts are known.
    pub fn is_damaged(&self) -> bool {
        !self.damage.is_empty()
    }
}

/// Formats a time of the wall clock as text that sorts and that no engine takes for a number:
/// `20260131T235959.123456789Z`.
fn moment(real_ns: u64) -> String {
    let moment = i64::try_from(real_ns).ok().and_then(timestamp_ns_to_datetime);
    moment.map_or_else(
        || format!("{real_ns}ns"),
        |moment| moment.format("%Y%m%dT%H%M%S%.9fZ").to_string(),
    )
}

/// Parses the start of a recording from the name of its run, to nanoseconds.
pub fn started_ns(moment: &str) -> Option<u64> {
    let part = |range: std::ops::Range<usize>| moment.get(range);
    let (year, month, day, hour, minute) =
        (part(0..4)?, part(4..6)?, part(6..8)?, part(9..11)?, part(11..13)?);
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{}", moment.get(13..)?);
    string_to_timestamp_nanos(&text).ok()?.try_into().ok()
}

/// Returns the files of a source.
fn paths_of(source: &Path) -> Result<Vec<PathBuf>> {
    if source.is_dir() {
        let entries = std::fs::read_dir(source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.is_file() && recording::is_recording(path));
        files::sort_by_number(&mut paths);
        if paths.is_empty() {
            bail!(
                "there is no recording in {}: `metaspy list` shows where they are",
                source.display()
            );
        }
        return Ok(paths);
    }
    if source.exists() || source.components().count() > 1 {
        return Ok(vec![source.to_owned()]);
    }
    let name = source.to_string_lossy();
    let found =
        recording::list().into_iter().find(|it| it.name == name || it.pid.to_string() == name);
    let found = found.with_context(|| {
        format!("there is no file and no recorded process {name}: `metaspy list` shows the recordings there are")
    })?;
    Ok(vec![found.path])
}

/// Refuses a recording that is given twice, also in part, as an export that was made while the
/// recording grew.
fn check_apart(recordings: &[Recording]) -> Result<()> {
    let mut seen: HashMap<(&str, &str), &Path> = HashMap::new();
    for Recording { run, process, path, .. } in recordings {
        if let Some(first) = seen.insert((run, process), path) {
            bail!(
                "{} and {} are the same recording: give each once",
                first.display(),
                path.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_is_in_its_name() {
        for ns in [0, 1_769_903_999_123_456_789, 4_102_444_800_000_000_001] {
            assert_eq!(started_ns(&moment(ns)), Some(ns), "{}", moment(ns));
        }
        for other in ["", "1ns", "20261332T000000.0Z", "today", "ä".repeat(20).as_str()] {
            assert_eq!(started_ns(other), None, "{other}");
        }
    }
}
