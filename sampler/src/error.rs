//! Errors of a sampler. Each message states the cause and the remedy.

use std::fmt;
use std::io;

/// Reason for which a target cannot be sampled.
#[derive(Debug)]
#[non_exhaustive]
pub enum SampleError {
    /// The system forbids sampling to this user; the number is `kernel.perf_event_paranoid`, if it
    /// is known.
    NotPermitted(Option<i32>),
    /// The kernel has no software clock to sample by, or this system has none.
    NotSupported,
    /// The process belongs to another user.
    OtherUser {
        /// Number of the process.
        pid: u32,
        /// Number of the user who owns the process.
        user: u32,
    },
    /// The process lets only root observe it.
    Protected(u32),
    /// Perf events are not available for this, and the program contains no part of metaspy that
    /// could use signals.
    NotInProgram,
    /// The list of online processors could not be read.
    NoProcessor,
    /// The kernel refused the memory for a ring of records.
    Ring(io::Error),
    /// The process has more threads than files may be open.
    TooManyThreads,
    /// The thread or process does not exist.
    Gone,
    /// There is no process with this number.
    NoProcess(u32),
    /// The program could not be started.
    Start(String, io::Error),
    /// A system call failed for another reason.
    System(io::Error),
}

impl SampleError {
    /// Converts the error of a refused event.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_open(error: io::Error) -> SampleError {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => SampleError::NotPermitted(paranoid()),
            Some(libc::ENOENT | libc::ENOSYS | libc::EOPNOTSUPP | libc::ENODEV) => {
                SampleError::NotSupported
            }
            Some(libc::ESRCH) => SampleError::Gone,
            Some(libc::EMFILE | libc::ENFILE) => SampleError::TooManyThreads,
            _ => SampleError::System(error),
        }
    }

    /// Returns the reason for which a process forbids sampling, or `None` if the process itself
    /// permits it.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_process(pid: u32) -> Option<SampleError> {
        use std::os::unix::fs::MetadataExt;
        let user = *users("self")?.first()?;
        if let Some(&other) = users(&pid.to_string())?.iter().find(|&&other| other != user) {
            return Some(SampleError::OtherUser { pid, user: other });
        }
        // If a process cannot be observed, its files in `/proc` belong to root.
        let is_root_s = std::fs::metadata(format!("/proc/{pid}/maps")).ok()?.uid() != user;
        is_root_s.then_some(SampleError::Protected(pid))
    }
}

/// Returns the real, effective and saved user of a process.
#[cfg(target_os = "linux")]
fn users(process: &str) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    Some(users.split_whitespace().take(3).filter_map(|user| user.parse().ok()).collect())
}

/// Reads `kernel.perf_event_paranoid`, which selects the users who may sample.
#[cfg(target_os = "linux")]
fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleError::NotPermitted(Some(level @ 3..)) => write!(
                f,
                "the kernel refuses to sample: kernel.perf_event_paranoid is {level}. Set it to 2 \
                 (`sudo sysctl kernel.perf_event_paranoid=2`), or run this command as root. A program with \
                 metaspy's feature `sample` is sampled without it"
            ),
            SampleError::NotPermitted(_) => f.write_str(
                "the kernel refuses to sample, as a container does that forbids the system call: run this command as root, \
                 and start the container with `--cap-add PERFMON` and a \
                 seccomp profile that permits `perf_event_open`. A program with metaspy's feature `sample` is sampled \
                 without it",
            ),
            SampleError::OtherUser { pid, user } => write!(
                f,
                "process {pid} belongs to another user, whose number is {user}: run this command as that user or as root"
            ),
            SampleError::Protected(pid) => write!(
                f,
                "process {pid} lets only root observe it, because its program changes its user, has capabilities or asked for \
                 it: run this command as root"
            ),
            SampleError::NotSupported => f.write_str(
                "this system has no perf events to sample by. Sampling needs Linux on x86-64 or 64-bit ARM, with \
                 CONFIG_PERF_EVENTS in its kernel",
            ),
            SampleError::NotInProgram => f.write_str(
                "timers sample only programs that contain them, from their start: depend on `metaspy` with the feature \
                 `sample`, and start the program with `metaspy sample -- CMD`",
            ),
            SampleError::NoProcessor => f.write_str(
                "the processors are not known, because /sys/devices/system/cpu/online cannot be read: mount /sys",
            ),
            SampleError::Ring(error) => write!(
                f,
                "the kernel gives no room for samples: {error}. Raise kernel.perf_event_mlock_kb \
                 (`sudo sysctl kernel.perf_event_mlock_kb=2048`), or end other samplers"
            ),
            SampleError::TooManyThreads => f.write_str(
                "the process has more threads than files may be open: raise the limit (`ulimit -n 65536`), or start the \
                 program with `metaspy sample -- CMD`, which needs one file for each processor",
            ),
            SampleError::Gone => f.write_str("the process has ended: start it with `metaspy sample -- CMD`"),
            SampleError::NoProcess(pid) => write!(f, "there is no process {pid}: `ps -e` lists them"),
            SampleError::Start(program, error) => match error.kind() {
                io::ErrorKind::NotFound => {
                    write!(f, "there is no program {program}: write its path, or the name of one in PATH")
                }
                _ => write!(f, "{program} does not start: {error}"),
            },
            SampleError::System(error) => write!(f, "the kernel refuses to sample: {error}"),
        }
    }
}

impl std::error::Error for SampleError {}
