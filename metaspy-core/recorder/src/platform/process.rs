//! The identity of this process and this thread.

use std::path::PathBuf;

pub use metaspy_reader::platform::process::start_of;

/// The thread's number in the system.
pub(crate) fn thread_id() -> u64 {
    #[cfg(target_os = "linux")]
    // SAFETY: the call has no arguments and cannot fail.
    unsafe {
        libc::syscall(libc::SYS_gettid) as u64
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

/// The thread's name, as long as it fits: on Linux the system has 15 bytes of it. It is read
/// without memory and without a lock, which the standard library needs.
pub(crate) fn thread_name() -> [u8; 32] {
    let mut name = [0; 32];
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the kernel writes at most 16 bytes, with a zero at the end.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        if thread_id() == u64::from(std::process::id()) {
            name = [0; 32];
            name[..4].copy_from_slice(b"main");
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let thread = std::thread::current();
        let text = thread.name().unwrap_or_default().as_bytes();
        let bytes = text.len().min(name.len());
        name[..bytes].copy_from_slice(&text[..bytes]);
    }
    name
}

/// An id of the machine's current boot; empty where the system has none.
pub(crate) fn boot_id() -> String {
    #[cfg(target_os = "linux")]
    {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    }
    #[cfg(not(target_os = "linux"))]
    {
        String::new()
    }
}

/// True in a set-uid program, which runs with more rights than its user has. Such a program does
/// not record.
pub fn is_privileged() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: reads a value that the kernel gave the process at its start.
    unsafe {
        libc::getauxval(libc::AT_SECURE) != 0
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

/// Bytes of the largest file that this process may write; a larger one ends it with a signal.
pub(crate) fn largest_file() -> u64 {
    #[cfg(unix)]
    {
        let mut limit =
            libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call writes into `limit` only.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
        limit.rlim_cur
    }
    #[cfg(not(unix))]
    {
        u64::MAX
    }
}

/// The user's number; 0 on systems without one.
pub fn user() -> u32 {
    #[cfg(unix)]
    // SAFETY: the call has no arguments and cannot fail.
    unsafe {
        libc::geteuid()
    }
    #[cfg(not(unix))]
    {
        0
    }
}

/// The program's own file.
pub fn program() -> PathBuf {
    std::env::current_exe().unwrap_or_default()
}
