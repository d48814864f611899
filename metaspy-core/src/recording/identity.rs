//! Identifies recordings and builds of programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::format::superblock as sb;

/// The process of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub pid: u32,
    pub start: u64,
    /// True if it closed the recording.
    pub has_closed: bool,
}

/// True if a file starts like a recording.
pub fn is_recording(path: &Path) -> bool {
    File::open(path).is_ok_and(|mut file| writer_of(&mut file).is_some())
}

/// The process that made a recording. `None` if the file is no recording, or not yet.
pub(crate) fn writer_of(file: &mut File) -> Option<Writer> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).ok()?;
    let word = |at: usize| Some(u64::from_le_bytes(head.get(at * 8..at * 8 + 8)?.try_into().ok()?));
    let is_recording = word(sb::MAGIC)? == sb::MAGIC_WORD;
    let has_closed = word(sb::STATE)? == sb::STATE_CLOSED;
    is_recording.then_some(Writer { pid: word(sb::PID)? as u32, start: word(sb::PROCESS_START)?, has_closed })
}

/// Bytes from the beginning of a recording to the end of the words about its process.
const HEAD: u64 = 512;

/// The build id that the linker wrote into an ELF program, in hexadecimal; otherwise size and time of its file.
pub(crate) fn build_id(program: &Path) -> String {
    note_in(program).unwrap_or_else(|| {
        let Ok(meta) = std::fs::metadata(program) else { return String::new() };
        let changed = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{}-{}", meta.len(), changed.map_or(0, |since| since.as_secs()))
    })
}

/// The note `GNU` of type 3 in the first page of the file, where linkers write it.
fn note_in(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(program).ok()?.take(8192).read_to_end(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let mark = b"\x14\0\0\0\x03\0\0\0GNU\0";
    let at = head.windows(mark.len()).position(|bytes| bytes == mark)? + mark.len();
    Some(head.get(at..at + 20)?.iter().map(|byte| format!("{byte:02x}")).collect())
}
