//! A ZIP archive of a few small files, which are stored without compression.

/// The date 1980-01-01: the format has no earlier one, and an archive of the same files has the same bytes.
const DATE: u16 = 1 << 5 | 1;
/// The version of the format that has directories.
const VERSION: u16 = 20;

/// Returns the archive of these files, each a path and its text.
pub fn of(files: &[(String, String)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let offset = long(archive.len());
        let (checksum, size) = (crc32fast::hash(text.as_bytes()).to_le_bytes(), long(text.len()));
        // No flags, no compression, midnight; no further field.
        let before = words([VERSION, 0, 0, 0, DATE]);
        let header = joined(&[&before, &checksum, &size, &size, &short(path.len()), &short(0)]);
        archive.extend(joined(&[b"PK\x03\x04", &header, path.as_bytes(), text.as_bytes()]));
        // No comment, the first disk, no attributes.
        let after = words([0; 5]);
        directory.extend(joined(&[b"PK\x01\x02", &words([VERSION]), &header, &after, &offset, path.as_bytes()]));
    }
    let (offset, size, number) = (long(archive.len()), long(directory.len()), short(files.len()));
    let end = joined(&[b"PK\x05\x06", &words([0, 0]), &number, &number, &size, &offset, &short(0)]);
    joined(&[&archive, &directory, &end])
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn words<const N: usize>(words: [u16; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("paths are short and files are few").to_le_bytes()
}

fn long(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("the files are small").to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_each_file_and_a_directory_of_them() {
        let archive = of(&[("a/b.txt".to_owned(), "123456789".to_owned()), ("c".to_owned(), String::new())]);
        // The check value of CRC-32.
        let first = [&0xcbf4_3926_u32.to_le_bytes()[..], &[9, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0], b"a/b.txt123456789"];
        assert_eq!(archive[14..][..32], first.concat());
        let (directory, end) = archive.split_at(archive.len() - 22);
        assert_eq!(end[..12], *b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
        let number = |at: usize| u32::from_le_bytes(end[at..][..4].try_into().expect("four bytes")) as usize;
        assert_eq!(number(12) + number(16), directory.len());
        assert_eq!(directory[number(16)..][..4], *b"PK\x01\x02");
        // The second file is where its entry states.
        assert_eq!(directory[directory.len() - 5..], [77 - 30 - 1, 0, 0, 0, b'c']);
        assert_eq!(archive[46..][..4], *b"PK\x03\x04");
    }
}
