//! Errors of merging recordings.

use std::fmt;
use std::io;

use crate::debug_as_message;
use crate::text::clean;

/// Reason why recordings cannot be merged.
#[non_exhaustive]
pub enum MergeError {
    /// No recording is given.
    Nothing,
    /// A recording is given twice.
    Twice(String, String),
    /// There are more sites, kinds or other numbered things than a recording can hold.
    TooMany(&'static str),
    /// There is no room for the merged recording.
    Room(io::Error),
    /// The watcher of the copy stopped it.
    Stopped,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => f.write_str("there is no recording to read: give at least one"),
            MergeError::Twice(first, second) => {
                write!(
                    f,
                    "{} and {} are the same recording: give each once",
                    clean(first),
                    clean(second)
                )
            }
            MergeError::TooMany(what) => {
                write!(
                    f,
                    "together they have more {what} than a recording can hold: give fewer recordings"
                )
            }
            MergeError::Room(error) => write!(
                f,
                "there is no room to read them as one ({error}): make room in the temporary directory, or set TMPDIR"
            ),
            MergeError::Stopped => f.write_str("the copy was stopped"),
        }
    }
}

debug_as_message!(MergeError);

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MergeError::Room(error) => Some(error),
            _ => None,
        }
    }
}
