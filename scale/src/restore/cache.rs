//! Cache of restored recordings, and its bound.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

/// Maximum number of bytes that the cache keeps on the disk.
const MOST: u64 = 8 << 30;
/// Time after its last use in which a recording stays: its reader may be about to open it.
const IN_USE: Duration = Duration::from_secs(60 * 60);

/// Returns the directory of the cache.
pub fn directory() -> Result<PathBuf> {
    let of =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    Ok(cache.context("there is no HOME: name a directory by --to")?.join("metaspy/restored"))
}

/// Marks a recording of the cache as used now.
pub fn mark_used(recording: &Path) -> Result<()> {
    File::open(recording)?.set_modified(SystemTime::now())?;
    Ok(())
}

/// Removes recordings until the others take at most 8 GiB, the longest unused first. Recordings
/// that were used in the last hour stay.
pub fn trim(cache: &Path) -> Result<()> {
    trim_to(cache, MOST)
}

fn trim_to(cache: &Path, most: u64) -> Result<()> {
    let mut recordings = Vec::new();
    find(cache, &mut recordings)?;
    recordings.sort();
    let mut bytes: u64 = recordings.iter().map(|(_, bytes, _)| bytes).sum();
    for (used, of_recording, path) in recordings {
        let is_in_use = used.elapsed().is_ok_and(|age| age < IN_USE);
        if bytes <= most || is_in_use {
            break;
        }
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        bytes -= of_recording;
        // The removal fails for a directory that holds other files, and the directory stays.
        path.ancestors().skip(1).take_while(|it| *it != cache).try_for_each(fs::remove_dir).ok();
    }
    Ok(())
}

/// Finds the files below a directory, with the times of their last use, their bytes and their
/// paths.
fn find(directory: &Path, files: &mut Vec<(SystemTime, u64, PathBuf)>) -> Result<()> {
    for entry in
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?
    {
        let entry = entry?;
        // Another command may have removed the file.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            find(&entry.path(), files)?
        } else {
            // Zeros of a restored recording take no room.
            files.push((metadata.modified()?, metadata.blocks() * 512, entry.path()))
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_recordings_go_first_and_used_ones_stay() {
        let cache = std::env::temp_dir().join(format!("metaspy-restored-{}", std::process::id()));
        let hour = Duration::from_secs(60 * 60);
        let now = SystemTime::now();
        for (name, hours) in
            [("a/old.spy", 9), ("a/older.spy", 10), ("b/oldest.spy", 11), ("b/used.spy", 12)]
        {
            let path = cache.join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
            fs::write(&path, vec![1; 1 << 16]).expect("there is room");
            File::open(&path)
                .expect("it is there")
                .set_modified(now - hours * hour)
                .expect("it is ours");
        }
        mark_used(&cache.join("b/used.spy")).expect("it is ours");
        let left = |most| {
            trim_to(&cache, most).expect("it is ours");
            let mut files = Vec::new();
            find(&cache, &mut files).expect("it is ours");
            files.sort();
            files
                .into_iter()
                .map(|(_, _, path)| path.file_stem().expect("a name").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(left(1 << 30), ["oldest", "older", "old", "used"]);
        assert_eq!(left(3 << 16), ["older", "old", "used"]);
        assert_eq!(left(0), ["used"]);
        assert!(!cache.join("a").exists() && cache.join("b").exists());
        fs::remove_dir_all(cache).expect("it is ours");
    }
}
