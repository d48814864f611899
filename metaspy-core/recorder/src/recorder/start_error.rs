//! Reasons why a recording cannot start, each with a remedy.

use std::path::PathBuf;
use std::{fmt, io};

use crate::recorder::keep::KeepError;
use crate::store::debug_as_message;
use crate::store::text::file_name;

/// An error at the start of a recording.
#[non_exhaustive]
pub enum StartError {
    /// The file cannot be made.
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no memory for the recording.
    Memory(io::Error),
    /// The program runs with rights that its user does not have.
    Privileged,
    /// The directory of live recordings cannot be trusted or made.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason for the refusal.
        why: String,
    },
    /// A rule that says which events are kept has an error.
    Keep(KeepError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::File { path, source } => write!(
                f,
                "cannot record to {}: {source}. Choose another path, make room, or use a smaller budget",
                file_name(path)
            ),
            StartError::Memory(source) => {
                write!(f, "no memory for a recording: {source}. Use a smaller budget")
            }
            StartError::Keep(error) => error.fmt(f),
            StartError::Privileged => {
                f.write_str("refusing to record in a set-uid program; start it as its owner")
            }
            StartError::Directory { path, why } => write!(
                f,
                "the directory for recordings, {}, cannot be used: {why}. Set METASPY_DIR to another one",
                file_name(path)
            ),
        }
    }
}

debug_as_message!(StartError);

// The message contains the system's error, so it is no source as well: whoever prints a chain would
// print it twice.
impl std::error::Error for StartError {}
