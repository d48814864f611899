//! The directory of live recordings, which `attach` and `list` read. Other files may be in it: a
//! file is a recording if its name, its header and, while its process writes it, its lock show
//! this.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use metaspy_reader::control::socket_of;
use metaspy_reader::files::input::open_unnoted;
use metaspy_reader::platform::writer_lock;

use crate::identity::{Writer, copy_of, remove_dead, writer_of};
use crate::platform::process;
use crate::recorder::{StartError, has_file};

/// Maximum bytes of all recordings of ended processes. The oldest are removed first, but none of
/// the current run.
const BUDGET: u64 = 2 << 30;

/// The file with the names of recordings that were removed to make room.
const REMOVED: &str = "removed.txt";
/// Bytes of it that are read.
const MOST_REMOVED: u64 = 16 << 20;
/// Its first line. Without this line, the file is not ours.
const REMOVED_TITLE: &str = "# Recordings that metaspy removed to make room:";

/// A recording in the directory.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The file.
    pub path: PathBuf,
    /// The process.
    pub pid: u32,
    /// The program's name.
    pub name: String,
    /// The run that it belongs to, if any.
    pub run: Option<String>,
    /// True if the process still runs.
    pub alive: bool,
    /// True if no process can write it any more. Neither this nor `alive` is true if that is
    /// unknown: the recording was not closed, its file system has no locks, and its process may be
    /// one of another PID namespace.
    pub has_ended: bool,
    /// True if the process has rotated: it went on in another file.
    pub is_followed: bool,
    /// Bytes on the disk.
    pub bytes: u64,
    /// The time of the last change, if the file system has it.
    pub changed: SystemTime,
}

/// The directory: `METASPY_DIR`, otherwise `metaspy` in the user's state directory, otherwise one
/// in the temporary directory.
pub fn directory() -> PathBuf {
    if let Some(chosen) = std::env::var_os("METASPY_DIR").filter(|dir| !dir.is_empty()) {
        return chosen.into();
    }
    let state = std::env::var_os("XDG_STATE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let home = || std::env::var_os("HOME").filter(|dir| !dir.is_empty());
    match state.or_else(|| Some(PathBuf::from(home()?).join(".local/state"))) {
        Some(state) => state.join("metaspy"),
        None => std::env::temp_dir().join(format!("metaspy-{}", process::user())),
    }
}

/// The run of this process: `METASPY_RUN`, otherwise the run id of nextest. The recordings of a run
/// have a directory of their own.
pub fn run() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    Some(file_name(&variable("METASPY_RUN").or_else(|| variable("NEXTEST_RUN_ID"))?, "_-"))
}

/// A text as a file name: letters, digits and the `allowed` characters.
fn file_name(text: &str, allowed: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || allowed.contains(c) { c } else { '_' };
    text.chars().map(letter).take(40).collect()
}

/// The recordings in the directory and in those of its runs, newest first.
pub fn list() -> Vec<Listed> {
    let dir = directory();
    let mut listed = list_in(&dir, None);
    for run in
        entries(&dir).filter(|path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()))
    {
        listed
            .extend(list_in(&run, run.file_name().map(|name| name.to_string_lossy().into_owned())));
    }
    listed.sort_by_key(|listed| std::cmp::Reverse(listed.changed));
    listed
}

fn list_in(dir: &Path, run: Option<String>) -> Vec<Listed> {
    entries(dir).filter_map(|path| Some(Listed { run: run.clone(), ..look(&path)? })).collect()
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// The names of recordings that were removed from this directory to make room.
pub fn removed_from(dir: &Path) -> Vec<String> {
    let mut removed = String::new();
    // In a directory of others, it may be anything.
    let read = open_unnoted(&dir.join(REMOVED))
        .and_then(|file| file.take(MOST_REMOVED).read_to_string(&mut removed));
    if read.is_err() {
        return Vec::new();
    }
    let names = removed.strip_prefix(REMOVED_TITLE).unwrap_or_default();
    names.lines().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Removes the list of removed recordings.
fn forget_removed(dir: &Path) {
    if !removed_from(dir).is_empty() {
        let _ = fs::remove_file(dir.join(REMOVED));
    }
}

/// The recording of a process.
pub fn find(pid: u32) -> Option<Listed> {
    let mut found: Vec<Listed> = list().into_iter().filter(|listed| listed.pid == pid).collect();
    found.sort_by_key(|listed| std::cmp::Reverse((listed.alive, listed.changed)));
    found.into_iter().next()
}

/// Returns the reason why programs record nothing in the directory, if it exists and other users
/// could change its content.
pub fn refusal() -> Option<String> {
    let dir = directory();
    if dir.exists() { check_own(&dir).err() } else { None }
}

/// The result of [`clean`].
#[derive(Clone, Debug, Default)]
pub struct Cleaned {
    /// Recordings that it removed.
    pub removed: Vec<Listed>,
    /// Earlier files of rotations of processes that still run. They stay, because the last file
    /// alone is not the whole run.
    pub kept: Vec<Listed>,
}

/// Removes the recordings of ended processes. An error if the directory belongs to other users as
/// well.
pub fn clean() -> std::io::Result<Cleaned> {
    if let Some(why) = refusal() {
        return Err(std::io::Error::other(why));
    }
    let mut cleaned = Cleaned::default();
    let all = list();
    // A process of another PID namespace is known to run by the file that it writes.
    let running: HashSet<&OsStr> =
        all.iter().filter(|it| it.alive).filter_map(|it| process_of(&it.path)).collect();
    for dead in all.iter().filter(|it| it.has_ended) {
        if dead.is_followed
            && process_of(&dead.path).is_some_and(|process| running.contains(process))
        {
            cleaned.kept.push(dead.clone());
            continue;
        }
        if !remove_ended(&dead.path)? {
            continue;
        }
        if let (Some(_), Some(run)) = (&dead.run, dead.path.parent()) {
            // This succeeds only for the last recording of a run.
            let is_last = list_in(run, None).is_empty();
            if is_last {
                forget_removed(run);
                let _ = fs::remove_dir(run);
            }
        }
        cleaned.removed.push(dead.clone());
    }
    forget_removed(&directory());
    Ok(cleaned)
}

/// The part of a file's name that all recordings of a process have, and no others.
fn process_of(path: &Path) -> Option<&OsStr> {
    path.file_prefix()
}

/// Removes a file if it is a recording that no process writes. True if it was one.
fn remove_ended(path: &Path) -> std::io::Result<bool> {
    if !look(path).is_some_and(|listed| listed.has_ended) {
        return Ok(false);
    }
    // Of a process that was killed.
    let _ = fs::remove_file(socket_of(path));
    let _ = remove_dead(&copy_of(path), has_file);
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Reads the name of a file (program, process and its start time, as `name-pid-start.spy`) and its
/// header.
fn look(path: &Path) -> Option<Listed> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".spy")?;
    let mut parts = stem.rsplitn(3, '-');
    let start: u64 = parts.next()?.split('.').next()?.parse().ok()?;
    let pid: u32 = parts.next()?.parse().ok()?;
    let name = parts.next()?.to_owned();
    let meta = fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && is_own(meta))?;
    let mut file = open_unnoted(path).ok()?;
    let is_locked = writer_lock::is_taken(&file);
    let is_written = is_locked == Some(true);
    // A process that has just started has not written the header yet.
    let header = writer_of(&mut file);
    let writer = header.or_else(|| {
        is_written.then_some(Writer { pid, start, has_closed: false, is_followed: false })
    })?;
    let runs = |pid, start| process::start_of(pid) == Some(start);
    let has_ended = has_ended(is_locked, writer.has_closed, runs(writer.pid, writer.start));
    let alive = is_written || runs(pid, start);
    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Listed {
        path: path.to_owned(),
        pid,
        name,
        run: None,
        alive,
        has_ended,
        is_followed: writer.is_followed,
        bytes: on_disk(&meta),
        changed,
    })
}

/// True if no process can write a recording any more. `is_locked` is `None` on a file system
/// without locks: there a process of another PID namespace, which does not run here, may still
/// write one that was not closed.
fn has_ended(is_locked: Option<bool>, has_closed: bool, runs: bool) -> bool {
    is_locked != Some(true) && (has_closed || (is_locked.is_some() && !runs))
}

fn on_disk(meta: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.blocks() * 512
    }
    #[cfg(not(unix))]
    {
        meta.len()
    }
}

/// A path for a live recording of this process. Makes room for it among the recordings of ended
/// processes.
pub(crate) fn new_live_file(budget: u64) -> Result<PathBuf, StartError> {
    make_private(&directory())?;
    make_room(budget, run().as_deref());
    let dir = own_directory()?;
    let name = own_name();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Ok(next_free(&NEXT, |number| match number {
        1 => dir.join(format!("{name}.spy")),
        _ => dir.join(format!("{name}.{number:06}.spy")),
    }))
}

/// A path with a number that no earlier file of this process had, and no other file has. Lists have
/// the files in the order of their numbers.
pub(super) fn next_free(next: &AtomicU64, path: impl Fn(u64) -> PathBuf) -> PathBuf {
    loop {
        let path = path(next.fetch_add(1, Ordering::Relaxed));
        if !path.exists() {
            return path;
        }
    }
}

/// The directory for this process.
fn own_directory() -> Result<PathBuf, StartError> {
    let mut dir = directory();
    make_private(&dir)?;
    if let Some(run) = run() {
        dir.push(run);
        make_private(&dir)?;
    }
    Ok(dir)
}

/// A file name that no other process uses.
fn own_name() -> String {
    let pid = std::process::id();
    let program = process::program();
    let name = file_name(&program.file_stem().unwrap_or_default().to_string_lossy(), "_");
    format!("{name}-{pid}-{}", process::start_of(pid).unwrap_or(0))
}

/// Removes the oldest recordings of ended processes until there is room, but none of the current
/// run, which is read as a whole. The names of removed recordings are noted, so that a sum over the
/// others can report them.
fn make_room(budget: u64, run: Option<&str>) {
    let mut dead: Vec<Listed> = list()
        .into_iter()
        .filter(|listed| listed.has_ended && (run.is_none() || listed.run.as_deref() != run))
        .collect();
    let mut bytes: u64 = dead.iter().map(|listed| listed.bytes).sum();
    while bytes + budget > BUDGET.max(budget)
        && let Some(oldest) = dead.pop()
    {
        if remove_ended(&oldest.path).is_ok_and(|is_removed| is_removed) {
            bytes -= oldest.bytes;
            let _ = note_removed(&oldest.path);
        }
    }
}

fn note_removed(path: &Path) -> std::io::Result<()> {
    let list = path.with_file_name(REMOVED);
    if fs::symlink_metadata(&list).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::other("another file has this name"));
    }
    let mut notes = fs::OpenOptions::new().create(true).append(true).read(true).open(list)?;
    let mut before = String::new();
    (&notes).take(MOST_REMOVED).read_to_string(&mut before)?;
    match before.starts_with(REMOVED_TITLE) {
        true => {}
        false if before.is_empty() => writeln!(notes, "{REMOVED_TITLE}")?,
        false => return Err(std::io::Error::other("another file has this name")),
    }
    writeln!(notes, "{}", path.file_name().unwrap_or_default().display())
}

/// Makes the directory, which no other user can read then, or checks that an existing one is the
/// user's own.
fn make_private(dir: &Path) -> Result<(), StartError> {
    secure(dir).map_err(|why| StartError::Directory { path: dir.to_owned(), why })
}

fn secure(dir: &Path) -> Result<(), String> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir).map_err(|error| error.to_string())?;
    check_own(dir)
}

/// Checks that a directory belongs to the user, that not every user can put files there, and that
/// no other user can replace those of this one, as members of its group can without the sticky bit.
/// Its mode stays as it is.
fn check_own(dir: &Path) -> Result<(), String> {
    let meta = fs::symlink_metadata(dir).map_err(|error| error.to_string())?;
    if !meta.is_dir() {
        return Err("it is a link, not a directory".into());
    }
    if !is_own(&meta) {
        return Err("it belongs to another user".into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = meta.permissions().mode();
        if mode & 0o002 != 0 {
            return Err(
                "every user can write there: choose a directory of your own, such as one within it"
                    .into(),
            );
        }
        if mode & 0o1020 == 0o020 {
            return Err(
                "its group can write there: choose another one, or run `chmod g-w` on it".into()
            );
        }
    }
    Ok(())
}

/// True if the file or directory belongs to the user.
fn is_own(meta: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.uid() == process::user()
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_locks_only_a_closed_recording_has_ended() {
        let [open, closed] = [false, true].map(|has_closed| {
            [Some(true), Some(false), None].map(|is_locked| has_ended(is_locked, has_closed, false))
        });
        assert_eq!((open, closed), ([false, true, false], [false, true, true]));
        assert!(!has_ended(Some(false), false, true), "its process runs");
    }
}
