//! Processes by their numbers.

/// Returns the start of a process, in clock ticks since boot; `None` if the process is gone. It
/// distinguishes processes with the same number.
pub fn start_of(pid: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain any character, so the fields are counted from its
        // end.
        let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
        let state = fields.next()?;
        let start = fields.nth(18)?.parse().ok()?;
        (state != "Z" && state != "X").then_some(start)
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    {
        // SAFETY: signal 0 sends nothing. The call only checks that the process exists.
        let answer = unsafe { libc::kill(pid as libc::pid_t, 0) };
        (answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM))
            .then_some(0)
    }
    #[cfg(not(unix))]
    {
        (pid == std::process::id()).then_some(0)
    }
}
