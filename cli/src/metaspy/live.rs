//! Recordings by file, by name and by process. All access to the directory of live recordings is
//! here.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_core::recording;
use metaspy_reader::{OpenError, files};
use metaspy_report::{rows, runs};

use crate::exit::{Ended, complain, say};
use crate::metaspy::{incoming, scale};

/// A recording in the directory of live recordings.
pub type Listed = recording::Listed;
pub use recording::{Cleaned, refusal};

/// Guards this process against recordings that are truncated while they are open.
pub fn guard() {
    recording::guard_against_truncation();
}

/// All live recordings: running processes first, then the newest first.
pub fn list() -> Vec<Listed> {
    let mut all = recording::list();
    all.sort_by_key(|listed| !listed.alive);
    all
}

/// The directory of live recordings.
pub fn directory() -> PathBuf {
    recording::directory()
}

/// Removes the recordings of ended processes.
pub fn clean() -> Result<Cleaned> {
    recording::clean()
        .map_err(|error| say(format!("{}: {error}; remove it by hand", directory().display())))
}

/// Opens a file.
pub fn open(path: &Path) -> Result<Store> {
    // Some messages of the core do not name the file.
    Store::open(path).map_err(|error| {
        let name = path.display().to_string();
        let text = error.to_string();
        say(if text.contains(&name) { text } else { format!("{name}: {text}") })
    })
}

/// Opens a file, or the live recording with this name or of this process. `-` is standard input.
pub(crate) fn open_named(source: &Path) -> Result<Store> {
    let path = path_of(source)?;
    if path == Path::new(incoming::STANDARD) { incoming::open()?.read_all() } else { open(&path) }
}

/// Opens one recording, or several as one. A directory stands for the recordings in it.
pub fn open_all(sources: &[PathBuf]) -> Result<Store> {
    let mut stores = Vec::with_capacity(sources.len());
    for path in paths_of(sources)? {
        stores.push((path.display().to_string(), open_named(&path)?));
    }
    Store::merged(stores).map_err(|error| say(error.to_string()))
}

/// The paths of these sources: files, names of live recordings, and the recordings in directories
/// and sealed sets.
pub fn paths_of(sources: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::with_capacity(sources.len());
    for source in sources {
        if scale::is_sealed(source) {
            paths.extend(scale::restored(source)?);
        } else if source.is_dir() {
            paths.extend(recordings_in(source)?);
        } else {
            paths.push(path_of(source)?);
        }
    }
    Ok(paths)
}

/// The recordings in a directory, by name.
fn recordings_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir)
        .map_err(|error| say(format!("cannot read {}: {error}", dir.display())))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.is_file() && recording::is_recording(path));
    files::sort_by_number(&mut paths);
    if paths.is_empty() {
        Err(say(format!(
            "there is no recording in {}: `metaspy list` shows where they are",
            dir.display()
        )))
    } else {
        Ok(paths)
    }
}

/// The recordings of other processes that were started with the same `METASPY_RECORD`:
/// `run.4711.spy` beside `run.spy`. A file that is older than the recording is of an earlier run.
pub fn beside(path: &Path, store: &Store) -> Vec<PathBuf> {
    let (Some(stem), Some(extension)) = (path.file_stem(), path.extension()) else {
        return Vec::new();
    };
    let (stem, extension) =
        (format!("{}.", stem.to_string_lossy()), format!(".{}", extension.to_string_lossy()));
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_other = |path: &PathBuf| {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = name.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(&extension));
        number.is_some_and(|number| number.split('.').all(|part| part.parse::<u64>().is_ok()))
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_other).collect();
    let own = store.header();
    let is_later = |other: &Store| {
        other.header().pid != own.pid && other.header().started_ns >= own.started_ns
    };
    found.retain(|path| Store::open(path).is_ok_and(|other| is_later(&other)));
    files::sort_by_number(&mut found);
    found
}

/// The runs of one version, in order, each as the sources that are read as one recording: one
/// recording, several with commas between them, a sealed set, or a directory, as
/// [`runs::of_version`] reads it.
pub fn runs_of(version: &Path) -> Result<Vec<Vec<PathBuf>>> {
    if let Some(list) = version.to_str().filter(|text| text.contains(',') && !version.exists()) {
        return Ok(list
            .split(',')
            .filter(|name| !name.is_empty())
            .map(|name| vec![name.into()])
            .collect());
    }
    if scale::is_sealed(version) {
        return Ok(scale::runs_of(scale::restored(version)?));
    }
    if !version.is_dir() {
        return Ok(vec![vec![version.to_owned()]]);
    }
    let runs = runs::of_version(version, recording::is_recording);
    let runs = runs.map_err(|error| say(format!("cannot read {}: {error}", version.display())))?;
    if runs.is_empty() {
        Err(say(format!(
            "there is no recording in {}: a version has one for each run",
            version.display()
        )))
    } else {
        Ok(runs)
    }
}

/// The path of a file, or of the live recording with this name, of this process, or with a profiler
/// of this name: of several the newest, running processes first.
pub fn path_of(source: &Path) -> Result<PathBuf> {
    if source == Path::new(incoming::STANDARD) || source.exists() || source.components().count() > 1
    {
        return Ok(source.to_owned());
    }
    Ok(find(&source.to_string_lossy())?.path)
}

/// The recording of a process, by file, name or number, ready to be opened; without a source, the
/// only live one.
pub fn attach(source: Option<&Path>) -> Result<PathBuf> {
    let listed = match source {
        None => only_live()?,
        Some(file) if file.exists() || file.components().count() > 1 => return Ok(file.to_owned()),
        Some(name) => find(&name.to_string_lossy())?,
    };
    // A process that has just been started may still be writing its first page.
    let began = Instant::now();
    while matches!(Store::open(&listed.path), Err(OpenError::Unfinished | OpenError::Empty(_)))
        && listed.alive
        && began.elapsed() < Duration::from_secs(2)
    {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(listed.path)
}

/// The live recording with this name, of this process, or with a profiler of this name. If several
/// match, it is the newest, and the others are listed.
fn find(name: &str) -> Result<Listed> {
    let all = list();
    let mut matching: Vec<&Listed> =
        all.iter().filter(|it| it.name == name || it.pid.to_string() == name).collect();
    if matching.is_empty() {
        matching = all.iter().filter(|it| it.name.starts_with(name)).collect();
    }
    if matching.is_empty() {
        matching = all.iter().filter(|it| has_profiler(&it.path, name)).collect();
    }
    let Some((&found, others)) = matching.split_first() else {
        return Err(say(not_found(name, &all)));
    };
    if !others.is_empty() {
        let others: Vec<String> = others.iter().take(LISTED).map(|it| it.pid.to_string()).collect();
        let more = matching.len() - 1 - others.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!(
            "{} recordings match `{name}`: this is the newest, of process {}; the others are {}{more}",
            matching.len(),
            found.pid,
            others.join(", ")
        );
        complain("metaspy", &text);
    }
    Ok(found.clone())
}

/// True if a profiler with this name was installed in a recording.
fn has_profiler(path: &Path, name: &str) -> bool {
    Store::open(path).is_ok_and(|store| {
        store.views().iter().any(|view| view.view.name == name)
            || store.united_profiles().iter().any(|profile| profile.name == name)
    })
}

/// Recordings that a message names.
const LISTED: usize = 8;

/// Why no recording has this name, and what to do.
fn not_found(name: &str, all: &[Listed]) -> String {
    if let Ok(pid) = name.parse::<u32>() {
        let why = if is_running(pid) {
            "is not being recorded; start it with METASPY_RECORD=live, or with a profiler that records live"
        } else {
            "does not exist; `metaspy list` shows the processes that are being recorded"
        };
        return format!("there is no file {name}, and process {pid} {why}");
    }
    let mut names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names = match names.len() {
        0 => "no process is being recorded: start one with METASPY_RECORD=live".to_owned(),
        count => {
            let more = if count > LISTED { ", …" } else { "" };
            format!("`metaspy list` shows them: {}{more}", names[..count.min(LISTED)].join(", "))
        }
    };
    // As METASPY_RECORD has it.
    let hooks = if name.ends_with(".spy") {
        ". A program writes none if it has no hooks (`cargo metaspy run` gives it some), or if metaspy's feature \
             `record` is off (`cargo tree -e features -i metaspy` shows it)"
    } else {
        ""
    };
    format!("there is no file {name}, and no live recording with this name; {names}{hooks}")
}

fn only_live() -> Result<Listed> {
    let mut alive = list().into_iter().filter(|listed| listed.alive);
    match (alive.next(), alive.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(say(
            "none of your processes is being recorded; start one with METASPY_RECORD=live, or try `metaspy demo`",
        )),
        (Some(first), Some(second)) => {
            let rest: Vec<String> = [first, second]
                .into_iter()
                .chain(alive)
                .map(|it| format!("  {}  {}", it.pid, it.name))
                .collect();
            Err(say(format!(
                "several processes are being recorded; choose one with `metaspy attach PID` or `metaspy attach NAME`:\n{}",
                rest.join("\n")
            )))
        }
    }
}

/// True if the process exists. Without `/proc` this is not known.
fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// The end of a command whose output is as exact as its recordings: failed, if one of them is
/// damaged. States what is missing.
pub(super) fn by_damage<'s>(stores: impl IntoIterator<Item = &'s Store>) -> Ended {
    let damage: Vec<String> = stores.into_iter().flat_map(rows::damage).collect();
    damage.iter().for_each(|text| complain("metaspy", &format!("damaged: {text}")));
    if damage.is_empty() { Ended::Fine } else { Ended::Failed }
}
