//! The ends of a command: exit codes and error messages.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use metaspy_report::text::{clean, file_name, print_message};

/// The result of a command that ran, which is its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Success, also with the recording of a killed process.
    Fine,
    /// A condition failed, or the recording is damaged but could be read.
    Failed,
}

impl Ended {
    /// The end of a command of which this is one part, and `other` another.
    pub fn and(self, other: Ended) -> Ended {
        if self == Ended::Fine { other } else { self }
    }
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Fine => ExitCode::SUCCESS,
            Ended::Failed => ExitCode::from(1),
        }
    }
}

/// The exit code of an error: wrong usage, or input that cannot be read.
pub const UNUSABLE: u8 = 2;

/// True if the reader of the output closed the pipe. That is not an error: it has read enough.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// An error message: one sentence that states what is wrong and what to do.
#[derive(Debug)]
pub struct Sentence(pub String);

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Sentence {}

/// Prints a message of a command on standard error.
pub fn complain(command: &str, message: &(impl fmt::Display + ?Sized)) {
    print_message(&format_args!("{command}: {message}"));
}

/// States each gate that cannot be decided. They are the error of the command, unless another gate
/// failed: a failure counts, whatever is missing elsewhere.
pub(crate) fn end_undecided(mut doubts: Vec<String>, has_failed: bool) -> anyhow::Result<()> {
    let last = if has_failed { None } else { doubts.pop() };
    doubts.iter().for_each(|doubt| complain("metaspy", doubt));
    last.map_or(Ok(()), |last| Err(say(last)))
}

/// The error of a file that cannot be written.
pub fn cannot_write(file: &Path) -> impl Fn(io::Error) -> anyhow::Error {
    move |error| {
        let directory = file
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let advice = match error.kind() {
            // The file is an input or a recording: the sentence has the advice.
            io::ErrorKind::InvalidInput => return say(format!("{}: {error}", file_name(file))),
            io::ErrorKind::NotFound => format!("run  mkdir -p {}  first", directory.display()),
            io::ErrorKind::ReadOnlyFilesystem => {
                "its file system is read-only: name a file in another one, such as below /tmp"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                format!(
                    "you may not create files in {}: name a file in a directory of your own",
                    directory.display()
                )
            }
            _ => "name a file in a directory that exists and has room".to_owned(),
        };
        anyhow::Error::new(error).context(format!(
            "cannot write {}: {}",
            file_name(file),
            clean(&advice)
        ))
    }
}

/// An error with this message.
pub fn say(text: impl Into<String>) -> anyhow::Error {
    Sentence(text.into()).into()
}
