//! System statistics of a process, for the trailer of a report, as in VMProfiler (*A detailed VM
//! profiler for the Cog VM*, figure 7: memory and events).

#[cfg(target_os = "linux")]
use std::{
    io,
    mem::MaybeUninit,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
};

use serde::Serialize;

/// System statistics of the processes of a run. A number that the system does not have is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Processor time in the program, in µs.
    pub user_us: u64,
    /// Processor time in the kernel, in µs.
    pub system_us: u64,
    /// Greatest resident memory, in bytes.
    pub resident_bytes: u64,
    /// Page faults without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// Context switches because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches because a thread lost its processor to another thread.
    pub involuntary_switches: u64,
}

impl Statistics {
    /// Waits for the end of a child. The statistics include the children that it waited for.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_ended(child: &Child) -> io::Result<(ExitStatus, Statistics)> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        let mut status = 0;
        // SAFETY: the call fills both structures, and only this function waits for the child.
        while unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, usage.as_mut_ptr()) }
            < 0
        {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        // SAFETY: plain data, valid when it is all zero.
        let usage = unsafe { usage.assume_init() };
        Ok((ExitStatus::from_raw(status), Statistics::of_usage(&usage)))
    }

    #[cfg(target_os = "linux")]
    fn of_this_process() -> Statistics {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call fills the structure that it gets, which is plain data and valid when it
        // is all zero.
        Statistics::of_usage(&unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        })
    }

    #[cfg(target_os = "linux")]
    fn of_usage(usage: &libc::rusage) -> Statistics {
        let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Statistics {
            user_us: us(usage.ru_utime),
            system_us: us(usage.ru_stime),
            resident_bytes: usage.ru_maxrss as u64 * 1024,
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }

    /// Reads the statistics of a running process from `/proc`. Context switches are those of its
    /// living threads.
    #[cfg(target_os = "linux")]
    pub fn of_process(pid: u32) -> Statistics {
        if pid == std::process::id() {
            return Statistics::of_this_process();
        }
        let read =
            |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let stat = read("stat");
        let status = read("status");
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let tasks: Vec<String> = tasks
            .filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok())
            .collect();
        // The fields follow the name, which may contain any character: state, parent, …
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let number =
            |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        // A clock tick of this interface is 10 ms on every Linux.
        let us = |at: usize| number(at) * 10_000;
        let line = |status: &str, name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let of_threads = |name: &str| tasks.iter().filter_map(|status| line(status, name)).sum();
        Statistics {
            user_us: us(11),
            system_us: us(12),
            resident_bytes: line(&status, "VmHWM:").unwrap_or(0) * 1024,
            minor_faults: number(7),
            major_faults: number(9),
            voluntary_switches: of_threads("voluntary_ctxt_switches:"),
            involuntary_switches: of_threads("nonvoluntary_ctxt_switches:"),
        }
    }

    /// Returns the processor time in the program and the kernel, in ns.
    pub fn processor_ns(&self) -> u64 {
        (self.user_us + self.system_us) * 1000
    }

    /// Returns the change since an earlier moment. The resident memory remains that of the whole
    /// life.
    pub fn since(&self, before: &Statistics) -> Statistics {
        Statistics {
            user_us: self.user_us.saturating_sub(before.user_us),
            system_us: self.system_us.saturating_sub(before.system_us),
            resident_bytes: self.resident_bytes.max(before.resident_bytes),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
        }
    }
}
