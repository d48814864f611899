//! Recordings by file, by name and by process. All access to the directory of live recordings is here.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_core::recording;
use metaspy_core::store::OpenError;

use crate::exit::say;
use crate::metaspy::stream;

/// A recording in the directory of live recordings.
pub type Listed = recording::Listed;

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

/// Removes the recordings of ended processes, and returns them.
pub fn clean() -> Result<Vec<Listed>> {
    recording::clean().map_err(|error| say(format!("{}: {error}; remove it by hand", directory().display())))
}

/// Opens a file.
pub fn open(path: &Path) -> Result<Store> {
    // Some messages of the core do not name the file.
    Store::open(path).map_err(|error| {
        let (name, text) = (path.display().to_string(), error.to_string());
        say(if text.contains(&name) { text } else { format!("{name}: {text}") })
    })
}

/// Opens a file, or the live recording with this name or of this process. `-` is standard input.
pub fn open_named(source: &Path) -> Result<Store> {
    open_all(&[source.to_owned()])
}

/// Opens one recording, or several as one.
pub fn open_all(sources: &[PathBuf]) -> Result<Store> {
    let mut stores = Vec::with_capacity(sources.len());
    for source in sources {
        let path = path_of(source)?;
        let store = match path == Path::new(stream::STANDARD) {
            true => stream::open()?.read_all()?,
            false => open(&path)?,
        };
        stores.push((path.display().to_string(), store));
    }
    Store::merged(stores).map_err(|error| say(error.to_string()))
}

/// The path of a file, or of the live recording with this name or of this process.
pub fn path_of(source: &Path) -> Result<PathBuf> {
    if source == Path::new(stream::STANDARD) || source.exists() || source.components().count() > 1 {
        return Ok(source.to_owned());
    }
    let name = source.to_string_lossy();
    let found = list().into_iter().find(|listed| *listed.name == *name || listed.pid.to_string() == *name);
    match found {
        Some(listed) => Ok(listed.path),
        None => Err(say(format!(
            "there is no file {name}, and no live recording with this name; `metaspy list` shows the live recordings"
        ))),
    }
}

/// The recording of a process, ready to be opened; without a process, the only live one.
pub fn attach(pid: Option<u32>) -> Result<Listed> {
    let listed = choose(pid)?;
    // A process that has just been started may still be writing its first page.
    let began = Instant::now();
    while matches!(Store::open(&listed.path), Err(OpenError::Unfinished | OpenError::Empty(_)))
        && listed.alive
        && began.elapsed() < Duration::from_secs(2)
    {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(listed)
}

fn choose(pid: Option<u32>) -> Result<Listed> {
    let all = list();
    let Some(pid) = pid else {
        let mut alive = all.into_iter().filter(|listed| listed.alive);
        return match (alive.next(), alive.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(say(
                "none of your processes is being recorded; start one with METASPY_RECORD=live, or try `metaspy demo`",
            )),
            (Some(first), Some(second)) => {
                let rest: Vec<String> =
                    [first, second].into_iter().chain(alive).map(|it| format!("  {}  {}", it.pid, it.name)).collect();
                Err(say(format!(
                    "several processes are being recorded; choose one with `metaspy attach PID`:\n{}",
                    rest.join("\n")
                )))
            }
        };
    };
    if let Some(found) = all.into_iter().find(|listed| listed.pid == pid) {
        return Ok(found);
    }
    let why = if is_running(pid) {
        "is not being recorded; start it with METASPY_RECORD=live, or with a profiler that records live"
    } else {
        "does not exist; `metaspy list` shows the processes that are being recorded"
    };
    Err(say(format!("process {pid} {why}")))
}

/// True if the process exists. Without `/proc` this is not known.
fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
