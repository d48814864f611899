//! Recordings of the programs, each made by a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use metaspy_benches::child::CHILD;

use crate::planted::Case;

/// The file of a case.
pub fn file(case: &Case, directory: &Path) -> PathBuf {
    directory.join(format!("{}.spy", case.title()))
}

/// Runs the program of a case in a process of its own, and returns the file with its recording.
pub fn record(case: &Case, directory: &Path) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let title = case.title();
    let file = file(case, directory);
    let mut command = Command::new(own);
    command.arg(CHILD).arg(&title).stdout(Stdio::null());
    // The ordinary way to record a program that installs no profiler.
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("METASPY_") {
            command.env_remove(variable);
        }
    }
    command.env("METASPY_RECORD", &file);
    if case.has_values() {
        command.env("METASPY_DETAILS", "1");
    }
    let status = command.status().map_err(|error| format!("{title} cannot start: {error}"))?;
    if status.success() { Ok(file) } else { Err(format!("{title} failed: {status}")) }
}
