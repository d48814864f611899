//! Identifies recordings and builds of programs.

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use metaspy_reader::files::input::open_unnoted;

use crate::format::superblock as sb;
use crate::platform::process;

/// The process of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub pid: u32,
    pub start: u64,
    /// True if it closed the recording.
    pub has_closed: bool,
    /// True if its rotation went on in another file.
    pub is_followed: bool,
}

/// True if a file starts like a recording.
pub fn is_recording(path: &Path) -> bool {
    open_unnoted(path).is_ok_and(|mut file| writer_of(&mut file).is_some())
}

/// The process that made a recording. `None` if the file is no recording, or not yet.
pub(crate) fn writer_of(file: &mut File) -> Option<Writer> {
    let head = Head::read(file)?;
    (head.magic == sb::MAGIC_WORD).then_some(head.writer)
}

/// The process that made a recording, or that [began](first_bytes) to.
fn maker_of(file: &mut File) -> Option<Writer> {
    let head = Head::read(file)?;
    let was_begun = head.magic == 0 && head.version == VERSION && head.writer.pid != 0;
    (head.magic == sb::MAGIC_WORD || was_begun).then_some(head.writer)
}

/// The version that this program writes.
const VERSION: u64 = sb::version(sb::MAJOR, sb::MINOR);

/// The first words of a file.
struct Head {
    magic: u64,
    version: u64,
    writer: Writer,
}

impl Head {
    fn read(file: &mut File) -> Option<Head> {
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head).ok()?;
        let word =
            |at: usize| Some(u64::from_le_bytes(head.get(at * 8..at * 8 + 8)?.try_into().ok()?));
        let has_closed = word(sb::STATE)? == sb::STATE_CLOSED;
        let is_followed = word(sb::FOLLOWED).is_some_and(|followed| followed != 0);
        let writer = Writer {
            pid: word(sb::PID)? as u32,
            start: word(sb::PROCESS_START)?,
            has_closed,
            is_followed,
        };
        Some(Head { magic: word(sb::MAGIC)?, version: word(sb::VERSION)?, writer })
    }
}

/// Returns the first bytes of a new file, to be written at once: the process that makes a recording
/// of it. If the process is killed before the file is a recording, the next process takes the file.
pub(crate) fn first_bytes() -> [u8; (sb::PROCESS_START + 1) * 8] {
    let pid = std::process::id();
    let words = [
        (sb::VERSION, VERSION),
        (sb::PID, pid.into()),
        (sb::PROCESS_START, process::start_of(pid).unwrap_or(0)),
    ];
    let mut bytes = [0; _];
    for (at, word) in words {
        bytes[at * 8..][..8].copy_from_slice(&u64::to_le_bytes(word));
    }
    bytes
}

/// Bytes from the beginning of a recording to the end of the words about its process.
const HEAD: u64 = 1024;
/// How often it is looked whether another process has written the first bytes.
const MOMENTS: usize = 20;
/// Why a recording is not replaced.
pub(crate) const BUSY: &str = "another process records there";

/// The path of a copy that takes the place of a file when it is closed.
pub(crate) fn copy_of(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".closing");
    path.into()
}

/// Removes a recording whose process has ended, also one that it only began, or that this process
/// has closed or replaces. Anything else stays, and is an error: a file that is no recording, also
/// an empty one, a recording that another process writes, and one that this process began as
/// another program, or that another copy of this library writes in it. `is_written` tells the files
/// of this process's logs.
pub(crate) fn remove_dead(path: &Path, is_written: impl Fn(&Metadata) -> bool) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let other = || {
        io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a file that is no recording exists at this path",
        )
    };
    if !found.is_file() {
        return Err(other());
    }
    let mut file = open_unnoted(path)?;
    await_first_bytes(&file, || std::thread::sleep(Duration::from_millis(1)));
    // The lock is held until the file is removed, so two processes do not remove each other's new
    // file.
    let is_locked = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    let writer = maker_of(&mut file);
    let is_busy = match writer {
        Some(Writer { pid, start, has_closed, .. }) if is_own(pid, start) => {
            !has_closed && !is_written(&found)
        }
        // A file system may have no locks.
        Some(Writer { pid, start, has_closed: false, .. }) => {
            is_locked || process::start_of(pid) == Some(start)
        }
        _ => is_locked,
    };
    match writer {
        _ if is_busy => Err(io::Error::new(io::ErrorKind::ResourceBusy, BUSY)),
        None => Err(other()),
        Some(_) => std::fs::remove_file(path),
    }
}

/// Waits while a file is empty, as one is that another process has made a moment ago; `wait` is
/// called some times at most.
fn await_first_bytes(file: &File, mut wait: impl FnMut()) {
    let is_empty = || file.metadata().is_ok_and(|metadata| metadata.len() == 0);
    (0..MOMENTS).take_while(|_| is_empty()).for_each(|_| wait());
}

/// True if this process has the number, and began at this time: numbers are used again, also in
/// other namespaces.
fn is_own(pid: u32, start: u64) -> bool {
    pid == std::process::id() && process::start_of(pid).unwrap_or(0) == start
}

/// The build id that the linker wrote into an ELF program, in hexadecimal; otherwise size and time
/// of its file.
pub(crate) fn build_id(program: &Path) -> String {
    note_in(program).unwrap_or_else(|| {
        let Ok(meta) = std::fs::metadata(program) else { return String::new() };
        let changed =
            meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{}-{}", meta.len(), changed.map_or(0, |since| since.as_secs()))
    })
}

/// The note `GNU` of type 3 in the first page of the file, where linkers write it.
fn note_in(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    open_unnoted(program).ok()?.take(8192).read_to_end(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let mark = b"\x14\0\0\0\x03\0\0\0GNU\0";
    let at = head.windows(mark.len()).position(|bytes| bytes == mark)? + mark.len();
    Some(head.get(at..at + 20)?.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_process_has_just_made_is_busy_once_it_has_its_first_bytes() {
        let path =
            std::env::temp_dir().join(format!("metaspy-test-moment-{}.spy", std::process::id()));
        std::fs::write(&path, "").expect("the file is ours");
        let file = File::open(&path).expect("it is there");
        let mut waits = 0;
        await_first_bytes(&file, || {
            waits += 1;
            if waits == 3 {
                std::fs::write(&path, first_bytes()).expect("the file is ours");
            }
        });
        assert_eq!(
            (waits, maker_of(&mut File::open(&path).expect("it is there")).map(|maker| maker.pid)),
            (3, Some(std::process::id()))
        );
        std::fs::write(&path, "").expect("the file is ours");
        await_first_bytes(&file, || waits += 1);
        assert_eq!(waits, 3 + MOMENTS);
        std::fs::remove_file(path).expect("the file is ours");
    }
}
