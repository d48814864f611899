//! Writes to recordings whose process has ended.

use std::fs::File;
use std::io;

/// Writes words at a byte of a recording. Errors are those of the file, and that this system cannot write at a place.
#[cfg(unix)]
pub fn write_words(file: &File, at: usize, words: &[u64]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write_all_at(&bytes, at as u64)
}

/// As above.
#[cfg(not(unix))]
pub fn write_words(_: &File, _: usize, _: &[u64]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
