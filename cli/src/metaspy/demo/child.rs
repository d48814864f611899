//! The process that the story runs in: it ends when its guard is dropped.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use metaspy_core::Store;
use metaspy_reader::control::socket_of;

use crate::exit::say;
use crate::metaspy::arguments::STORY;
use crate::metaspy::live::{self, Listed};

/// How long the story may take to begin: a debug build parses slowly.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of its messages that are kept.
const MESSAGES: usize = 4096;

/// A running story. Dropping it ends its process and removes its recording.
pub struct StoryProcess {
    child: Child,
    messages: Arc<Mutex<Vec<u8>>>,
    recording: Option<Listed>,
}

impl StoryProcess {
    /// Starts the story in a process of its own, recording live.
    pub fn start(page: Option<&Path>) -> Result<StoryProcess> {
        let program = std::env::current_exe().context("this program's own file cannot be found")?;
        let mut command = Command::new(program);
        // A terminal that closes ends this process; the story is to notice that, and to tidy up.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .arg(STORY)
            .args(page)
            .env("METASPY_RECORD", "live")
            .env("METASPY_CONTROL", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("the story could not be started")?;
        let messages = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stderr) = child.stderr.take() {
            let messages = Arc::clone(&messages);
            // Its messages are read to the end, so that it never waits for a full pipe.
            std::thread::spawn(move || {
                let mut piece = [0; 512];
                while let Ok(read @ 1..) = stderr.read(&mut piece) {
                    let mut messages =
                        messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let room = MESSAGES.saturating_sub(messages.len());
                    messages.extend_from_slice(&piece[..read.min(room)]);
                }
            });
        }
        Ok(StoryProcess { child, messages, recording: None })
    }

    /// Waits for its recording to begin.
    pub fn recording(&mut self) -> Result<Store> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(say(format!(
                    "the story ended at once ({status}): {}",
                    self.messages()
                )));
            }
            let listed = live::list().into_iter().find(|listed| listed.pid == self.child.id());
            if let Some(listed) = listed
                && let Ok(store) = Store::open(&listed.path)
            {
                self.recording = Some(listed);
                return Ok(store);
            }
            if began.elapsed() > PATIENCE {
                return Err(say(format!(
                    "the story did not begin within {} s: {}",
                    PATIENCE.as_secs(),
                    self.messages()
                )));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn messages(&self) -> String {
        // Its last messages may not have arrived.
        std::thread::sleep(Duration::from_millis(50));
        let messages = self.messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        String::from_utf8_lossy(&messages).trim().trim_start_matches("metaspy: ").to_owned()
    }
}

impl Drop for StoryProcess {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            let _ = stdin.flush();
        }
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && began.elapsed() < Duration::from_secs(2)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        // It may have ended by itself just now; nothing is left to do then.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(recording) = &self.recording {
            let _ = std::fs::remove_file(&recording.path);
            let _ = std::fs::remove_file(socket_of(&recording.path));
        }
    }
}
