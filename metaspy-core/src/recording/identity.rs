//! Identifies recordings and builds of programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::format::superblock as sb;

/// True if a file starts like a recording.
pub fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && u64::from_le_bytes(magic) == sb::MAGIC_WORD
}

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
