//! The clock of the log: ticks, and the length of a tick.
//!
//! The time stamp counter if the kernel itself uses it (7 ns a reading), otherwise the monotonic
//! clock. Tests set the clock by hand.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

pub use metaspy_format::Clock;

use crate::platform::clock as machine;

static CLOCK: AtomicU8 = AtomicU8::new(Clock::Monotonic as u8);
static MANUAL: AtomicU64 = AtomicU64::new(1);

/// The current tick.
#[inline(always)]
pub fn now() -> u64 {
    match CLOCK.load(Ordering::Relaxed) {
        1 => machine::counter(),
        other => slower(other),
    }
}

/// The current tick, if one instruction reads it.
#[inline(always)]
pub fn counter() -> Option<u64> {
    (CLOCK.load(Ordering::Relaxed) == Clock::Counter as u8).then(machine::counter)
}

#[cold]
fn slower(clock: u8) -> u64 {
    match clock {
        0 => MANUAL.load(Ordering::Relaxed),
        _ => machine::monotonic_ns(),
    }
}

/// The clock in use.
#[inline]
pub fn current() -> Clock {
    match CLOCK.load(Ordering::Relaxed) {
        0 => Clock::Manual,
        1 => Clock::Counter,
        _ => Clock::Monotonic,
    }
}

/// Chooses the best clock of the machine, unless a test chose one already.
pub(crate) fn choose() {
    if current() != Clock::Manual && machine::has_counter() {
        CLOCK.store(Clock::Counter as u8, Ordering::Relaxed);
    }
}

/// Replaces the clock of the whole process by a manual one, which stays at `tick` until it is set
/// again.
pub fn set_manual(tick: u64) {
    MANUAL.store(tick, Ordering::Relaxed);
    CLOCK.store(Clock::Manual as u8, Ordering::Relaxed);
}

/// Advances a manual clock.
pub fn advance(ticks: u64) {
    MANUAL.fetch_add(ticks, Ordering::Relaxed);
}

/// One instant on all clocks of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Instant4 {
    pub tick: u64,
    pub monotonic_ns: u64,
    pub boot_ns: u64,
    pub real_ns: u64,
}

/// Reads all clocks as one instant. The tick is the middle of two readings around the monotonic
/// one. The closest of a few tries counts, because the thread may be interrupted in between.
pub fn instant() -> Instant4 {
    let best = (0..3)
        .map(|_| {
            let before = now();
            let monotonic_ns = machine::monotonic_ns();
            (now().saturating_sub(before), before, monotonic_ns)
        })
        .min()
        .unwrap_or_default();
    let (width, before, monotonic_ns) = best;
    let tick = before + width / 2;
    let monotonic_ns = if current() == Clock::Manual { tick } else { monotonic_ns };
    Instant4 { tick, monotonic_ns, boot_ns: machine::boot_ns(), real_ns: machine::real_ns() }
}

/// Ticks per second, measured over a fifth of a millisecond: good to a thousandth, until
/// calibration pairs replace it.
pub fn rough_ticks_per_s() -> u64 {
    if current() != Clock::Counter {
        return 1_000_000_000;
    }
    let first = instant();
    let mut last = instant();
    while last.monotonic_ns - first.monotonic_ns < 200_000 {
        last = instant();
    }
    let ticks = last.tick - first.tick;
    let ns = last.monotonic_ns - first.monotonic_ns;
    (ticks as u128 * 1_000_000_000 / ns as u128) as u64
}
