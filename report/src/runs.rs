//! The runs that `cargo metaspy` keeps below the target directory, for the editor and the crawler.
//!
//! A run is a directory with a number as name. It contains the recordings of its processes, and a
//! note on its command. A lock beside it is held while the run lasts.
//!
//! The last runs are kept, because the editor and the crawler show the numbers of the report.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use metaspy_reader::Store;
use metaspy_reader::files::{self, OutputFile, input::open_unnoted};
use serde::{Deserialize, Serialize};

/// The number of runs that are kept.
const KEPT: usize = 8;
/// The number of bytes that kept runs may occupy together. The newest is kept whatever it occupies.
const BYTES: u64 = 1 << 30;
/// Maximum size of a note, in bytes.
const MOST_NOTE: u64 = 1 << 20;
/// The name of the note.
const NOTE: &str = "run.json";
/// The beginning of the name of a run's directory below `METASPY_DIR`, which the number of a
/// process follows.
pub const THEIRS: &str = "woven-";
/// The extension of the directory of a run that has not ended.
pub const UNFINISHED: &str = "unfinished";

/// The directory of the runs in the target directory of `cargo metaspy`.
pub fn directory(target: &Path) -> PathBuf {
    target.join("runs")
}

/// How a run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The command, such as `cargo metaspy test --lib`.
    pub command: String,
    /// The root of the workspace. Relative names of source files begin there.
    pub workspace: PathBuf,
    /// The beginning, in seconds since 1970.
    pub began: u64,
}

impl Note {
    /// The note of a run that begins now.
    pub fn now(command: String, workspace: PathBuf) -> Note {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Note { command, workspace, began }
    }
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its directory.
    pub dir: PathBuf,
    /// Its number.
    pub number: u32,
    /// How it began.
    pub note: Note,
}

impl Run {
    /// The recordings of its processes, by name.
    pub fn recordings(&self) -> Vec<PathBuf> {
        recordings_in(&self.dir)
    }

    /// True while its command runs.
    pub fn is_running(&self) -> bool {
        open_unnoted(&lock_of(&self.dir))
            .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes it.
    pub fn remove(&self) -> io::Result<()> {
        let _ = fs::remove_file(lock_of(&self.dir));
        fs::remove_dir_all(&self.dir)
    }

    fn bytes(&self) -> u64 {
        entries(&self.dir)
            .filter_map(|path| Some(bytes_on_disk(&fs::symlink_metadata(path).ok()?)))
            .sum()
    }
}

/// A run of this process. It is kept when this is dropped, unless it contains no recording.
#[derive(Debug)]
pub struct Begun {
    /// The run.
    pub run: Run,
    /// The lock is held while the run lasts.
    _lock: File,
}

impl Begun {
    /// Begins a run in a directory of runs, and removes the oldest ones. The runs of other
    /// processes that still run stay.
    pub fn new(runs: &Path, note: Note) -> io::Result<Begun> {
        fs::create_dir_all(runs)?;
        remove_old(runs);
        let mut number = list(runs).first().map_or(1, |newest| newest.number + 1);
        let dir = loop {
            let dir = runs.join(number.to_string());
            match fs::create_dir(&dir) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => break made.map(|()| dir)?,
            }
        };
        // Whatever has this name: the directory is new, so the lock is of no run. To open a pipe
        // would wait for its reader.
        let _ = fs::remove_file(lock_of(&dir));
        let lock = File::create_new(lock_of(&dir))?;
        // Without locks in the file system, no other process finds the file locked either.
        let _ = lock.try_lock();
        OutputFile::write(&dir.join(NOTE), &serde_json::to_vec_pretty(&note)?)?;
        Ok(Begun { run: Run { dir, number, note }, _lock: lock })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = if self.run.recordings().is_empty() {
            self.run.remove()
        } else {
            fs::remove_file(lock_of(&self.run.dir))
        };
    }
}

/// Returns true if a directory is that of a run, a kept one or one below `METASPY_DIR`.
pub fn is_run(dir: &Path) -> bool {
    dir.join(NOTE).is_file()
        || dir.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(THEIRS))
}

/// The recordings in a directory, by name.
pub fn recordings_in(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        entries(dir).filter(|path| path.extension() == Some(OsStr::new("spy"))).collect();
    found.sort();
    found
}

/// The runs of one version in a directory, by name: the sources of each run, which are files, or a
/// directory that stands for the recordings in it.
///
/// A directory of recordings is a run, and so is a recording with those of the other processes of
/// its run. A run that was interrupted is none.
pub fn of_version(
    version: &Path,
    is_recording: fn(&Path) -> bool,
) -> io::Result<Vec<Vec<PathBuf>>> {
    // To open a pipe would wait for its writer.
    let is_recording = |path: &PathBuf| path.is_file() && is_recording(path);
    let paths_in = |dir: &Path| {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files::sort_by_number(&mut paths);
        Ok::<_, io::Error>(paths)
    };
    let paths = paths_in(version)?;
    let recordings: Vec<PathBuf> =
        paths.iter().filter(|path| is_recording(path)).cloned().collect();
    let is_finished = |dir: &PathBuf| dir.extension() != Some(OsStr::new(UNFINISHED));
    let has_recordings =
        |dir: &PathBuf| paths_in(dir).is_ok_and(|paths| paths.iter().any(is_recording));
    let directories =
        paths.into_iter().filter(|path| path.is_dir() && is_finished(path) && has_recordings(path));
    let directories: Vec<Vec<PathBuf>> = directories.map(|dir| vec![dir]).collect();
    let mut runs = if is_run(version) { vec![recordings] } else { by_run(recordings) };
    runs.retain(|run| !run.is_empty());
    if let [run] = &mut runs[..] {
        *run = vec![version.to_owned()];
    }
    runs.extend(directories);
    Ok(runs)
}

/// Puts the recordings of each run together.
fn by_run(recordings: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let written = recordings.into_iter().map(|path| (Written::read(&path), path));
    // `run.4711.spy` belongs to `run.spy`.
    let (firsts, others): (Vec<_>, Vec<_>) =
        written.partition(|(written, _)| !matches!(written, Some(it) if it.name == Name::Beside));
    let mut runs: Vec<(Option<Written>, Vec<PathBuf>)> = Vec::new();
    for (written, path) in firsts.into_iter().chain(others) {
        let is_of = |first: &Option<Written>| {
            first.as_ref().zip(written.as_ref()).is_some_and(|(a, b)| a.is_followed_by(b))
        };
        match runs.iter_mut().find(|(first, _)| is_of(first)) {
            Some((_, run)) => run.push(path),
            None => runs.push((written, vec![path])),
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

/// How the name of a recording tells its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// `METASPY_RECORD=live` gave it: `PROGRAM-PID-START.spy`.
    Live,
    /// Another file had the name that was asked for: `run.4711.spy`, and in a rotation
    /// `run.4711.000002.spy`.
    Beside,
    /// A person gave it.
    Chosen,
}

/// The process that wrote a recording, and the name that it gave the file.
#[derive(Debug)]
struct Written {
    name: Name,
    /// The name that was asked for, without the extension.
    stem: String,
    /// Number and start.
    process: (u32, u64),
    began_ns: u64,
}

impl Written {
    /// `None` if the file cannot be read.
    fn read(path: &Path) -> Option<Written> {
        if !path.is_file() {
            return None;
        }
        let header = Store::open(path).ok()?.header();
        let pid = header.pid.to_string();
        let start = header.process_start.to_string();
        let stem = path.file_stem()?.to_str()?;
        // The number of a file in a rotation.
        let whole = stem
            .rsplit_once('.')
            .filter(|(_, last)| is_number(last) && *last != pid)
            .map_or(stem, |it| it.0);
        let beside = whole.strip_suffix(&pid).and_then(|rest| rest.strip_suffix('.'));
        let (name, stem) = match beside {
            Some(asked) => (Name::Beside, asked),
            None if whole.ends_with(&format!("-{pid}-{start}")) => (Name::Live, whole),
            None => (Name::Chosen, stem),
        };
        let process = (header.pid, header.process_start);
        Some(Written { name, stem: stem.to_owned(), process, began_ns: header.started_ns })
    }

    /// True if another recording in the same directory is of the run that has this one first.
    fn is_followed_by(&self, other: &Written) -> bool {
        match (self.name, other.name) {
            (Name::Live, Name::Live) => true,
            (Name::Chosen, Name::Beside) => {
                self.stem == other.stem && other.began_ns >= self.began_ns
            }
            (Name::Beside, Name::Beside) => {
                self.stem == other.stem && self.process == other.process
            }
            _ => false,
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The runs in a directory of runs, with the newest first.
pub fn list(runs: &Path) -> Vec<Run> {
    let run = |dir: PathBuf| {
        let number = dir.file_name()?.to_str()?.parse().ok()?;
        let note = files::read(&dir.join(NOTE), MOST_NOTE)
            .ok()
            .and_then(|note| serde_json::from_slice(&note).ok());
        dir.is_dir().then(|| Run { dir, number, note: note.unwrap_or_default() })
    };
    let mut found: Vec<Run> = entries(runs).filter_map(run).collect();
    found.sort_by_key(|run| std::cmp::Reverse(run.number));
    found
}

/// Makes room for one more run.
fn remove_old(runs: &Path) {
    let mut bytes = 0;
    for (at, run) in list(runs).iter().enumerate() {
        bytes += run.bytes();
        if (at + 1 >= KEPT || at > 0 && bytes > BYTES) && !run.is_running() {
            // The next run tries again.
            let _ = run.remove();
        }
    }
}

fn lock_of(dir: &Path) -> PathBuf {
    dir.with_extension("lock")
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// A recording is a file with holes.
fn bytes_on_disk(meta: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::blocks(meta) * 512;
    #[cfg(not(unix))]
    return meta.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_for(test: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("metaspy-runs-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        dir
    }

    fn numbers(runs: &Path) -> Vec<u32> {
        list(runs).iter().map(|run| run.number).collect()
    }

    #[test]
    fn the_newest_runs_with_recordings_are_kept() {
        let runs = directory_for("kept");
        let note = Note::now("cargo metaspy test".into(), "/w".into());
        for _ in 0..KEPT + 2 {
            let begun = Begun::new(&runs, note.clone()).expect("it begins");
            fs::write(begun.run.dir.join("a.spy"), "recording").expect("it is written");
            assert!(list(&runs)[0].is_running());
        }
        drop(Begun::new(&runs, note.clone()).expect("it begins"));
        let kept = list(&runs);
        assert_eq!(numbers(&runs), (4..=KEPT as u32 + 2).rev().collect::<Vec<_>>());
        assert_eq!(
            (kept[0].recordings().len(), &kept[0].note, kept[0].is_running()),
            (1, &note, false)
        );
        fs::remove_dir_all(runs).expect("it is removed");
    }

    #[test]
    fn a_run_that_still_runs_is_never_removed() {
        let runs = directory_for("running");
        let first = Begun::new(&runs, Note::default()).expect("it begins");
        for number in 2..2 * KEPT {
            fs::create_dir(runs.join(number.to_string())).expect("it is made");
        }
        let last = Begun::new(&runs, Note::default()).expect("it begins");
        assert!(numbers(&runs).contains(&first.run.number) && numbers(&runs).len() == KEPT + 1);
        drop((first, last));
        fs::remove_dir_all(runs).expect("it is removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_note_or_a_lock_that_is_a_pipe_is_not_awaited() {
        let runs = directory_for("pipes");
        fs::create_dir_all(runs.join("1")).expect("there is room");
        for pipe in [runs.join("1").join(NOTE), runs.join("1.lock"), runs.join("2.lock")] {
            let made = std::process::Command::new("mkfifo").arg(pipe).status();
            assert!(made.expect("every Unix has it").success());
        }
        let listed = list(&runs);
        assert_eq!(
            (listed.len(), listed[0].is_running(), &listed[0].note),
            (1, false, &Note::default())
        );
        assert_eq!(Begun::new(&runs, Note::default()).expect("it begins").run.number, 2);
        fs::remove_dir_all(runs).expect("it is removed");
    }
}
