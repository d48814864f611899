//! How a command ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// How a command ended, as its exit code tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is well, also with a recording whose process was killed.
    Fine,
    /// A condition failed, or the recording is damaged but could be read.
    Failed,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Fine => ExitCode::SUCCESS,
            Ended::Failed => ExitCode::from(1),
        }
    }
}

/// The exit code of an error: usage, or something that cannot be read.
pub const UNUSABLE: u8 = 2;

/// Somebody closed the pipe that we print into: they have seen enough.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe))
}

/// An error of a command: one sentence that says what to do next.
#[derive(Debug)]
pub struct Sentence(pub String);

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Sentence {}

/// An error from a sentence.
pub fn say(text: impl Into<String>) -> anyhow::Error {
    Sentence(text.into()).into()
}
