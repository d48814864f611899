//! The programs of a run that started without the environment of the run.
//!
//! A test may clear the environment of a program that it starts, and then nothing tells the program
//! to record. It leaves its name in a directory beside the directories that it was built into.
//! `cargo metaspy` makes this directory, and reports the names, because the counts of the run lack
//! the calls of these programs.
//!
//! Programs that were built are not compared with those that recorded, because a program that
//! nothing started records nothing either. No path is compiled in, because the cached core would
//! become one of each project. So the program looks for the directory in those that contain it.

use std::fs;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::platform::process;
use crate::site;

/// The directory in the target directory of `cargo metaspy`. Each program has a file in it, whose
/// content changes with every start.
pub const UNRECORDED: &str = "weave/unrecorded";
/// Directories between a program and the target directory at most: `TRIPLE/debug/deps`.
const DEPTH: usize = 3;

/// Leaves the name of this program, unless it has no sites or its directory was not made.
pub fn leave_name() {
    if site::linked_sites().next().is_none() {
        return;
    }
    let program = process::program();
    let Some(name) = program.file_name() else { return };
    let targets = program.ancestors().skip(1).take(DEPTH + 1);
    if let Some(dir) = targets.map(|target| target.join(UNRECORDED)).find(|dir| dir.is_dir()) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let file = dir.join(name);
        // Whatever has this name: a pipe would stop the program, and a link would lead to another
        // file.
        let _ = fs::remove_file(&file);
        let start = format!("{} {}", std::process::id(), since.as_nanos());
        // The program runs as well where it may not write.
        let _ = fs::File::create_new(file).and_then(|mut file| file.write_all(start.as_bytes()));
    }
}
