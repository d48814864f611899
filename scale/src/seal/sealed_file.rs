//! [`SealedFile`]: a file of a partition, with checksums that a reader of a part of it can check.
//!
//! A file has a CRC-32 for each 32 KiB, which a store between the files and the engine compares. A
//! query for one subject reads a few pages, and for one checksum of the file it would have to read
//! the whole file.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a block, which has a checksum of its own.
const BLOCK: u64 = 32 << 10;
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;
/// Hexadecimal digits of the hash in a name: two contents never have one name.
const HASH_DIGITS: usize = 32;

/// A file of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedFile {
    /// Its length.
    pub bytes: u64,
    /// CRC-32 of each block, in one text.
    #[serde(
        rename = "crc32_of_32_kib",
        serialize_with = "to_text",
        deserialize_with = "from_text"
    )]
    checksums: Vec<u32>,
    /// Its name, which has the hash of its content: `events-….parquet`.
    pub name: String,
}

impl SealedFile {
    /// Reads a complete file of a directory, and gives it its name.
    pub fn seal(directory: &Path, plain_name: &str) -> Result<Self> {
        let path = directory.join(plain_name);
        let cannot = || format!("cannot read {}", path.display());
        let file = File::open(&path).with_context(cannot)?;
        let bytes = file.metadata().with_context(cannot)?.len();
        let mut hash = blake3::Hasher::new();
        let mut checksums = Vec::new();
        for_each_block(&file, bytes, |block| {
            hash.update(block);
            checksums.push(crc32fast::hash(block));
            Ok(())
        })
        .with_context(cannot)?;
        let (stem, extension) =
            plain_name.split_once('.').context("a file of a partition has an extension")?;
        let name = format!("{stem}-{}.{extension}", &hash.finalize().to_hex()[..HASH_DIGITS]);
        fs::rename(&path, directory.join(&name))
            .with_context(|| format!("cannot rename {}", path.display()))?;
        Ok(SealedFile { bytes, checksums, name })
    }

    /// The whole blocks in which some bytes are.
    pub fn blocks(&self, bytes: Range<u64>) -> Range<u64> {
        bytes.start / BLOCK * BLOCK..bytes.end.next_multiple_of(BLOCK).min(self.bytes)
    }

    /// Compares whole blocks, from a place on, with their checksums.
    pub fn check(&self, from: u64, blocks: &[u8]) -> Result<()> {
        let first = (from / BLOCK) as usize;
        for (block, at) in blocks.chunks(BLOCK as usize).zip(first..) {
            if self.checksums.get(at) != Some(&crc32fast::hash(block)) {
                bail!(
                    "its {} bytes from {} on differ from their checksum",
                    block.len(),
                    at as u64 * BLOCK
                );
            }
        }
        Ok(())
    }

    /// Compares a file with the length and all checksums.
    pub fn check_file(&self, file: &File) -> Result<()> {
        let found = file.metadata()?.len();
        if found != self.bytes {
            bail!("it has {found} bytes, and had {} when it was sealed", self.bytes);
        }
        let mut from = 0;
        for_each_block(file, self.bytes, |block| {
            self.check(from, block)?;
            from += BLOCK;
            Ok(())
        })
    }
}

/// Reads a file block by block.
fn for_each_block(
    file: &File,
    bytes: u64,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut block = vec![0; BLOCK as usize];
    for from in (0..bytes).step_by(BLOCK as usize) {
        let block = &mut block[..BLOCK.min(bytes - from) as usize];
        file.read_exact_at(block, from)?;
        each(block)?;
    }
    Ok(())
}

fn to_text<S: Serializer>(checksums: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let digits = checksums.iter().map(|checksum| format!("{checksum:0DIGITS$x}"));
    digits.collect::<String>().serialize(serializer)
}

fn from_text<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let number = |at: usize| u32::from_str_radix(text.get(at..at + DIGITS)?, 16).ok();
    let numbers = (0..text.len()).step_by(DIGITS).map(|at| number(at).ok_or(at));
    numbers
        .collect::<Result<_, _>>()
        .map_err(|at| serde::de::Error::custom(format!("there is no checksum at {at}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_other_length_is_found() {
        let directory =
            std::env::temp_dir().join(format!("metaspy-sealed-file-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room");
        let content: Vec<u8> = (0..3 * BLOCK + 7).map(|at| (at * at % 251) as u8).collect();
        fs::write(directory.join("rest.spy.zst"), &content).expect("there is room");
        let sealed = SealedFile::seal(&directory, "rest.spy.zst").expect("it is a file");
        assert!(
            sealed.name.starts_with("rest-") && sealed.name.ends_with(".spy.zst"),
            "{}",
            sealed.name
        );
        assert_eq!(sealed.blocks(1..BLOCK + 1), 0..2 * BLOCK);
        assert_eq!(sealed.blocks(3 * BLOCK..3 * BLOCK + 1), 3 * BLOCK..3 * BLOCK + 7);
        let text = serde_json::to_string(&sealed).expect("it is JSON");
        assert_eq!(serde_json::from_str::<SealedFile>(&text).expect("it is JSON"), sealed);
        let path = directory.join(&sealed.name);
        let check = |content: &[u8]| {
            fs::write(&path, content).expect("there is room");
            sealed.check_file(&File::open(&path).expect("it is there"))
        };
        check(&content).expect("nothing has changed");
        for at in [0, BLOCK - 1, BLOCK, 3 * BLOCK + 6] {
            let mut flipped = content.clone();
            flipped[at as usize] ^= 0x10;
            check(&flipped).expect_err("a bit has changed");
        }
        check(&content[1..]).expect_err("a byte is missing");
        check(&[&content[..], &[0]].concat()).expect_err("there is a byte more");
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
