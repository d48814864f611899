//! What was written survives a loss of power.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

/// Waits until a file, or the names in a directory, are on the disk.
pub fn path(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .with_context(|| format!("cannot sync {}", path.display()))
}

/// Waits until the files of a directory and their names are on the disk.
pub fn files(directory: &Path) -> Result<()> {
    for entry in
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?
    {
        path(&entry?.path())?;
    }
    path(directory)
}

/// Creates a directory and those above it. The names of new ones are on the disk.
pub fn create_directories(directory: &Path) -> io::Result<()> {
    let new: Vec<&Path> = directory.ancestors().take_while(|it| !it.exists()).collect();
    fs::create_dir_all(directory)?;
    let above = new.iter().filter_map(|it| it.parent());
    let above = above.map(|it| if it.as_os_str().is_empty() { Path::new(".") } else { it });
    above.rev().try_for_each(|it| File::open(it)?.sync_all())
}
