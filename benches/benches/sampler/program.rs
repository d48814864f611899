//! The program that is sampled: calls 28 frames deep, on one thread or two, which measure their own
//! time.

use std::ffi::OsString;
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use metaspy_benches::child;
use metaspy_benches::report::target;
use serde::{Deserialize, Serialize};

/// Frames of its stack above `main`.
const DEPTH: u32 = 28;
/// The option with the file that it writes its result to; its standard output is its sampler's.
const RESULT: &str = "--result";

/// What the program measured.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Processor time of the process during the work, in ns.
    pub cpu_ns: f64,
    /// Time of the wall clock, in ns.
    pub wall_ns: f64,
    /// Samples that it took itself.
    pub samples: f64,
}

/// The child: `work`, `threads` or `pprof`.
pub fn run(case: &str) {
    let rounds = if child::is_smoke() { 200_000 } else { 56_000_000 };
    let guard =
        (case == "pprof").then(|| pprof::ProfilerGuard::new(1_000).expect("a timer can be set"));
    let (wall, cpu) = (Instant::now(), processor_ns());
    match case {
        "threads" => {
            thread::scope(|scope| (0..2).for_each(|_| _ = scope.spawn(|| deep(DEPTH, rounds * 2))))
        }
        _ => _ = black_box(deep(DEPTH, rounds)),
    }
    let (cpu_ns, wall_ns) = ((processor_ns() - cpu) as f64, wall.elapsed().as_nanos() as f64);
    let count = |report: pprof::Report| report.data.values().sum::<isize>() as f64;
    let samples = guard.and_then(|guard| guard.report().build().ok()).map_or(0.0, count);
    let text =
        serde_json::to_string(&Measured { cpu_ns, wall_ns, samples }).expect("numbers become JSON");
    fs::write(child::option(RESULT).expect("the bench names a file"), text)
        .expect("it can be written");
}

/// The command line of the program for a case.
pub fn command(case: &str) -> Result<Vec<OsString>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let _ = fs::remove_file(file());
    let mut words =
        vec![own.into_os_string(), child::CHILD.into(), case.into(), RESULT.into(), file().into()];
    words.extend(child::is_smoke().then(|| "--smoke".into()));
    Ok(words)
}

fn file() -> PathBuf {
    target().join("sampled.json")
}

/// What the program wrote.
pub fn result() -> Result<Measured, String> {
    let text = fs::read_to_string(file())
        .map_err(|error| format!("the program wrote no result: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("the program wrote `{text}`: {error}"))
}

/// Processor time of this process, in ns.
pub fn processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Processor time of this process and its ended children, in ns.
pub fn used_ns() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is plain data and valid when it is all zero.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    processor_ns() as f64 + ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// Calls itself, then works in pieces, so that it returns to each frame.
#[inline(never)]
fn deep(depth: u32, rounds: u64) -> u64 {
    if depth == 0 {
        return (0..rounds / 1_000).fold(1, |value, piece| value ^ hash(piece, 1_000));
    }
    let below = black_box(deep(depth - 1, rounds));
    below ^ hash(below, rounds / 4 / u64::from(DEPTH))
}

#[inline(never)]
fn hash(seed: u64, rounds: u64) -> u64 {
    let mut value = black_box(seed | 1);
    for round in 0..rounds {
        value = (value ^ round).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(27) ^ value >> 31;
        value ^= value / (round | 3);
    }
    value
}
