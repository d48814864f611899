//! Thread in the sampled program that gives each other thread a timer.
//!
//! A timer of the wall clock has every rate, and interrupts waits. A timer of the processor clock
//! never interrupts a thread that waits, but the kernel looks at it in its tick, so it fires 100 to
//! 1,000 times a second at most (`CONFIG_HZ`), and on some systems a few times a second. So a
//! thread that works has a timer of the wall clock. When two ticks find no work, it has a timer of
//! the processor clock, until that fires.
//!
//! Neither timer is enough alone. The one of the processor clock gave 14 of 1,000 samples a second
//! on one machine, and the one of the wall clock would end every wait of the program early.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use metaspy_reader::platform::own_thread;

use crate::linux::timer::handler::{self, MARK, OF_WORK, Pair, THREADS, now_ns};
use crate::linux::timer::ring::{Head, MAPPINGS, NAME, Ring, Word};

/// Name of the sampler's threads, which are not sampled.
pub(crate) const OWN_THREAD: &str = "metaspy-sampler";
/// Shortest time between two looks at the list of threads.
const LOOK: Duration = Duration::from_millis(10);
/// Divisor of the processor time that looks may take: at most a fiftieth.
const LOOK_SHARE: u32 = 50;

/// Set while this process has timers.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Timers of this process. Dropping it deletes them.
pub struct Timers {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Timers {
    /// Gives a timer to all present and future threads, except the sampler's own.
    pub fn start(ring: &'static Ring) -> io::Result<Timers> {
        if IS_ACTIVE.swap(true, Ordering::AcqRel) {
            return Err(io::Error::other("this process is sampled already"));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ready) = mpsc::channel();
        let run = {
            let stop = Arc::clone(&stop);
            move || run(ring, &stop, &sender)
        };
        let thread = own_thread::spawn(OWN_THREAD, run);
        let started = thread.and_then(|thread| match ready.recv() {
            Ok(done) => done.map(|()| thread),
            Err(_) => Err(io::Error::other("the thread with the timers ended")),
        });
        match started {
            Ok(thread) => Ok(Timers { stop, thread: Some(thread) }),
            Err(error) => {
                IS_ACTIVE.store(false, Ordering::Release);
                Err(error)
            }
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
        IS_ACTIVE.store(false, Ordering::Release);
    }
}

/// Samples this process into the ring of the process that started it, until it ends.
pub fn attach(path: &OsStr) -> io::Result<()> {
    let timers = Timers::start(Box::leak(Box::new(Ring::open(path)?)))?;
    std::mem::forget(timers);
    Ok(())
}

fn run(ring: &'static Ring, stop: &AtomicBool, ready: &mpsc::Sender<io::Result<()>>) {
    let signal = match handler::install() {
        Ok(signal) => signal,
        Err(error) => return drop(ready.send(Err(error))),
    };
    handler::aim(Some(ring));
    push_mappings(ring);
    ring.word(Word::Attached).fetch_add(1, Ordering::Relaxed);
    let mut timers = HashMap::new();
    // On a busy machine this thread waits for a processor, which takes time from no other thread.
    let used = || Duration::from_nanos(now_ns(libc::CLOCK_THREAD_CPUTIME_ID));
    let mut look = || {
        let began = used();
        update(ring, signal, &mut timers);
        used().saturating_sub(began)
    };
    let mut took = look();
    let _ = ready.send(Ok(()));
    let is_over = || {
        stop.load(Ordering::Acquire) || ring.get(Word::IsStopped) != 0 || !handler::is_ours(signal)
    };
    while !is_over() {
        std::thread::sleep(LOOK.max(took * LOOK_SHARE));
        took = look();
    }
    timers.clear();
    handler::aim(None);
}

/// Starts timers for new threads, and forgets threads that are gone.
fn update(ring: &Ring, signal: i32, threads: &mut HashMap<i32, Thread>) {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let listed: Vec<i32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let untimed = |threads: &HashMap<i32, Thread>| {
        threads.values().filter(|of| matches!(of, Thread::Untimed)).count()
    };
    let before = untimed(threads);
    threads.retain(|tid, _| listed.contains(tid));
    for tid in listed {
        let thread = threads.entry(tid).or_insert_with(|| Thread::new(ring, tid));
        if matches!(thread, Thread::Untimed) && !is_blocked(signal, tid) {
            *thread = Timer::start(ring, signal, tid)
                .map_or(Thread::Untimed, |timer| Thread::Timed { _timer: timer });
        }
    }
    ring.word(Word::Untimed)
        .fetch_add((untimed(threads) as u64).wrapping_sub(before as u64), Ordering::Relaxed);
}

/// Thread of this process.
enum Thread {
    Ours,
    /// The thread has no timer yet, or cannot have a timer.
    Untimed,
    Timed {
        _timer: Timer,
    },
}

impl Thread {
    fn new(ring: &Ring, tid: i32) -> Thread {
        let name = fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        if name.trim_end() == OWN_THREAD {
            return Thread::Ours;
        }
        push_text(ring, NAME, tid as u32, name.trim_end());
        Thread::Untimed
    }
}

/// Returns true if a thread blocks the signal: while it begins, or because it waits for signals
/// with `sigwait`, where it would receive this signal.
fn is_blocked(signal: i32, tid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap_or_default();
    let blocked = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigBlk:")?.trim(), 16).ok());
    blocked.unwrap_or(0) & 1 << (signal - 1) != 0
}

/// Timers of a thread. Dropping it deletes them.
struct Timer {
    ticks: libc::timer_t,
    /// Timer of the processor clock, if the thread is sampled only while it works.
    work: Option<libc::timer_t>,
    place: usize,
}

impl Timer {
    fn start(ring: &Ring, signal: i32, tid: i32) -> Option<Timer> {
        let place = THREADS.iter().position(|thread| thread.tid.load(Ordering::Relaxed) == 0)?;
        // The kernel computes the number of a thread's processor clock like this
        // (`include/linux/posix-timers_types.h`).
        let of_thread = !tid << 3 | 6;
        let ticks = create(libc::CLOCK_MONOTONIC, signal, tid, MARK + place)?;
        let mut timer = Timer { ticks, work: None, place };
        if ring.get(Word::IsWall) == 0 {
            timer.work = Some(create(of_thread, signal, tid, MARK + (place | OF_WORK))?);
        }
        let pair = timer.work.map(|work| Pair { ticks, work });
        THREADS[place].begin(tid, now_ns(of_thread), pair);
        handler::set(ticks, ring.get(Word::PeriodNs)).then_some(timer)
    }
}

/// Creates a timer that sends its signals to a thread, with this value.
fn create(clock: libc::clockid_t, signal: i32, tid: i32, value: usize) -> Option<libc::timer_t> {
    // SAFETY: the structures are plain data, valid when they are zero, and live during the call.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = tid;
        event.sigev_signo = signal;
        event.sigev_value.sival_ptr = value as *mut libc::c_void;
        let mut timer = std::mem::zeroed();
        (libc::timer_create(clock, &mut event, &mut timer) == 0).then_some(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // A signal that is already on its way finds no thread.
        THREADS[self.place].tid.store(0, Ordering::Release);
        for timer in self.work.into_iter().chain([self.ticks]) {
            // SAFETY: the timer is ours, and is deleted once.
            unsafe { libc::timer_delete(timer) };
        }
    }
}

/// Writes the mappings of code, so that they are known after the process has ended.
fn push_mappings(ring: &Ring) {
    let name = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let mut text = format!("{}\n", name.trim_end());
    for line in maps
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|permissions| permissions.contains('x')))
    {
        if text.len() + line.len() + 1 > ring.stack_bytes() {
            push_text(ring, MAPPINGS, 0, &text);
            text = String::from("\n");
        }
        text.push_str(line);
        text.push('\n');
    }
    push_text(ring, MAPPINGS, 0, &text);
}

fn push_text(ring: &Ring, kind: u32, tid: u32, text: &str) {
    let head = Head {
        kind,
        pid: std::process::id(),
        tid,
        time_ns: now_ns(libc::CLOCK_MONOTONIC),
        ..Head::default()
    };
    ring.push(&head, |to, room| {
        let bytes = text.len().min(room);
        // SAFETY: the room belongs to the slot, and is larger than the written text.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to, bytes) };
        bytes
    });
}
