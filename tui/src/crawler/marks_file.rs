//! File of marks beside a recording: `run.spy.marks`.
//!
//! ```toml
//! started_ns = 1732291200000000000
//! pid = 4711
//!
//! [[mark]]
//! event = 81924
//! name = "slow"
//! ```
//!
//! Another recording at the same path has another start, so marks of an earlier recording are not
//! shown.
//!
//! Marks are not in the recording, because it is read-only for its readers.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use metaspy_reader::{EventId, Store, files};
use serde::{Deserialize, Serialize};

use super::config::with_place;
use super::state::marks::Marks;

#[derive(Deserialize, Serialize)]
struct Written {
    started_ns: u64,
    pid: u32,
    #[serde(default, rename = "mark")]
    marks: Vec<WrittenMark>,
}

#[derive(Deserialize, Serialize)]
struct WrittenMark {
    event: u64,
    #[serde(default)]
    name: String,
}

/// Returns the path of the file; `None` if the recording is not a file.
fn path(store: &Store) -> Option<PathBuf> {
    let mut path = store.path()?.as_os_str().to_owned();
    path.push(".marks");
    Some(path.into())
}

/// Reads the marks of a recording. A missing file has none.
pub fn read(store: &Store) -> Result<Marks, String> {
    let mut marks = Marks::default();
    let Some(path) = path(store) else { return Ok(marks) };
    let name = path.display().to_string();
    let text = match files::read_text(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(marks),
        result => result.map_err(|error| format!("{name}: {error}"))?,
    };
    let written: Written = toml::from_str(&text).map_err(|error| with_place(&name, &text, &error))?;
    let header = store.header();
    if (written.started_ns, written.pid) == (header.started_ns, header.pid) {
        let known = written.marks.iter().filter_map(|mark| Some((EventId::from_raw(mark.event)?, &mark.name)));
        known.for_each(|(id, name)| marks.set(id, name));
    }
    Ok(marks)
}

/// Writes the marks of a recording. Without marks there is no file.
pub fn write(store: &Store, marks: &Marks) -> Result<(), String> {
    let Some(path) = path(store) else { return Ok(()) };
    let header = store.header();
    let marks: Vec<WrittenMark> =
        marks.all().map(|(id, name)| WrittenMark { event: id.raw(), name: name.to_owned() }).collect();
    let is_empty = marks.is_empty();
    let written = Written { started_ns: header.started_ns, pid: header.pid, marks };
    let text = toml::to_string(&written).map_err(|error| error.to_string())?;
    let done = match is_empty {
        true => fs::remove_file(&path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        }),
        false => files::replace(&path, text.as_bytes()),
    };
    done.map_err(|error| format!("the marks are not saved: {}: {error}", path.display()))
}
