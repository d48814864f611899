//! Signal handler that copies registers and the top of the stack into the ring, and does nothing
//! else.
//!
//! It allocates nothing, takes no lock, and restores `errno`. It copies the same sample as the
//! kernel does, and does not walk the stack: the reader then unwinds both in the same way, and code
//! without frame pointers has callers. It reads the stack through the kernel (`process_vm_readv`),
//! so no stack pointer can harm the program.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use crate::linux::timer::ring::{Head, Ring, SAMPLE, Word};
use crate::own_memory::copy;

/// Maximum number of sampled threads.
pub const THREADS_MAX: usize = 4096;
/// Mark in the value of this handler's signals. The rest of the value is the place of the thread.
pub const MARK: usize = 0x6D73_7079 << 16;
/// Flag in the value of a signal: its timer waits for work.
pub(crate) const OF_WORK: usize = 1 << 15;

const _: () = assert!(THREADS_MAX <= OF_WORK);
/// Number of ticks without work after which a thread counts as waiting.
const WAITS_AFTER: u64 = 2;

/// State of a sampled thread that the handler needs.
pub struct Timed {
    /// Number of the thread; 0 for none.
    pub tid: AtomicI32,
    cpu_ns: AtomicU64,
    wall_ns: AtomicU64,
    /// Set if the thread is sampled only while it works, by two timers.
    is_paired: AtomicBool,
    ticks: AtomicPtr<libc::c_void>,
    work: AtomicPtr<libc::c_void>,
    /// Processor time after the last tick in ns, and the number of idle ticks before it.
    seen_ns: AtomicU64,
    idle: AtomicU64,
    /// Number of times that the thread had waited at the last look.
    switches: AtomicU64,
}

/// All sampled threads. The memory is static, because a signal may arrive after the end of its
/// timer.
pub static THREADS: [Timed; THREADS_MAX] = [const { Timed::nothing() }; THREADS_MAX];
/// Ring of the samples, which stays mapped for ever; null if nothing is sampled.
static RING: AtomicPtr<Ring> = AtomicPtr::new(std::ptr::null_mut());

/// Two timers of a thread that is sampled only while it works.
#[derive(Clone, Copy)]
pub struct Pair {
    /// Timer of the wall clock, for a thread that works.
    pub ticks: libc::timer_t,
    /// Timer of the processor clock, which fires when a waiting thread works again.
    pub work: libc::timer_t,
}

impl Timed {
    const fn nothing() -> Self {
        Timed {
            tid: AtomicI32::new(0),
            cpu_ns: AtomicU64::new(0),
            wall_ns: AtomicU64::new(0),
            is_paired: AtomicBool::new(false),
            ticks: AtomicPtr::new(std::ptr::null_mut()),
            work: AtomicPtr::new(std::ptr::null_mut()),
            seen_ns: AtomicU64::new(0),
            idle: AtomicU64::new(0),
            switches: AtomicU64::new(0),
        }
    }

    /// Begins a thread. Its first sample counts from here.
    pub fn begin(&self, tid: i32, cpu_ns: u64, timers: Option<Pair>) {
        self.cpu_ns.store(cpu_ns, Ordering::Relaxed);
        self.seen_ns.store(cpu_ns, Ordering::Relaxed);
        self.idle.store(0, Ordering::Relaxed);
        self.wall_ns.store(now_ns(libc::CLOCK_MONOTONIC), Ordering::Relaxed);
        self.is_paired.store(timers.is_some(), Ordering::Relaxed);
        if let Some(Pair { ticks, work }) = timers {
            self.ticks.store(ticks, Ordering::Relaxed);
            self.work.store(work, Ordering::Relaxed);
        }
        self.tid.store(tid, Ordering::Release);
    }

    /// Returns true if a sample is due. It switches between the two timers when the thread begins
    /// to wait or to work.
    fn is_due(&self, period_ns: u64, cpu_ns: u64, works_again: bool) -> bool {
        if !self.is_paired.load(Ordering::Relaxed) {
            return true;
        }
        // The kernel's first timer has the number 0, which as a pointer is null.
        let ticks = self.ticks.load(Ordering::Relaxed);
        let work = self.work.load(Ordering::Relaxed);
        if works_again {
            set(work, 0);
            set(ticks, period_ns);
        }
        let worked = cpu_ns.saturating_sub(self.seen_ns.swap(cpu_ns, Ordering::Relaxed));
        let has_waited = self.has_waited() && worked <= period_ns / 4;
        let idle = if has_waited { self.idle.load(Ordering::Relaxed) + 1 } else { 0 };
        self.idle.store(idle, Ordering::Relaxed);
        if idle == WAITS_AFTER {
            self.idle.store(0, Ordering::Relaxed);
            set(ticks, 0);
            set(work, period_ns);
        }
        cpu_ns.saturating_sub(self.cpu_ns.load(Ordering::Relaxed)) >= period_ns / 8 * 7
    }
}

impl Timed {
    /// Returns true if the thread has waited for something since the last call. Preemption does not
    /// count.
    fn has_waited(&self) -> bool {
        // SAFETY: the structure is plain data, valid when it is zero, and the call fills it.
        let switches = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage.ru_nvcsw as u64
        };
        self.switches.swap(switches, Ordering::Relaxed) != switches
    }
}

/// Lets a timer fire in each period; 0 stops it. The function is safe in a signal handler.
pub fn set(timer: libc::timer_t, period_ns: u64) -> bool {
    let period_ns = period_ns as libc::c_long;
    let period =
        libc::timespec { tv_sec: period_ns / 1_000_000_000, tv_nsec: period_ns % 1_000_000_000 };
    let time = libc::itimerspec { it_interval: period, it_value: period };
    // SAFETY: the structure lives during the call, and the kernel refuses a timer that was deleted.
    unsafe { libc::timer_settime(timer, 0, &time, std::ptr::null_mut()) == 0 }
}

/// Sends the samples to a ring from now on.
pub fn aim(ring: Option<&'static Ring>) {
    RING.store(
        ring.map_or(std::ptr::null_mut(), |ring| std::ptr::from_ref(ring).cast_mut()),
        Ordering::Release,
    );
}

/// Takes a real-time signal that the program does not use, and installs the handler for it.
///
/// The signals of profilers, alarms and the first real-time signals are left to programs.
pub fn install() -> io::Result<i32> {
    let first = libc::SIGRTMIN();
    let last = libc::SIGRTMAX();
    let middle = first + (last - first) / 2;
    let free =
        (middle..=last).chain(first..middle).find(|&signal| current(signal) == libc::SIG_DFL);
    let signal = free.ok_or_else(|| io::Error::other("the program uses every real-time signal"))?;
    // SAFETY: the structure is plain data and valid when it is all zero; the handler has the
    // signature that SA_SIGINFO requires, and does nothing that is forbidden in a handler.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(signal, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(signal) } else { Err(io::Error::last_os_error()) }
}

/// Returns true while this handler is installed for a signal.
pub fn is_ours(signal: i32) -> bool {
    current(signal) == handle as *const () as usize
}

fn current(signal: i32) -> usize {
    // SAFETY: without a new action the call only fills the structure, which is plain data.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(signal, std::ptr::null(), &mut action) {
            0 => action.sa_sigaction,
            _ => usize::MAX,
        }
    }
}

/// Returns the time of a clock, in ns. The function is safe in a signal handler.
pub fn now_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

extern "C" fn handle(_: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: `errno` is the thread's own, and the kernel passes valid pointers to both structures.
    unsafe {
        let errno = *libc::__errno_location();
        // A signal of another sender has another value or another kind.
        let value = ((*info).si_value().sival_ptr as usize).wrapping_sub(MARK);
        if (*info).si_code == libc::SI_TIMER
            && let Some(thread) = THREADS.get(value & !OF_WORK)
            && let Some(ring) = RING.load(Ordering::Acquire).as_ref()
        {
            sample(thread, ring, value & OF_WORK != 0, &*context.cast());
            // The time of the handler is no work of the thread: otherwise a thread that waits seems
            // to work.
            thread.seen_ns.store(now_ns(libc::CLOCK_THREAD_CPUTIME_ID), Ordering::Relaxed);
        }
        *libc::__errno_location() = errno;
    }
}

fn sample(thread: &Timed, ring: &Ring, works_again: bool, context: &libc::ucontext_t) {
    // SAFETY: the call has no arguments, and cannot fail.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    if thread.tid.load(Ordering::Acquire) != tid {
        return;
    }
    let time_ns = now_ns(libc::CLOCK_MONOTONIC);
    let cpu_ns = now_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    if !thread.is_due(ring.get(Word::PeriodNs), cpu_ns, works_again) {
        return;
    }
    let since = |last: &AtomicU64, now: u64| {
        let span = now.saturating_sub(last.load(Ordering::Relaxed));
        last.store(now, Ordering::Relaxed);
        u32::try_from(span).unwrap_or(u32::MAX)
    };
    let head = Head {
        kind: SAMPLE,
        // SAFETY: the call has no arguments, and cannot fail.
        pid: unsafe { libc::getpid() } as u32,
        tid: tid as u32,
        time_ns,
        cpu_ns: since(&thread.cpu_ns, cpu_ns),
        wall_ns: since(&thread.wall_ns, time_ns),
        registers: registers(context),
    };
    let sp = head.registers[head.registers.len() - 2];
    ring.push(&head, |to, room| copy(sp, to, room));
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> [u64; 3] {
    let of = |register: i32| context.uc_mcontext.gregs[register as usize] as u64;
    [of(libc::REG_RBP), of(libc::REG_RSP), of(libc::REG_RIP)]
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> [u64; 4] {
    let of = &context.uc_mcontext;
    [of.regs[29], of.regs[30], of.sp, of.pc]
}
