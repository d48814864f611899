//! The directory of live recordings: where `attach` and `list` look.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::log::StartError;
use crate::platform::process;

/// Bytes that recordings of ended processes may take together; the oldest go first.
const BUDGET: u64 = 2 << 30;

/// A recording in the directory.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The file.
    pub path: PathBuf,
    /// The process.
    pub pid: u32,
    /// The program's name.
    pub name: String,
    /// Whether the process still runs.
    pub alive: bool,
    /// Bytes on the disk.
    pub bytes: u64,
    /// When it was last written to, as far as the file system knows.
    pub changed: SystemTime,
}

/// The directory: `METASPY_DIR`, else `metaspy` in the user's state directory, else one in the temporary directory.
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

/// The recordings in the directory, newest first.
pub fn list() -> Vec<Listed> {
    let Ok(entries) = fs::read_dir(directory()) else { return Vec::new() };
    let mut listed: Vec<Listed> = entries.filter_map(|entry| look(&entry.ok()?.path())).collect();
    listed.sort_by_key(|listed| std::cmp::Reverse(listed.changed));
    listed
}

/// The recording of a process.
pub fn find(pid: u32) -> Option<Listed> {
    let mut found: Vec<Listed> = list().into_iter().filter(|listed| listed.pid == pid).collect();
    found.sort_by_key(|listed| std::cmp::Reverse((listed.alive, listed.changed)));
    found.into_iter().next()
}

/// Removes the recordings of processes that ended; what it removed.
pub fn clean() -> std::io::Result<Vec<Listed>> {
    let mut removed = Vec::new();
    for dead in list().into_iter().filter(|listed| !listed.alive) {
        fs::remove_file(&dead.path)?;
        removed.push(dead);
    }
    Ok(removed)
}

/// Name, process and its start time stand in the file's name: `name-pid-start.spy`.
fn look(path: &Path) -> Option<Listed> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".spy")?;
    let mut parts = stem.rsplitn(3, '-');
    let start: u64 = parts.next()?.split('.').next()?.parse().ok()?;
    let pid: u32 = parts.next()?.parse().ok()?;
    let name = parts.next()?.to_owned();
    let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let alive = process::start_of(pid) == Some(start);
    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Listed { path: path.to_owned(), pid, name, alive, bytes: on_disk(&meta), changed })
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
    let dir = directory();
    let refused = |why: String| StartError::Directory { path: dir.clone(), why };
    make_private(&dir).map_err(refused)?;
    let mut dead: Vec<Listed> = list().into_iter().filter(|listed| !listed.alive).collect();
    let mut bytes: u64 = dead.iter().map(|listed| listed.bytes).sum();
    while bytes + budget > BUDGET.max(budget)
        && let Some(oldest) = dead.pop()
    {
        if fs::remove_file(&oldest.path).is_ok() {
            bytes -= oldest.bytes;
        }
    }
    let pid = std::process::id();
    let program = process::program();
    let name: String = (program.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .take(40)
        .collect();
    let start = process::start_of(pid).unwrap_or(0);
    let first = dir.join(format!("{name}-{pid}-{start}.spy"));
    let next = (1..).map(|n| dir.join(format!("{name}-{pid}-{start}.{n}.spy")));
    Ok(std::iter::once(first).chain(next).find(|path| !path.exists()).expect("there is always a next number"))
}

/// The directory must be the user's own, and nobody else may look into it.
fn make_private(dir: &Path) -> Result<(), String> {
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
