//! The directory of live recordings, which `attach` and `list` read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::platform::process;
use crate::recorder::StartError;

/// Maximum bytes of all recordings of ended processes. The oldest are removed first, but none of the current run.
const BUDGET: u64 = 2 << 30;

/// The file with the names of recordings that were removed to make room.
const REMOVED: &str = "removed.txt";

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
    /// Bytes on the disk.
    pub bytes: u64,
    /// The time of the last change, if the file system has it.
    pub changed: SystemTime,
}

/// The directory: `METASPY_DIR`, otherwise `metaspy` in the user's state directory, otherwise one in the temporary
/// directory.
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

/// The run of this process: `METASPY_RUN`, otherwise the run id of nextest. The recordings of a run have a directory of
/// their own.
pub fn run() -> Option<String> {
    let said = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    Some(file_name(&said("METASPY_RUN").or_else(|| said("NEXTEST_RUN_ID"))?, "_-"))
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
    for run in entries(&dir).filter(|path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())) {
        listed.extend(list_in(&run, run.file_name().map(|name| name.to_string_lossy().into_owned())));
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
    let removed = fs::read_to_string(dir.join(REMOVED)).unwrap_or_default();
    removed.lines().map(str::to_owned).collect()
}

/// The recording of a process.
pub fn find(pid: u32) -> Option<Listed> {
    let mut found: Vec<Listed> = list().into_iter().filter(|listed| listed.pid == pid).collect();
    found.sort_by_key(|listed| std::cmp::Reverse((listed.alive, listed.changed)));
    found.into_iter().next()
}

/// Removes the recordings of ended processes, and returns them.
pub fn clean() -> std::io::Result<Vec<Listed>> {
    let mut removed = Vec::new();
    for dead in list().into_iter().filter(|listed| !listed.alive) {
        fs::remove_file(&dead.path)?;
        if let (Some(_), Some(run)) = (&dead.run, dead.path.parent()) {
            let _ = fs::remove_file(run.join(REMOVED));
            // This succeeds only for the last recording of a run.
            let _ = fs::remove_dir(run);
        }
        removed.push(dead);
    }
    let _ = fs::remove_file(directory().join(REMOVED));
    Ok(removed)
}

/// Parses a file name: program, process and its start time, as `name-pid-start.spy`.
fn look(path: &Path) -> Option<Listed> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".spy")?;
    let mut parts = stem.rsplitn(3, '-');
    let start: u64 = parts.next()?.split('.').next()?.parse().ok()?;
    let pid: u32 = parts.next()?.parse().ok()?;
    let name = parts.next()?.to_owned();
    let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let alive = process::start_of(pid) == Some(start);
    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Listed { path: path.to_owned(), pid, name, run: None, alive, bytes: on_disk(&meta), changed })
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

/// A path for a live recording of this process. Makes room for it among the recordings of ended processes.
pub(crate) fn new_live_file(budget: u64) -> Result<PathBuf, StartError> {
    make_private(&directory())?;
    make_room(budget, run().as_deref());
    let (dir, name) = (own_directory()?, own_name());
    let first = dir.join(format!("{name}.spy"));
    let next = (1..).map(|n| dir.join(format!("{name}.{n}.spy")));
    Ok(std::iter::once(first).chain(next).find(|path| !path.exists()).expect("there is always a next number"))
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

/// Removes the oldest recordings of ended processes until there is room, but none of the current run, which is read as a
/// whole. The names of removed recordings are noted, so that a sum over the others can report them.
fn make_room(budget: u64, run: Option<&str>) {
    let is_dead = |listed: &Listed| !listed.alive && (run.is_none() || listed.run.as_deref() != run);
    let mut dead: Vec<Listed> = list().into_iter().filter(is_dead).collect();
    let mut bytes: u64 = dead.iter().map(|listed| listed.bytes).sum();
    while bytes + budget > BUDGET.max(budget)
        && let Some(oldest) = dead.pop()
    {
        if fs::remove_file(&oldest.path).is_ok() {
            bytes -= oldest.bytes;
            let _ = note_removed(&oldest.path);
        }
    }
}

fn note_removed(path: &Path) -> std::io::Result<()> {
    let mut notes = fs::OpenOptions::new().create(true).append(true).open(path.with_file_name(REMOVED))?;
    writeln!(notes, "{}", path.file_name().unwrap_or_default().display())
}

/// Checks that the directory belongs to the user and that no other user can read it.
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
    let meta = fs::symlink_metadata(dir).map_err(|error| error.to_string())?;
    if !meta.is_dir() {
        return Err("it is a link, not a directory".into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if meta.uid() != process::user() {
            return Err("it belongs to another user".into());
        }
        if meta.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
