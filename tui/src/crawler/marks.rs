//! Marks that the user sets on events, optionally with names, and their file beside the recording:
//! `run.spy.marks`.
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

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use metaspy_reader::{EventId, Store, files};
use serde::{Deserialize, Serialize};

use super::config::with_place;

/// Marked events with their names; an unnamed mark has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    names: BTreeMap<EventId, String>,
    /// Events in the order in which they were marked.
    order: Vec<EventId>,
}

impl Marks {
    /// Marks an event, or changes the name of its mark.
    pub fn set(&mut self, id: EventId, name: &str) {
        self.order.retain(|&other| other != id);
        self.order.push(id);
        self.names.insert(id, name.to_owned());
    }

    /// Removes a mark. Returns false if there is none.
    pub fn remove(&mut self, id: EventId) -> bool {
        self.order.retain(|&other| other != id);
        self.names.remove(&id).is_some()
    }

    /// Returns the name of the mark on an event.
    pub fn name(&self, id: EventId) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// Iterates over all marks, in the order in which they were set.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = (EventId, &str)> {
        self.order.iter().filter_map(|&id| Some((id, self.name(id)?)))
    }

    /// Returns the first mark after an event in the order of ids. The last mark is followed by the
    /// first.
    pub fn next(&self, after: Option<EventId>) -> Option<EventId> {
        let next = self.names.keys().find(|&&id| Some(id) > after);
        next.or(self.names.keys().next()).copied()
    }
}

/// Describes a mark: by its name, or by its event if it has no name.
pub fn title(id: EventId, name: &str) -> String {
    if name.is_empty() { format!("◆ {id}") } else { format!("◆ {name}") }
}

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
    let written: Written =
        toml::from_str(&text).map_err(|error| with_place(&name, &text, &error))?;
    let header = store.header();
    if (written.started_ns, written.pid) == (header.started_ns, header.pid) {
        let known = written
            .marks
            .iter()
            .filter_map(|mark| Some((EventId::from_raw(mark.event)?, &mark.name)));
        known.for_each(|(id, name)| marks.set(id, name));
    }
    Ok(marks)
}

/// Writes the marks of a recording. Without marks there is no file.
pub fn write(store: &Store, marks: &Marks) -> Result<(), String> {
    let Some(path) = path(store) else { return Ok(()) };
    let header = store.header();
    let marks: Vec<WrittenMark> = marks
        .all()
        .map(|(id, name)| WrittenMark { event: id.raw(), name: name.to_owned() })
        .collect();
    let is_empty = marks.is_empty();
    let written = Written { started_ns: header.started_ns, pid: header.pid, marks };
    let text = toml::to_string(&written).map_err(|error| error.to_string())?;
    // The recording may come from others, and so may a link beside it, which would lead to a file
    // of the user.
    if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        return Err(format!("{} is a link: remove it", path.display()));
    }
    let done = if is_empty {
        fs::remove_file(&path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    } else {
        files::replace(&path, text.as_bytes())
    };
    done.map_err(|error| format!("{}: {error}", path.display()))
}
