//! The files of a process that runs, as that process sees them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use metaspy_reader::files;

use crate::code_file::Missing;
use crate::linux::collect::process::{self, mapping};
use crate::linux::perf::record::Map;

/// What the kernel writes behind the path of a file that has none any more.
const REMOVED: &[u8] = b" (deleted)";

/// Opens the file that a process maps. The kernel's links to the mapping and to the program lead to it in every case, but
/// need rights or a process that lives; then comes its path, as the process sees it and as this one does.
///
/// # Errors
///
/// If none of them leads to this file.
pub fn open(map: &Map, path: &Path) -> Result<File, Missing> {
    let pid = map.pid;
    let links = [link(map), PathBuf::from(format!("/proc/{pid}/exe"))];
    let paths = [in_root(pid, path), path.to_owned()];
    let mut missing = Missing::Removed;
    for path in paths.iter().rev() {
        match fs::metadata(path) {
            Ok(_) => missing = Missing::Replaced,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => missing = Missing::Refused,
            Err(_) => {}
        }
    }
    for path in links.into_iter().chain(paths) {
        match files::open(&path) {
            Ok(file) if is_mapped(&file, map) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_of(&path, map) => {
                missing = Missing::Refused;
            }
            _ => {}
        }
    }
    // The mapping may have become smaller.
    let is_same = |other: &Map| other.inode == map.inode && other.device == map.device;
    let other = process::mappings(pid).into_iter().find(is_same);
    other.and_then(|other| files::open(&link(&other)).ok()).filter(|file| is_mapped(file, map)).ok_or(missing)
}

/// The kernel's link to the file of a mapping.
fn link(map: &Map) -> PathBuf {
    let end = map.start.saturating_add(map.length);
    PathBuf::from(format!("/proc/{}/map_files/{:x}-{end:x}", map.pid, map.start))
}

/// The path of a mapping without the mark of a file that was removed.
pub fn unmarked(map: &Map) -> PathBuf {
    let path = without_mark(&map.path);
    // A file may have such a name.
    if path != map.path && is_of(&in_root(map.pid, &map.path), map) { map.path.clone() } else { path }
}

/// A path without the mark, if it has one.
pub fn without_mark(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(REMOVED).unwrap_or(bytes)))
}

/// The path of a file of a process, for this one.
pub fn in_root(pid: u32, path: &Path) -> PathBuf {
    Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path))
}

/// True if the file at a path has the mapping's number.
fn is_of(path: &Path, map: &Map) -> bool {
    fs::metadata(path).is_ok_and(|now| now.ino() == map.inode)
}

/// True if this is the file of a mapping. File systems in layers have numbers for mappings that differ from those of their
/// files, so a file with others is mapped here to compare.
fn is_mapped(file: &File, map: &Map) -> bool {
    let is_same = |device, inode| inode == map.inode && device == map.device;
    file.metadata().is_ok_and(|of| is_same(of.dev(), of.ino()))
        || own_mapping(file).is_some_and(|own| is_same(own.device, own.inode))
}

/// A mapping of a file into this process, as the kernel describes it.
fn own_mapping(file: &File) -> Option<Map> {
    // SAFETY: nothing reads the mapping, so no other process can change what is read.
    let mapped = unsafe { Mmap::map(file) }.ok()?;
    let start = mapped.as_ptr() as u64;
    let maps = fs::read("/proc/self/maps").ok()?;
    let maps = String::from_utf8_lossy(&maps);
    maps.lines().filter_map(|line| mapping(0, line)).find(|map| map.start <= start && start - map.start < map.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_the_mapped_one_is_not_opened() {
        let own = std::env::current_exe().expect("a program has a path");
        let is_own = |map: &Map| map.is_code && map.path == own;
        let maps = crate::linux::collect::process::mappings(std::process::id());
        let map = maps.into_iter().find(is_own).expect("its code is mapped");
        assert!(open(&map, &own).is_ok());
        // The process has ended, and its path leads to another file, or to none.
        let ended = Map { pid: u32::MAX, inode: map.inode ^ 1, ..map };
        assert_eq!(open(&ended, &own).err(), Some(Missing::Replaced));
        assert_eq!(open(&ended, Path::new("/no/such/file")).err(), Some(Missing::Removed));
        assert!(open(&Map { inode: ended.inode ^ 1, ..ended }, &own).is_ok());
    }

    #[test]
    fn the_mark_of_a_removed_file_is_no_part_of_its_path() {
        assert_eq!(without_mark(Path::new("/a/b (deleted)")), Path::new("/a/b"));
        assert_eq!(without_mark(Path::new("/a/b")), Path::new("/a/b"));
    }
}
