//! Programs that run for a call: started without a shell, and ended with their call.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::ToolError;
use crate::watch::{Watch, cancelled};

/// The time between two looks at a running program.
const INTERVAL: Duration = Duration::from_millis(20);
/// The time in which the rest of an output is read after the end of its program.
const REST: Duration = Duration::from_millis(500);

/// A program that runs for a call.
pub struct Child(process::Child);

/// How a program ended.
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output, or the end of it.
    pub out: Vec<u8>,
    /// Its standard error, or the end of it.
    pub error: Vec<u8>,
}

impl Child {
    /// Starts a program with these words, without a shell and without input.
    pub fn start(
        program: &OsStr,
        arguments: &[OsString],
        directory: &Path,
    ) -> Result<Child, ToolError> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // All that it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(|error| {
            ToolError::new(format!("cannot start {}: {error}", Path::new(program).display()))
        })?;
        Ok(Child(child))
    }

    /// Waits for its end, or ends it when the call is cancelled. `most` bytes of each output are
    /// kept.
    pub fn wait(mut self, most: usize, watch: &Watch) -> Result<Ended, ToolError> {
        let out = Tail::of(self.0.stdout.take(), most);
        let error = Tail::of(self.0.stderr.take(), most);
        let began = Instant::now();
        let status = loop {
            match self.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(error) => {
                    return Err(ToolError::new(format!("cannot wait for the program: {error}")));
                }
            }
            if !watch.tell(|| format!("running for {} s", began.elapsed().as_secs())) {
                // The end of this value ends the program.
                return Err(cancelled());
            }
            thread::sleep(INTERVAL);
        };
        // Programs that it left running may hold its outputs open, and are not waited for.
        Ok(Ended { code: status.code(), out: out.text(), error: error.text() })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            #[cfg(unix)]
            {
                let group = format!("-{}", self.0.id());
                let _ = Command::new("kill")
                    .args(["-KILL", "--", &group])
                    .stderr(Stdio::null())
                    .status();
            }
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// The end of an output, read on a thread of its own.
struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Tail {
    fn of(output: Option<impl Read + Send + 'static>, most: usize) -> Tail {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = bytes.clone();
        let read = move |mut output: Box<dyn Read + Send>| {
            let mut part = [0; 8192];
            loop {
                match output.read(&mut part) {
                    Ok(0) => return,
                    Ok(read) => {
                        let mut bytes = into.lock().unwrap_or_else(PoisonError::into_inner);
                        bytes.extend_from_slice(&part[..read]);
                        // In large steps, so that each byte moves twice at most.
                        if bytes.len() > 2 * most {
                            let rest = bytes.len() - most;
                            bytes.drain(..rest);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        };
        let thread = output.map(|output| thread::spawn(move || read(Box::new(output))));
        Tail { bytes, thread }
    }

    fn text(self) -> Vec<u8> {
        let began = Instant::now();
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
            && began.elapsed() < REST
        {
            thread::sleep(INTERVAL);
        }
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
