//! Location of the `perf` map in which a process lists the code that it makes.
//!
//! The file is `/tmp/perf-PID.map`. A process in a container has its own number and its own
//! directory, and both differ from those that this process sees.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::code_file::Directory;

/// Location of a process's map: its directory and its number in its own namespace.
#[derive(Clone, Debug)]
pub struct PerfMap {
    directory: Directory,
    pid: u32,
}

impl PerfMap {
    /// Locates the map of a running process. The directory stays open if this process sees another
    /// directory at its path.
    pub(crate) fn of_running(pid: u32) -> PerfMap {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let theirs = format!("/proc/{pid}/root/tmp");
        let number = |path: &str| fs::metadata(path).ok().map(|of| (of.dev(), of.ino()));
        let is_ours = number(&theirs) == number("/tmp");
        let directory = if is_ours { None } else { Directory::open(Path::new(&theirs)) };
        PerfMap {
            directory: directory.unwrap_or_default(),
            pid: own_number(&status).unwrap_or(pid),
        }
    }

    /// Locates the map of a process that has ended, from its number alone.
    pub fn of(pid: u32) -> PerfMap {
        PerfMap { directory: Directory::default(), pid }
    }

    /// Returns a path to the map that this process can open.
    pub fn path(&self) -> PathBuf {
        self.directory.path("/tmp").join(self.name())
    }

    /// Returns the file name, `perf-PID.map`.
    pub fn name(&self) -> String {
        format!("perf-{}.map", self.pid)
    }
}

/// Returns the number of a process in its own namespace: the last number of `NSpid`.
fn own_number(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_innermost_namespace() {
        assert_eq!(own_number("Name:\tapp\nNSpid:\t4711\t12\t1\nThreads:\t1\n"), Some(1));
        assert_eq!(own_number("NSpid:\t4711\n"), Some(4711));
        assert_eq!(own_number("Name:\tapp\n"), None);
        let own = PerfMap::of_running(std::process::id());
        assert_eq!(own.path(), Path::new("/tmp").join(own.name()));
    }
}
