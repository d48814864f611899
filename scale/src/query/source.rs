//! [`Source`]: input of a query: recordings in place, and sealed sets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::execution::context::SessionContext;

use crate::functions::{self, Events};
use crate::query::sealed_set::SealedSet;
use crate::recordings::Recording;
use crate::seal::Manifest;
use crate::tables;

/// Input of a query: recordings in place, and sealed sets.
#[derive(Clone)]
pub struct Source {
    recordings: Arc<[Recording]>,
    sets: Vec<SealedSet>,
    engine: Engine,
}

/// Engine that reads sealed files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// Engine in this process, which reads from a store that checks its content.
    InProcess,
    /// Engines in other processes, which read files after a check of all their bytes.
    Elsewhere,
}

impl Source {
    /// Opens recordings and sealed sets.
    pub async fn open(sources: &[PathBuf]) -> Result<Self> {
        let mut in_place = Vec::new();
        let mut sets = Vec::new();
        for source in sources {
            match sealed_set(source).await? {
                Some(set) => sets.push(set),
                None => in_place.push(source.clone()),
            }
        }
        SealedSet::share_stores(&mut sets);
        let source =
            Source { recordings: Recording::open_all(&in_place)?, sets, engine: Engine::InProcess };
        source.check_apart()?;
        Ok(source)
    }

    /// Returns the source for engines in other processes, which read sealed files themselves.
    pub fn for_other_processes(self) -> Self {
        Source { engine: Engine::Elsewhere, ..self }
    }

    /// Refuses a recording that is in a sealed set and in another source. Recordings in place have
    /// no host, so hosts are not compared with theirs.
    fn check_apart(&self) -> Result<()> {
        let mut seen = BTreeMap::new();
        for set in &self.sets {
            for Manifest { run, host, process, .. } in set.partitions() {
                if !seen.entry((run, process)).or_insert_with(BTreeSet::new).insert(host) {
                    bail!(
                        "process {process} of {host}, run {run}, is in two of the sources: give each recording once"
                    );
                }
            }
        }
        for Recording { run, process, path, .. } in self.recordings.iter() {
            if seen.contains_key(&(run, process)) {
                bail!(
                    "{} is also in a sealed set of the sources: give one of the two",
                    path.display()
                );
            }
        }
        Ok(())
    }

    /// Returns the recordings in place.
    pub fn recordings(&self) -> &Arc<[Recording]> {
        &self.recordings
    }

    /// Returns the names of the tables.
    pub fn names(&self) -> Vec<String> {
        let in_place =
            if self.recordings.is_empty() { Vec::new() } else { tables::names(&self.recordings) };
        let in_place = in_place.into_iter().map(|(name, _)| name);
        let in_place: Vec<String> = in_place
            .filter(|name| self.sets.is_empty() || !tables::needs_recording(name))
            .collect();
        let sealed: BTreeSet<String> = self.sets.iter().flat_map(SealedSet::names).collect();
        let further = sealed.into_iter().filter(|name| !in_place.contains(name)).collect();
        [in_place, further].concat()
    }

    /// Returns the table with this name, with the rows of all sources that have the table.
    pub async fn table(
        &self,
        context: &SessionContext,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if tables::needs_recording(name) && !self.sets.is_empty() {
            let message = format!(
                "`{name}` needs the recording: metaspy restore SET --to DIR, and query that"
            );
            return Err(DataFusionError::External(message.into()));
        }
        let mut parts = Vec::new();
        if !self.recordings.is_empty() {
            parts.extend(tables::table(&self.recordings, name)?);
        }
        for set in &self.sets {
            let part = match self.engine {
                Engine::InProcess => set.table(context, name).await,
                Engine::Elsewhere => set.checked_table(context, name).await,
            };
            let part =
                part.map_err(|error| DataFusionError::External(format!("{error:#}").into()))?;
            parts.extend(part);
        }
        if parts.len() < 2 {
            return Ok(parts.pop());
        }
        let mut parts = parts.into_iter().map(|part| context.read_table(part));
        let first = parts.next().expect("there are two or more")?;
        let all = parts.try_fold(first, |all, part| all.union_by_name(part?))?;
        Ok(Some(all.into_view()))
    }

    /// Adds the functions on events, which only recordings have.
    pub fn add_functions(&self, context: &SessionContext) {
        if !self.recordings.is_empty() {
            let events = if self.sets.is_empty() { Events::InPlace } else { Events::AlsoSealed };
            functions::register(context, &self.recordings, events);
        }
    }

    /// Returns true for a file that belongs to the source.
    pub fn has_file(&self, file: &Path) -> bool {
        self.recordings
            .iter()
            .any(|recording| fs::canonicalize(&recording.path).is_ok_and(|path| path == file))
            || self.sets.iter().any(|set| set.has_file(file))
    }

    /// Returns sentences about damaged, lost or missing parts of the source.
    pub fn warnings(&self) -> Vec<String> {
        let sealed = self.sets.iter().flat_map(SealedSet::warnings);
        self.recordings.iter().flat_map(Recording::warnings).chain(sealed.cloned()).collect()
    }

    /// Returns true if a part cannot be read, or could not be read when it was sealed.
    pub fn is_damaged(&self) -> bool {
        self.recordings.iter().any(Recording::is_damaged)
            || self.sets.iter().any(SealedSet::is_damaged)
    }

    /// Returns the files of sealed sets that cannot be read to their end, each with the reason.
    pub async fn unreadable_files(&self) -> Vec<String> {
        let mut found = Vec::new();
        for set in &self.sets {
            found.extend(set.unreadable_files().await);
        }
        found
    }

    /// True if a process still records.
    pub fn may_grow(&self) -> bool {
        self.recordings.iter().any(|recording| recording.store.is_live())
    }
}

/// Opens the sealed set with this name; `None` if there is no such set.
async fn sealed_set(source: &Path) -> Result<Option<SealedSet>> {
    let text = source.to_string_lossy();
    if !text.starts_with("s3://") && !source.is_dir() {
        return Ok(None);
    }
    match SealedSet::open(&text).await? {
        None if !source.is_dir() => {
            bail!("{text} has no sealed recording: metaspy seal RECORDING --to {text}")
        }
        set => Ok(set),
    }
}
