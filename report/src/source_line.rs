//! Lines of the source, read from the files that a recording names.

use std::collections::HashMap;
use std::path::Path;

use metaspy_reader::{RecordedSite, files};

/// Bytes of a file that are read at most: later lines are not shown.
const BYTES: u64 = 4 << 20;
/// Bytes of all files together that are kept at most.
const ALL_BYTES: u64 = 256 << 20;
/// Characters of a line that are kept at most.
const CHARACTERS: usize = 400;

/// The line that a site begins in, if the file is here and is text.
///
/// The name comes from a recording, so it may be that of anything: only a plain file is opened, and
/// little of it read.
pub fn line(site: &RecordedSite) -> Option<String> {
    let bytes = files::read_beginning(Path::new(&site.file), BYTES).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').nth(site.lines.0.checked_sub(1)? as usize)?;
    let line = String::from_utf8_lossy(line).replace('\t', " ");
    let line: String = line.trim().chars().take(CHARACTERS).collect();
    (!line.is_empty()).then_some(line)
}

/// Source files, each read once.
pub struct SourceFiles {
    files: HashMap<String, Vec<String>>,
    /// Bytes that may still be kept.
    left: u64,
}

impl Default for SourceFiles {
    fn default() -> Self {
        SourceFiles { files: HashMap::new(), left: ALL_BYTES }
    }
}

impl SourceFiles {
    /// The lines of a file, with spaces for tabs; none if it cannot be read. The name comes from a
    /// recording, as in [`line()`].
    pub fn lines(&mut self, file: &str) -> &[String] {
        if !self.files.contains_key(file) {
            let bytes =
                files::read_beginning(Path::new(file), BYTES.min(self.left)).unwrap_or_default();
            self.left -= bytes.len() as u64;
            let lines = String::from_utf8_lossy(&bytes)
                .lines()
                .map(|line| line.replace('\t', "    "))
                .collect();
            self.files.insert(file.to_owned(), lines);
        }
        &self.files[file]
    }

    /// A line of a file, counted from 1.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        self.lines(file).get((line as usize).wrapping_sub(1)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use metaspy_probe::{SiteId, SiteKind};

    use super::*;

    fn site(file: &str, line: u32) -> RecordedSite {
        let kind = SiteKind::Production;
        let path = String::new();
        let facts = String::new();
        let lines = (line, line);
        RecordedSite {
            id: SiteId(1),
            kind,
            path,
            file: file.into(),
            lines,
            skipped: None,
            module: 0,
            facts,
        }
    }

    #[test]
    fn a_line_is_read_where_there_is_one() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/source_line.rs");
        let first = "//! Lines of the source, read from the files that a recording names.";
        assert_eq!(line(&site(file, 1)).as_deref(), Some(first));
        assert_eq!([0, 2, 1_000_000].map(|at| line(&site(file, at))), [None, None, None]);
        assert_eq!(
            ["", "/dev/zero", "/nowhere"].map(|file| line(&site(file, 1))),
            [None, None, None]
        );
    }
}
