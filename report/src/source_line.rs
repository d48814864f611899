//! A line of the source, read from the file that a recording names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use metaspy_core::store::RecordedSite;

/// Bytes of a file that are read at most: what stands further down is not shown.
const BYTES: u64 = 1 << 20;
/// Characters of a line that are kept at most.
const CHARACTERS: usize = 400;

/// The line that a site begins in, if the file is here and is text.
///
/// The name comes from a recording, so it may be that of anything: only a plain file is opened, and little of it read.
pub fn line(site: &RecordedSite) -> Option<String> {
    let path = Path::new(&site.file);
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').nth(site.lines.0.checked_sub(1)? as usize)?;
    let line = String::from_utf8_lossy(line).replace('\t', " ");
    let line: String = line.trim().chars().take(CHARACTERS).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use metaspy_core::{SiteId, SiteKind};

    use super::*;

    fn site(file: &str, line: u32) -> RecordedSite {
        let kind = SiteKind::Production;
        let (path, facts, lines) = (String::new(), String::new(), (line, line));
        RecordedSite { id: SiteId(1), kind, path, file: file.into(), lines, skipped: None, module: 0, facts }
    }

    #[test]
    fn a_line_is_read_where_there_is_one() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/source_line.rs");
        let first = "//! A line of the source, read from the file that a recording names.";
        assert_eq!(line(&site(file, 1)).as_deref(), Some(first));
        assert_eq!([0, 2, 1_000_000].map(|at| line(&site(file, at))), [None, None, None]);
        assert_eq!(["", "/dev/zero", "/nowhere"].map(|file| line(&site(file, 1))), [None, None, None]);
    }
}
