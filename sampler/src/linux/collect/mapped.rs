//! Files that a running process maps, opened as that process sees them.

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

/// Suffix that the kernel appends to the path of a removed file.
const REMOVED: &[u8] = b" (deleted)";

/// Opens the file that a process maps.
///
/// The kernel's links to the mapping and to the program lead to the file in every case, but need
/// rights or a living process. The next attempts are its path as the process sees it, and its path
/// as this process sees it.
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
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                missing = Missing::Refused
            }
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
    // The mapping may have become smaller since it was recorded.
    let other = process::mappings(pid)
        .into_iter()
        .find(|other| other.inode == map.inode && other.device == map.device);
    other
        .and_then(|other| files::open(&link(&other)).ok())
        .filter(|file| is_mapped(file, map))
        .ok_or(missing)
}

/// Path of the kernel's link to the file of a mapping.
fn link(map: &Map) -> PathBuf {
    let end = map.start.saturating_add(map.length);
    PathBuf::from(format!("/proc/{}/map_files/{:x}-{end:x}", map.pid, map.start))
}

/// Returns the path of a mapping without the suffix of removed files.
pub fn unmarked(map: &Map) -> PathBuf {
    let path = without_mark(&map.path);
    // The suffix may be a part of the file's real name.
    if path != map.path && is_of(&in_root(map.pid, &map.path), map) {
        map.path.clone()
    } else {
        path
    }
}

/// Removes the suffix of removed files from a path.
pub(crate) fn without_mark(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(REMOVED).unwrap_or(bytes)))
}

/// Converts a path of another process to a path that this process can open.
pub(crate) fn in_root(pid: u32, path: &Path) -> PathBuf {
    Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path))
}

/// Returns true if the file at a path has the device and the inode of the mapping.
fn is_of(path: &Path, map: &Map) -> bool {
    fs::metadata(path).is_ok_and(|now| now.ino() == map.inode)
}

/// Returns true if this is the file of a mapping.
///
/// File systems in layers have numbers for mappings that differ from those of their files, so a
/// file with other numbers is mapped into this process to compare.
fn is_mapped(file: &File, map: &Map) -> bool {
    let is_same = |device, inode| inode == map.inode && device == map.device;
    file.metadata().is_ok_and(|of| is_same(of.dev(), of.ino()))
        || own_mapping(file).is_some_and(|own| is_same(own.device, own.inode))
}

/// Maps a file into this process, and returns the kernel's description of the mapping.
fn own_mapping(file: &File) -> Option<Map> {
    // SAFETY: nothing reads the mapping, so no reader sees a change by another process.
    let mapped = unsafe { Mmap::map(file) }.ok()?;
    let start = mapped.as_ptr() as u64;
    let maps = fs::read("/proc/self/maps").ok()?;
    let maps = String::from_utf8_lossy(&maps);
    maps.lines()
        .filter_map(|line| mapping(0, line))
        .find(|map| map.start <= start && start - map.start < map.length)
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
        // The process has ended, and its path leads to another file or nowhere.
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
