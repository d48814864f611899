//! Findings of recordings. A thread looks for them, once in each recording that has ended.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use metaspy_reader::Store;
use metaspy_report::findings::text::{self, Part};
use metaspy_report::findings::{self, Finding, Findings};

/// Finding that is listed, with the texts of its diagnostic.
#[derive(Clone, Debug)]
pub struct RecordedFinding {
    /// The finding.
    pub finding: Finding,
    /// The evidence, and then places, certainty and advice.
    pub parts: Vec<Part>,
    /// Recording that states it.
    pub recording: PathBuf,
}

/// State of the search in a recording.
#[derive(Clone, Debug, Default)]
pub enum Search {
    /// The recording was not searched.
    #[default]
    Never,
    /// The search with this number waits or runs.
    Queued(u64),
    /// The search has ended.
    Ended(Arc<Findings>),
}

/// Thread that searches one recording after another.
pub struct Searcher {
    queue: Sender<(u64, Store, PathBuf)>,
    results: Receiver<(u64, Findings)>,
    last: u64,
}

impl Searcher {
    /// Starts the thread, which ends when the searcher is dropped.
    pub fn start() -> io::Result<Searcher> {
        let (queue, queued) = unbounded::<(u64, Store, PathBuf)>();
        let (sender, results) = unbounded();
        let work = move || {
            for (number, store, workspace) in queued {
                // With settings that are wrong, nothing is shown: `metaspy findings` says what is
                // wrong.
                let Ok(config) = findings::settings_of_project(&workspace) else { continue };
                if sender.send((number, findings::find(&store, &config))).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("metaspy-findings".into()).spawn(work)?;
        Ok(Searcher { queue, results, last: 0 })
    }

    /// Queues a recording of a workspace, and returns the state of its search.
    pub fn queue(&mut self, store: &Store, workspace: &Path) -> Search {
        self.last += 1;
        // Without the thread, no search ends, and nothing is shown.
        let _ = self.queue.send((self.last, store.clone(), workspace.to_owned()));
        Search::Queued(self.last)
    }

    /// Iterates over the searches that have ended since the last call.
    pub fn results(&self) -> impl Iterator<Item = (u64, Findings)> + '_ {
        self.results.try_iter()
    }
}

/// Returns the findings of recordings that are listed, the most expensive first. Several recordings
/// of a run may state the same finding; the most expensive of these is kept.
pub fn listed(searched: &[(PathBuf, Arc<Findings>)]) -> Vec<RecordedFinding> {
    let mut all: Vec<RecordedFinding> = Vec::new();
    for (recording, findings) in searched {
        all.extend(findings.listed().map(|finding| RecordedFinding {
            finding: finding.clone(),
            parts: text::parts(finding, findings),
            recording: recording.clone(),
        }));
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.finding.cost.share_ppm()));
    let mut known = HashSet::new();
    all.retain(|it| known.insert(it.finding.fingerprint.clone()));
    all
}
