//! The clocks of the benches: the floor, and what a repetition took.

use std::ops::{Add, Div};
use std::time::{Duration, Instant};

/// What something took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// By the clock on the wall: what a user waits.
    pub wall: Duration,
    /// On the processor, for the calling thread: the same on a quiet machine, and still true on a
    /// busy one. Waiting for a disk is not in it.
    pub cpu: Duration,
}

impl Took {
    /// Times a closure.
    pub fn by<R>(f: impl FnOnce() -> R) -> (Took, R) {
        let wall = Instant::now();
        let cpu = thread_time();
        let value = f();
        (Took { wall: wall.elapsed(), cpu: thread_time().saturating_sub(cpu) }, value)
    }

    /// What each of `count` took, in ns.
    pub fn each(self, count: u64) -> Ns {
        let each = |all: Duration| all.as_nanos() as f64 / count as f64;
        Ns { wall: each(self.wall), cpu: each(self.cpu) }
    }
}

/// ns by both clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns {
    /// By the clock on the wall.
    pub wall: f64,
    /// On the processor.
    pub cpu: f64,
}

impl Add for Ns {
    type Output = Ns;
    fn add(self, other: Ns) -> Ns {
        Ns { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

impl Div<f64> for Ns {
    type Output = Ns;
    fn div(self, by: f64) -> Ns {
        Ns { wall: self.wall / by, cpu: self.cpu / by }
    }
}

/// How long the calling thread was on a processor.
#[cfg(unix)]
fn thread_time() -> Duration {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// How long the threads of this process were on a processor, together.
#[cfg(unix)]
pub fn process_time() -> Duration {
    time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

#[cfg(unix)]
fn time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the `timespec` that we own.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}

/// Unknown on this system.
#[cfg(not(unix))]
pub fn process_time() -> Duration {
    Duration::ZERO
}

/// The time stamp counter; on other machines, the clock that std offers.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reading the time stamp counter touches no memory, and every x86-64 processor has it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static ORIGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        ORIGIN.elapsed().as_nanos() as u64
    }
}
