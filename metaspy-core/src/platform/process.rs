//! Who this process and this thread are.

use std::path::PathBuf;

/// The number that the system gives this thread.
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

/// When a process started, in clock ticks since boot; `None` if it is gone. Tells a reused number apart.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain anything: count the fields from behind its end.
        let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
        let state = fields.next()?;
        let start = fields.nth(18)?.parse().ok()?;
        (state != "Z" && state != "X").then_some(start)
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    {
        // SAFETY: signal 0 sends nothing; it only asks whether the process exists.
        let answer = unsafe { libc::kill(pid as libc::pid_t, 0) };
        (answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)).then_some(0)
    }
    #[cfg(not(unix))]
    {
        (pid == std::process::id()).then_some(0)
    }
}

/// What tells this run of the machine from others; empty where the system does not say.
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

/// Whether the program runs with rights that its user does not have: such a program does not record.
pub(crate) fn is_privileged() -> bool {
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

/// The user's number; 0 where there are none.
pub(crate) fn user() -> u32 {
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
pub(crate) fn program() -> PathBuf {
    std::env::current_exe().unwrap_or_default()
}
