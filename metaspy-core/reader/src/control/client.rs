//! Client side of arming: a request to the process of a live recording.

use std::fmt;
use std::path::Path;

use crate::control::{ControlRequest, SiteState};
use crate::store::Medium;
use crate::{EndState, Store, debug_as_message};

/// Reason why a request changed nothing. The message states the next step.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlError {
    /// The recording is not the file of a single running process.
    NotLive,
    /// The process does not allow arming from outside.
    NotAllowed {
        /// Number of the process.
        pid: u32,
    },
    /// The process does not answer, with the error of the system.
    NoAnswer(String),
    /// The process refuses, with its reason.
    Refused(String),
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::NotLive => {
                f.write_str("only a running process can be armed: use `metaspy attach`")
            }
            ControlError::NotAllowed { pid } => write!(
                f,
                "process {pid} does not allow it: start it with METASPY_CONTROL=1, or its recording with \
                 `.controlled(true)`"
            ),
            ControlError::NoAnswer(why) => {
                write!(f, "the process does not answer ({why}): try again")
            }
            ControlError::Refused(why) => f.write_str(why),
        }
    }
}

debug_as_message!(ControlError);

impl std::error::Error for ControlError {}

impl Store {
    /// Arms or disarms sites and subjects in the process that writes this recording, and returns
    /// the states of the sites. Blocks for at most some seconds.
    pub fn control(&self, request: &ControlRequest) -> Result<Vec<SiteState>, ControlError> {
        let Medium::File(path) = &self.medium else { return Err(ControlError::NotLive) };
        if self.end_state() != EndState::Live {
            return Err(ControlError::NotLive);
        }
        exchange(path, self.header().pid, request)
    }
}

#[cfg(unix)]
fn exchange(
    recording: &Path,
    pid: u32,
    request: &ControlRequest,
) -> Result<Vec<SiteState>, ControlError> {
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use crate::control::{ControlAnswer, MOST_BYTES, socket_of};

    /// Maximum time to wait. The collector of the process answers within a tenth of a second,
    /// unless the machine is overloaded.
    const PATIENCE: Duration = Duration::from_secs(5);

    let no_answer = |error: std::io::Error| ControlError::NoAnswer(error.to_string());
    let mut stream =
        UnixStream::connect(socket_of(recording)).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => ControlError::NotAllowed { pid },
            _ => no_answer(error),
        })?;
    let mut line =
        serde_json::to_vec(request).map_err(|error| ControlError::NoAnswer(error.to_string()))?;
    line.push(b'\n');
    stream.set_read_timeout(Some(PATIENCE)).map_err(no_answer)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(no_answer)?;
    stream.write_all(&line).map_err(no_answer)?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES as u64).read_to_end(&mut answer).map_err(no_answer)?;
    let answer: ControlAnswer = serde_json::from_slice(&answer)
        .map_err(|_| ControlError::NoAnswer("it closed the connection".into()))?;
    answer.map_err(ControlError::Refused)
}

#[cfg(not(unix))]
fn exchange(_: &Path, _: u32, _: &ControlRequest) -> Result<Vec<SiteState>, ControlError> {
    Err(ControlError::Refused(
        "this system has no Unix sockets, which arming from outside needs".into(),
    ))
}
