//! Thread that reads recordings.
//!
//! It looks for new runs and for changes of running programs, and sends a snapshot when something
//! has changed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use metaspy_reader::{Store, Value};
use metaspy_report::program::Program;

use crate::findings::{self, Search, Searcher};
use crate::runs::{Finder, Run};
use crate::settings::{Selection, Settings};
use crate::snapshot::{Model, Snapshot};
use crate::workspace::{self, Workspace};

/// Minimum time between two looks. Calls of a running program are shown within a second.
const INTERVAL: Duration = Duration::from_millis(300);
/// Divisor of the time: looks take at most a quarter of it.
const SHARE: u32 = 4;

/// Command to the reader.
#[derive(Debug)]
pub enum Command {
    /// New folders of the client.
    Folders(Vec<PathBuf>),
    /// New settings of the client.
    Settings(Box<Settings>),
    /// Removes the kept runs of the workspaces, except those that still run.
    Empty,
}

/// Starts the reader, which ends when the sender of its commands is dropped.
pub fn start(commands: Receiver<Command>, snapshots: Sender<Arc<Snapshot>>) -> std::io::Result<()> {
    let mut reader = Reader::new(Searcher::start()?);
    let work = move || {
        let mut wait = Duration::ZERO;
        loop {
            match commands.recv_timeout(wait) {
                Ok(command) => reader.obey(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(command) = commands.try_recv() {
                reader.obey(command);
            }
            let began = Instant::now();
            if let Some(snapshot) = reader.look()
                && snapshots.send(Arc::new(snapshot)).is_err()
            {
                return;
            }
            wait = INTERVAL.max(began.elapsed() * SHARE);
        }
    };
    thread::Builder::new().name("metaspy-reader".into()).spawn(work).map(drop)
}

struct Reader {
    searcher: Searcher,
    workspaces: Vec<Workspace>,
    settings: Settings,
    finder: Finder,
    opened: HashMap<PathBuf, Opened>,
    /// State of the runs at the last snapshot.
    last: Option<Vec<Seen>>,
}

/// Open recording with the state of its file.
struct Opened {
    store: Result<Store, String>,
    file: FileState,
    search: Search,
}

/// Length and modification time of a file, which change when another recording takes its place.
type FileState = Option<(u64, SystemTime)>;

/// Changeable facts of a run, for comparison with the next look.
#[derive(PartialEq)]
struct Seen {
    run: Run,
    recordings: Vec<State>,
}

/// Changeable facts of a recording, for comparison with the next look.
#[derive(PartialEq)]
struct State {
    calls: u64,
    sites: usize,
    kinds: usize,
    is_live: bool,
    /// Hash of the tables, which also change without a call, for example when a running function
    /// allocates. It is `None` for an ended recording, whose tables no longer change.
    tables: Option<u64>,
    is_searched: bool,
}

impl State {
    fn of(store: &Store, search: &Search) -> State {
        let is_live = store.is_live();
        State {
            calls: store.totals().emitted,
            sites: store.sites().len(),
            kinds: store.kinds().count(),
            is_live,
            tables: is_live.then(|| hash_of_tables(store)),
            is_searched: matches!(search, Search::Ended(_)),
        }
    }
}

fn hash_of_tables(store: &Store) -> u64 {
    let mut hasher = DefaultHasher::new();
    for table in store.united_profiles().iter().flat_map(|profile| &profile.tables) {
        (&table.name, table.lost).hash(&mut hasher);
        for row in &table.rows {
            row.key.hash(&mut hasher);
            for column in 0..table.columns.len() {
                match row.value(table, column) {
                    Value::Empty => 0.hash(&mut hasher),
                    Value::Number(number) | Value::AtLeast(number) => number.hash(&mut hasher),
                    Value::Ns(ns) | Value::AtLeastNs(ns) => coarse(ns).hash(&mut hasher),
                    Value::Choice(name) => name.hash(&mut hasher),
                    Value::Flags(names) => names.hash(&mut hasher),
                }
            }
        }
    }
    hasher.finish()
}

/// Returns the first ten bits of a time. The lower bits change with the calibration of a running
/// program's clock.
fn coarse(ns: u64) -> u64 {
    let bits = u64::BITS - ns.leading_zeros();
    let low = bits.saturating_sub(10);
    ns >> low << low
}

impl Reader {
    fn new(searcher: Searcher) -> Reader {
        Reader {
            searcher,
            workspaces: Vec::new(),
            settings: Settings::default(),
            finder: Finder::default(),
            opened: HashMap::new(),
            last: None,
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Folders(folders) => {
                self.workspaces =
                    folders.iter().flat_map(|folder| workspace::find(folder)).collect();
                self.workspaces.dedup();
            }
            Command::Settings(settings) => self.settings = *settings,
            Command::Empty => {
                for run in self.finder.find(&self.workspaces, &self.settings) {
                    if let Some(dir) = run.kept.filter(|_| !run.live) {
                        // A run that cannot be removed remains in the list.
                        let _ = std::fs::remove_dir_all(dir);
                    }
                }
            }
        }
    }

    /// Reads all recordings. Returns `None` if nothing has changed.
    fn look(&mut self) -> Option<Snapshot> {
        let mut runs = self.finder.find(&self.workspaces, &self.settings);
        self.pick(&mut runs);
        let known: Vec<&PathBuf> = runs.iter().flat_map(|run| &run.recordings).collect();
        self.opened.retain(|path, _| known.contains(&path));
        if self.settings.findings.0 {
            self.search(&runs);
        }
        let seen: Vec<Seen> = runs.iter().map(|run| self.seen(run)).collect();
        if self.last.as_ref() == Some(&seen) {
            return None;
        }
        self.last = Some(seen);
        let mut roots: Vec<&Path> = Vec::new();
        for run in runs.iter().filter(|run| run.picked) {
            if !roots.contains(&run.workspace.as_path()) {
                roots.push(&run.workspace);
            }
        }
        let models = roots.into_iter().filter_map(|root| self.model(root, &runs)).collect();
        Some(Snapshot { models, runs })
    }

    /// Selects the runs that are shown, and opens their recordings.
    fn pick(&mut self, runs: &mut [Run]) {
        let mut done: Vec<PathBuf> = Vec::new();
        for run in runs {
            run.picked = match &self.settings.runs {
                Selection::Newest => !done.contains(&run.workspace),
                Selection::All => true,
                Selection::Picked(ids) => ids.contains(&run.id),
            };
            if !run.picked {
                continue;
            }
            run.recordings.iter().for_each(|path| self.open(path));
            let stores = || {
                run.recordings.iter().filter_map(|path| self.opened.get(path)?.store.as_ref().ok())
            };
            let problems = run
                .recordings
                .iter()
                .filter_map(|path| self.opened.get(path)?.store.as_ref().err());
            run.problem = problems.clone().next().cloned().or(run.problem.take());
            run.live |= stores().any(Store::is_live);
            // A run without any recorded function does not hide an earlier run.
            run.picked = self.settings.runs != Selection::Newest || stores().any(Program::is_known);
            if run.picked {
                done.push(run.workspace.clone());
            }
        }
    }

    /// Opens a recording, or reads its additions.
    fn open(&mut self, path: &Path) {
        let file =
            std::fs::metadata(path).ok().and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
        match self.opened.get_mut(path) {
            // A running program changes mapped pages, and the file's time need not change with
            // them.
            Some(Opened { store: Ok(store), file: known, .. })
                if store.is_live() || *known == file =>
            {
                if store.is_live() && store.refresh().is_err() {
                    self.opened.remove(path);
                }
            }
            _ => {
                let store = Store::open(path).map_err(|error| error.to_string());
                self.opened.insert(path.to_owned(), Opened { store, file, search: Search::Never });
            }
        }
    }

    /// Queues the recordings of the picked runs that have ended, and takes the results of earlier
    /// searches.
    fn search(&mut self, runs: &[Run]) {
        let picked = runs.iter().filter(|run| run.picked);
        for (run, path) in picked.flat_map(|run| run.recordings.iter().map(move |path| (run, path)))
        {
            let Some(Opened { store: Ok(store), search, .. }) = self.opened.get_mut(path) else {
                continue;
            };
            if matches!(search, Search::Never) && !store.is_live() {
                *search = self.searcher.queue(store, &run.workspace);
            }
        }
        for (number, found) in self.searcher.results() {
            let mut opened = self.opened.values_mut();
            // The recording may have been replaced since.
            if let Some(opened) =
                opened.find(|it| matches!(it.search, Search::Queued(queued) if queued == number))
            {
                opened.search = Search::Ended(Arc::new(found));
            }
        }
    }

    fn seen(&self, run: &Run) -> Seen {
        let opened =
            run.recordings.iter().filter(|_| run.picked).filter_map(|path| self.opened.get(path));
        let states = opened.filter_map(|it| Some(State::of(it.store.as_ref().ok()?, &it.search)));
        Seen { run: run.clone(), recordings: states.collect() }
    }

    fn model(&self, root: &Path, runs: &[Run]) -> Option<Model> {
        let own: Vec<&Run> =
            runs.iter().filter(|run| run.picked && run.workspace == root).collect();
        let paths = own.iter().flat_map(|run| &run.recordings);
        let opened: Vec<(&PathBuf, &Opened)> =
            paths.filter_map(|path| Some((path, self.opened.get(path)?))).collect();
        let stores: Vec<Store> =
            opened.iter().filter_map(|(_, it)| it.store.as_ref().ok().cloned()).collect();
        let mut model = Model::new(root, &stores, &own)?;
        let searched = opened.iter().filter_map(|(path, it)| match &it.search {
            Search::Ended(found) => Some(((*path).clone(), Arc::clone(found))),
            Search::Never | Search::Queued(_) => None,
        });
        model.add_findings(findings::listed(&searched.collect::<Vec<_>>()));
        Some(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_differ_by_their_calibration_are_equal() {
        assert_eq!((coarse(1_000_000_007), coarse(7), coarse(0)), (coarse(1_000_000_900), 7, 0));
        assert_ne!(coarse(1_000_000_000), coarse(1_010_000_000));
    }
}
