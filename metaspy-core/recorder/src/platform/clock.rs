//! The clocks of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time stamp counter. Zero on machines without one: check `has_counter` first.
#[inline(always)]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reading the time stamp counter touches no memory, and every x86-64 processor has it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// True if the counter runs at one rate on all cores. The test is that the kernel uses it as its
/// own clock.
pub(crate) fn has_counter() -> bool {
    cfg!(all(target_arch = "x86_64", target_os = "linux"))
        && std::fs::read_to_string(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
        .is_ok_and(|source| source.trim() == "tsc")
}

/// The monotonic clock in ns, from an arbitrary origin.
#[inline]
pub fn monotonic_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        clock_ns(libc::CLOCK_MONOTONIC)
    }
    #[cfg(not(target_os = "linux"))]
    {
        static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        ORIGIN.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
    }
}

/// Time since boot in ns, suspends included. The monotonic clock on systems without one.
pub(crate) fn boot_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        clock_ns(libc::CLOCK_BOOTTIME)
    }
    #[cfg(not(target_os = "linux"))]
    {
        monotonic_ns()
    }
}

/// ns since 1970.
pub(crate) fn real_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(target_os = "linux")]
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the `timespec` that we own; both clocks exist on every Linux that
    // Rust supports.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
