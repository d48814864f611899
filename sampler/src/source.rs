//! Source files of a sampled program.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a source file that are read at most.
const BYTES_MAX: u64 = 8 << 20;

/// Source files, each read once.
#[derive(Default)]
pub struct Sources(HashMap<String, Vec<String>>);

impl Sources {
    /// A line of a file, counted from 1; `None` if it cannot be read.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| read(file));
        lines.get((line as usize).wrapping_sub(1)).map(String::as_str)
    }
}

/// The lines of a source file. The name comes from the sampled program, so only a plain file is read, and not all of a
/// large one.
fn read(file: &str) -> Vec<String> {
    if !Path::new(file).is_file() {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    let _ = File::open(file).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).lines().map(|line| line.replace('\t', "    ")).collect()
}
