//! Recordings by file, by name and by process. Everything that the command asks of the core's directory of live
//! recordings is asked here.

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

/// All of them, those of running processes first, the newest first.
pub fn list() -> Vec<Listed> {
    let mut all = recording::list();
    all.sort_by_key(|listed| !listed.alive);
    all
}

/// The directory that they stand in.
pub fn directory() -> PathBuf {
    recording::directory()
}

/// Removes those whose process ended; what it removed.
pub fn clean() -> Result<Vec<Listed>> {
    recording::clean().map_err(|error| say(format!("{}: {error}; remove it by hand", directory().display())))
}

/// Opens a file.
pub fn open(path: &Path) -> Result<Store> {
    // The core's sentences name the file where that helps; where they do not, it is named here.
    Store::open(path).map_err(|error| {
        let (name, text) = (path.display().to_string(), error.to_string());
        say(if text.contains(&name) { text } else { format!("{name}: {text}") })
    })
}

/// Opens a file, or else the live recording with this name or of this process; `-` is what comes on standard input.
pub fn open_named(source: &Path) -> Result<Store> {
    open_all(&[source.to_owned()])
}

/// Opens what was asked for: one recording, or several as one.
pub fn open_all(sources: &[PathBuf]) -> Result<Store> {
    let mut stores = Vec::with_capacity(sources.len());
    for source in sources {
        let path = path_of(source)?;
        let store = match path == Path::new(stream::STANDARD) {
            true => stream::open()?.to_its_end()?,
            false => open(&path)?,
        };
        stores.push((path.display().to_string(), store));
    }
    Store::merged(stores).map_err(|error| say(error.to_string()))
}

/// The path of a file, or else of the live recording with this name or of this process.
pub fn path_of(source: &Path) -> Result<PathBuf> {
    if source == Path::new(stream::STANDARD) || source.exists() || source.components().count() > 1 {
        return Ok(source.to_owned());
    }
    let name = source.to_string_lossy();
    let found = list().into_iter().find(|listed| *listed.name == *name || listed.pid.to_string() == *name);
    match found {
        Some(listed) => Ok(listed.path),
        None => Err(say(format!(
            "there is no file {name}, and no live recording of that name; `metaspy list` shows those there are"
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
                "no process of yours is being recorded; start one with METASPY_RECORD=live, or try `metaspy demo`",
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

/// Whether there is such a process, as far as can be told here.
fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
