//! The recordings that may be read, and those that are open.
//!
//! A call may name the recordings that the server was started with, those of running processes of
//! this user, and files in the directory that the server was started in. Other files are not
//! opened. An open recording is kept with the results that were computed from it, until its file is
//! another one.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, SystemTime};

use metaspy_core::recording;
use metaspy_reader::{EffectsIndex, Store};
use metaspy_report::expectation::Outcome;
use metaspy_report::findings::{self, Config, Findings};
use metaspy_report::rows::Report;
use metaspy_report::runs;
use metaspy_report::text::{file_name, grouped};

use crate::answer::ToolError;
use crate::arguments::did_you_mean;
use crate::watch::{Watch, cancelled};

/// Recordings that are open at once.
const OPEN: usize = 8;
/// Recordings that a message names.
const NAMED: usize = 8;
/// Results of a kind that are kept for each recording.
const RECENT: usize = 4;
/// Time between two looks at the search of another call.
const PAUSE: Duration = Duration::from_millis(5);
/// Rows of a report that is kept.
const REPORT_ROWS: usize = 1 << 14;

/// All recordings that may be read.
pub struct Library {
    /// The directory that the server was started in.
    workspace: PathBuf,
    /// The arguments of the server: files, directories, processes and names.
    arguments: Vec<PathBuf>,
    cache: Mutex<Vec<Cached>>,
}

/// A recording that may be read.
#[derive(Clone, Debug)]
pub struct Known {
    /// The name for calls and for commands.
    pub name: String,
    /// The file, or the files of a directory, which are read as one recording.
    pub paths: Vec<PathBuf>,
    /// Where the recording was found.
    pub origin: Origin,
}

/// Where a recording was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The server was started with it.
    Argument,
    /// The directory of live recordings has it.
    Live,
    /// The workspace has it.
    Workspace,
}

/// One recording, or several that are read as one.
#[derive(Clone)]
pub struct Opened {
    /// The recording, as it is now.
    pub store: Store,
    /// The names for commands.
    pub names: Vec<String>,
    /// The files.
    pub paths: Vec<PathBuf>,
    computed: Arc<Computed>,
}

/// The results that were computed from a recording.
#[derive(Default)]
struct Computed {
    effects: Mutex<Option<EffectsIndex>>,
    findings: Mutex<Option<CachedFindings>>,
    /// Events that the search for findings has looked at.
    searched: AtomicU64,
    reports: Recent<Report>,
    outcomes: Recent<Outcome>,
}

/// Results of the last calls, each with its question. Pages of a list ask the same.
struct Recent<T>(Mutex<Vec<(String, Arc<T>)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent(Mutex::default())
    }
}

impl<T> Recent<T> {
    fn get(&self, question: &str) -> Option<Arc<T>> {
        let mut kept = lock(&self.0);
        let at = kept.iter().position(|(of, _)| of == question)?;
        kept[..=at].rotate_right(1);
        Some(kept[0].1.clone())
    }

    fn keep(&self, question: String, result: Arc<T>) {
        let mut kept = lock(&self.0);
        kept.retain(|(of, _)| *of != question);
        kept.insert(0, (question, result));
        kept.truncate(RECENT);
    }
}

/// Findings of a recording, valid until its calls, its names or the settings change.
struct CachedFindings {
    /// Number of calls and of names at the time.
    of: (u64, usize),
    config: String,
    findings: Arc<Findings>,
}

struct Cached {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    /// True until the recording has been read after the end of its process.
    was_live: bool,
    opened: Opened,
}

/// State of a file, which tells if it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    identity: (u64, u64),
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Library {
    /// Creates a library of these arguments of the server, started in this directory.
    pub fn new(workspace: PathBuf, arguments: Vec<PathBuf>) -> Library {
        Library { workspace, arguments, cache: Mutex::default() }
    }

    /// Returns the directory that the server was started in.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns all recordings: the arguments of the server, live recordings, and those of the
    /// workspace.
    pub fn known(&self) -> Vec<Known> {
        let mut live = recording::list();
        live.sort_by_key(|listed| !listed.alive);
        let mut known: Vec<Known> = Vec::new();
        let mut files: Vec<Vec<PathBuf>> = Vec::new();
        let mut add = |name: String, paths: Vec<PathBuf>, origin| {
            // One file may be found under several names.
            let whole = paths
                .iter()
                .map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
                .collect();
            if !paths.is_empty() && !files.contains(&whole) {
                files.push(whole);
                known.push(Known { name, paths, origin });
            }
        };
        for argument in &self.arguments {
            let name = argument.to_string_lossy().into_owned();
            if argument.is_dir() {
                add(name, runs::recordings_in(argument), Origin::Argument);
            } else if argument.exists() || argument.components().count() > 1 {
                add(name, vec![argument.clone()], Origin::Argument);
            } else {
                // The name or the number of a process. One that has not begun to record may do so
                // later.
                let path = live
                    .iter()
                    .find(|listed| listed.name == name || listed.pid.to_string() == name)
                    .map_or_else(|| argument.clone(), |listed| listed.path.clone());
                add(name, vec![path], Origin::Argument);
            }
        }
        let mut seen = Vec::new();
        for listed in live {
            // Earlier files of a rotation have the same number, which names the newest file.
            let is_first = !seen.contains(&listed.pid);
            seen.push(listed.pid);
            let name = if is_first {
                listed.pid.to_string()
            } else {
                listed.path.to_string_lossy().into_owned()
            };
            add(name, vec![listed.path], Origin::Live);
        }
        for path in self.within(runs::recordings_in(Path::new("."))) {
            let path = path.strip_prefix(".").unwrap_or(&path).to_owned();
            add(path.to_string_lossy().into_owned(), vec![path], Origin::Workspace);
        }
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| PathBuf::from("target"), PathBuf::from);
        for run in runs::list(&runs::directory(&target.join("metaspy"))) {
            add(run.dir.to_string_lossy().into_owned(), run.recordings(), Origin::Workspace);
        }
        known
    }

    /// Opens the recording with this name, or several with commas between them as one. Without a
    /// name it is the only one that the server was started with, or else the only one there is.
    pub fn open(&self, wanted: Option<&str>) -> Result<Opened, ToolError> {
        let known = self.known();
        let chosen = match wanted {
            None => vec![only(&known)?.clone()],
            Some(wanted) => self.chosen(wanted, &known)?,
        };
        self.opened(&chosen)
    }

    /// Searches the recording for findings before they are asked for, if it is clear which
    /// recording is meant and if that has ended.
    pub(crate) fn search_ahead(&self, watch: &Watch) {
        // The call of `findings` states what is wrong.
        _ = watch.interruptible(|| {
            let opened = self.open(None)?;
            if !opened.store.grows() {
                opened.findings(&findings::settings_of_project(&self.workspace)?, watch)?;
            }
            Ok(())
        });
    }

    /// Opens the runs of one version, each by itself: those of this list, or those in a directory.
    pub(crate) fn open_runs(&self, wanted: &str) -> Result<Vec<Opened>, ToolError> {
        let chosen = self.chosen(wanted, &self.known())?;
        let [directory] = &chosen[..] else {
            return chosen.into_iter().map(|known| self.opened(&[known])).collect();
        };
        self.runs_of(directory)
            .iter()
            .map(|known| self.opened(std::slice::from_ref(known)))
            .collect()
    }

    /// Returns the runs of a version: the one recording, or those in a directory.
    fn runs_of(&self, version: &Known) -> Vec<Known> {
        let directory = Path::new(&version.name);
        let runs = runs::of_version(directory, recording::is_recording).unwrap_or_default();
        let known = |sources: Vec<PathBuf>| {
            let name = sources
                .first()
                .map_or_else(String::new, |first| first.to_string_lossy().into_owned());
            let files = |source: PathBuf| {
                if source.is_dir() { runs::recordings_in(&source) } else { vec![source] }
            };
            let files: Vec<PathBuf> = sources.into_iter().flat_map(files).collect();
            let paths =
                if version.origin == Origin::Workspace { self.within(files) } else { files };
            Known { name, paths, origin: version.origin }
        };
        let runs: Vec<Known> =
            runs.into_iter().map(known).filter(|run| !run.paths.is_empty()).collect();
        if runs.is_empty() { vec![version.clone()] } else { runs }
    }

    /// Leaves the files of the workspace only: a link may lead out of it, and a pipe would wait for
    /// its writer.
    fn within(&self, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
        paths.retain(|path| {
            path.canonicalize()
                .is_ok_and(|whole| whole.starts_with(&self.workspace) && whole.is_file())
        });
        paths
    }

    fn chosen(&self, wanted: &str, known: &[Known]) -> Result<Vec<Known>, ToolError> {
        let find = |name: &str| known.iter().find(|known| known.name == name).cloned();
        if let Some(known) = find(wanted) {
            return Ok(vec![known]);
        }
        let names: Vec<&str> =
            wanted.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Err("name a recording, as the tool `recordings` lists them".into());
        }
        names
            .into_iter()
            .map(|name| find(name).map_or_else(|| self.in_workspace(name, known), Ok))
            .collect()
    }

    /// Returns a file of the workspace that no list has.
    fn in_workspace(&self, name: &str, known: &[Known]) -> Result<Known, ToolError> {
        let path = Path::new(name);
        match fs::canonicalize(path) {
            Ok(whole) if whole.starts_with(&self.workspace) => {
                let paths = if whole.is_dir() {
                    self.within(runs::recordings_in(path))
                } else {
                    vec![path.to_owned()]
                };
                if paths.is_empty() {
                    return Err(ToolError::new(no_recording_in(path)));
                }
                Ok(Known { name: name.to_owned(), paths, origin: Origin::Workspace })
            }
            Ok(_) => Err(ToolError::new(format!(
                "{} is outside of {}: start the server with it, as `metaspy mcp {0}`",
                file_name(path),
                file_name(&self.workspace)
            ))),
            Err(_) => Err(ToolError::new(format!(
                "there is no recording `{name}`: {}",
                advice(name, known)
            ))),
        }
    }

    fn opened(&self, chosen: &[Known]) -> Result<Opened, ToolError> {
        let paths: Vec<PathBuf> = chosen.iter().flat_map(|known| known.paths.clone()).collect();
        let stamps = || paths.iter().map(|path| Stamp::of(path)).collect::<Option<Vec<Stamp>>>();
        let mut cache = lock(&self.cache);
        let kept = cache.iter().position(|cached| cached.paths == paths).map(|at| cache.remove(at));
        // A file that is gone is reported as such, though it could still be read.
        let kept = kept.zip(stamps()).and_then(|(cached, stamps)| cached.current(stamps));
        let cached = match kept {
            Some(cached) => cached,
            None => {
                // The stamp comes first: a write after it makes it an old one.
                let stamps = stamps();
                let store = open(chosen)?;
                let names = chosen.iter().map(|known| known.name.clone()).collect();
                let was_live = store.is_live();
                let opened =
                    Opened { store, names, paths: paths.clone(), computed: Arc::default() };
                Cached { paths, stamps: stamps.unwrap_or_default(), was_live, opened }
            }
        };
        let opened = cached.opened.clone();
        cache.insert(0, cached);
        cache.truncate(OPEN);
        Ok(opened)
    }
}

impl Cached {
    /// Returns the recording as it is now, or `None` if it must be opened again.
    fn current(mut self, stamps: Vec<Stamp>) -> Option<Cached> {
        if !self.was_live {
            return (self.stamps == stamps).then_some(self);
        }
        let [stamp] = stamps[..] else { return None };
        if self.stamps.first().map(|known| known.identity) != Some(stamp.identity) {
            return None;
        }
        let began = self.opened.store.header().started_ns;
        self.opened.store.refresh().ok()?;
        let is_same = self.opened.store.header().started_ns == began;
        self.was_live = self.opened.store.is_live();
        self.stamps = stamps;
        is_same.then_some(self)
    }
}

impl Opened {
    /// Returns the index of effects, built once and read on while the recording is written.
    pub(crate) fn with_effects<T>(
        &self,
        watch: &Watch,
        read: impl FnOnce(&EffectsIndex) -> T,
    ) -> Result<T, ToolError> {
        let mut kept = lock(&self.computed.effects);
        match &mut *kept {
            Some(index) => index.update(&self.store),
            None => {
                let index = EffectsIndex::build(&self.store, |done, all| {
                    watch.tell(|| format!("indexed the effects of {done} of {all} chunks"))
                });
                *kept = Some(index.ok_or_else(cancelled)?);
            }
        }
        Ok(read(kept.as_ref().expect("it was built above")))
    }

    /// Returns the report that answers a question. One of few rows is kept, if the recording has
    /// ended.
    pub fn report(
        &self,
        question: String,
        watch: &Watch,
        count: impl FnOnce() -> Result<Report, ToolError>,
    ) -> Result<Arc<Report>, ToolError> {
        let is_kept = |report: &Report| report.rows.len() <= REPORT_ROWS;
        self.recent(&self.computed.reports, question, watch, is_kept, count)
    }

    /// Returns the outcome of an expectation. It is kept if the recording has ended.
    pub fn outcome(
        &self,
        expectation: String,
        watch: &Watch,
        judge: impl FnOnce() -> Outcome,
    ) -> Result<Arc<Outcome>, ToolError> {
        self.recent(&self.computed.outcomes, expectation, watch, |_| true, || Ok(judge()))
    }

    fn recent<T>(
        &self,
        recent: &Recent<T>,
        question: String,
        watch: &Watch,
        is_kept: impl FnOnce(&T) -> bool,
        compute: impl FnOnce() -> Result<T, ToolError>,
    ) -> Result<Arc<T>, ToolError> {
        let has_ended = !self.store.grows();
        if has_ended && let Some(result) = recent.get(&question) {
            return Ok(result);
        }
        let result = Arc::new(compute()?);
        // The result of an interrupted call is incomplete.
        watch.check()?;
        if has_ended && is_kept(&result) {
            recent.keep(question, result.clone());
        }
        Ok(result)
    }

    /// Returns the findings, which are computed once for each state of the recording.
    pub fn findings(&self, config: &Config, watch: &Watch) -> Result<Arc<Findings>, ToolError> {
        let totals = self.store.totals();
        let of = (totals.emitted, self.store.sites().len());
        let settings = format!("{config:?}");
        let searched = &self.computed.searched;
        let tell = || {
            let searched = searched.load(Relaxed);
            let all = totals.stored;
            watch.tell(|| format!("looked at {} of {} events", grouped(searched), grouped(all)))
        };
        let mut kept = loop {
            match self.computed.findings.try_lock() {
                Ok(kept) => break kept,
                Err(TryLockError::Poisoned(error)) => break error.into_inner(),
                // Another call searches, and its findings may be those of this one.
                Err(TryLockError::WouldBlock) if tell() => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(cancelled()),
            }
        };
        if let Some(found) =
            kept.as_ref().filter(|found| found.of == of && found.config == settings)
        {
            return Ok(found.findings.clone());
        }
        searched.store(0, Relaxed);
        let findings = findings::find_watched(&self.store, config, &|events: usize| {
            searched.fetch_add(events as u64, Relaxed);
            tell()
        })
        .ok_or_else(cancelled)?;
        // An interrupted search that reads no events has a result, which lacks findings.
        watch.check()?;
        let findings = Arc::new(findings);
        *kept = Some(CachedFindings { of, config: settings, findings: findings.clone() });
        Ok(findings)
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        Some(Stamp {
            identity: identity(&metadata),
            bytes: metadata.len(),
            changed: metadata.modified().ok(),
        })
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere, the time of creation tells files apart.
#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> (u64, u64) {
    let created =
        metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    (0, created.map_or(0, |time| time.as_nanos() as u64))
}

/// Opens recordings as one.
fn open(chosen: &[Known]) -> Result<Store, ToolError> {
    let mut stores = Vec::with_capacity(chosen.len());
    for path in chosen.iter().flat_map(|known| &known.paths) {
        let name = path.to_string_lossy().into_owned();
        let store = Store::open(path).map_err(|error| {
            let text = error.to_string();
            ToolError::new(if text.contains(&name) { text } else { format!("{name}: {text}") })
        })?;
        stores.push((name, store));
    }
    Store::merged(stores).map_err(|error| ToolError::new(error.to_string()))
}

/// Returns the recording that is meant without a name.
fn only(known: &[Known]) -> Result<&Known, ToolError> {
    let arguments = known.iter().filter(|known| known.origin == Origin::Argument).count();
    match (arguments, known) {
        (1, _) | (0, [_]) => Ok(&known[0]),
        (0, []) => {
            Err("there is no recording: record one with METASPY_RECORD=run.spy in the environment of a program with \
                        hooks, or with `cargo metaspy run`"
                .into())
        }
        _ => Err(ToolError::new(format!("there are several recordings: name one of {}", some(known)))),
    }
}

/// What to do where a directory has no recording.
fn no_recording_in(directory: &Path) -> String {
    let name = file_name(directory);
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let is_sealed =
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("run="));
    if is_sealed {
        format!("{name} is a sealed set: `metaspy restore {name}` makes recordings of it")
    } else {
        format!("there is no recording in {name}")
    }
}

fn advice(name: &str, known: &[Known]) -> String {
    let names = known.iter().map(|known| known.name.as_str());
    match did_you_mean(name, names) {
        Some(nearest) => nearest,
        None if known.is_empty() => "there is none here yet".to_owned(),
        None => format!("there are {}", some(known)),
    }
}

fn some(known: &[Known]) -> String {
    let names: Vec<&str> = known.iter().take(NAMED).map(|known| known.name.as_str()).collect();
    let more = known.len() - names.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
