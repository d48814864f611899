//! Where a process writes the map of the code that it makes: `/tmp/perf-PID.map`, with the number and the directory that it
//! has itself. In a container both differ from those of this process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::code_file::Directory;

/// The place of a map.
#[derive(Clone, Debug)]
pub struct PerfMap {
    directory: Directory,
    pid: u32,
}

impl PerfMap {
    /// That of a process which runs. Its directory stays open if it is another one than that of this process.
    pub fn of_running(pid: u32) -> PerfMap {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let theirs = format!("/proc/{pid}/root/tmp");
        let number = |path: &str| fs::metadata(path).ok().map(|of| (of.dev(), of.ino()));
        let is_ours = number(&theirs) == number("/tmp");
        let directory = if is_ours { None } else { Directory::open(Path::new(&theirs)) };
        PerfMap { directory: directory.unwrap_or_default(), pid: own_number(&status).unwrap_or(pid) }
    }

    /// That of a process about which nothing else is known.
    pub fn of(pid: u32) -> PerfMap {
        PerfMap { directory: Directory::default(), pid }
    }

    /// The path of the file, for this process.
    pub fn path(&self) -> PathBuf {
        self.directory.path("/tmp").join(self.name())
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        format!("perf-{}.map", self.pid)
    }
}

/// The number that a process has in its own namespace: the last one of its `NSpid`.
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
