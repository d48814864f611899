//! Whether a process lives on by metaspy's own threads alone.
//!
//! A program may end its main thread, and with it all that it waits for: the process then ends with
//! its last thread. A thread of metaspy's that waited for more events would keep it for ever.

#[cfg(target_os = "linux")]
use std::fs::File;

/// The state of the main thread, as the system reports it.
pub(crate) struct MainThread {
    /// Opened at the start: a filter of system calls, which a program may set later, often allows
    /// no more than to read.
    #[cfg(target_os = "linux")]
    state: Option<File>,
}

#[cfg(target_os = "linux")]
impl MainThread {
    pub fn watch() -> Self {
        let process = std::process::id();
        MainThread { state: File::open(format!("/proc/self/task/{process}/stat")).ok() }
    }

    /// True if the main thread has ended, and all others are metaspy's.
    pub fn is_last(&self) -> bool {
        use std::os::unix::fs::FileExt;

        let mut text = [0; 512];
        let length =
            self.state.as_ref().and_then(|state| state.read_at(&mut text, 0).ok()).unwrap_or(0);
        // The name, which may have any letters, is in parentheses.
        let state =
            text[..length].rsplit(|letter| *letter == b')').next().and_then(|rest| rest.get(1));
        state == Some(&b'Z') && has_own_threads_only()
    }
}

/// True if no thread but the main one has a name that is not metaspy's.
#[cfg(target_os = "linux")]
fn has_own_threads_only() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    let main = std::process::id().to_string();
    let mut others = tasks.flatten().filter(|task| task.file_name().to_str() != Some(&main));
    others.all(|task| {
        std::fs::read(task.path().join("comm")).is_ok_and(|name| name.starts_with(b"metaspy-"))
    })
}

#[cfg(not(target_os = "linux"))]
impl MainThread {
    pub fn watch() -> Self {
        MainThread {}
    }

    /// Not known on this system.
    pub fn is_last(&self) -> bool {
        false
    }
}
