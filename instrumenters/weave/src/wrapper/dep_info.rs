//! What cargo is told that a crate was made of: the originals, so that an edit of one makes it compile the crate again.

use std::path::Path;
use std::{fs, io};

use crate::wrapper::arguments::Arguments;

/// Names the originals where the compiler named their copies.
pub fn name_originals(arguments: &Arguments, mirror: &Path) -> io::Result<()> {
    let Some(dir) = arguments.out_dir() else { return Ok(()) };
    let path = dir.join(format!("{}.d", arguments.results()));
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    // Their paths are those of the originals, behind that of the mirror.
    let mirror = mirror.display().to_string();
    fs::write(path, text.replace(&mirror.replace(' ', "\\ "), "").replace(&mirror, ""))
}
