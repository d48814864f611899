//! Two functions that take known shares of the processor time: each prints what it took, in ns of
//! its thread.

use std::hint::black_box;

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Processor time of this thread, in ns.
fn thread_ns() -> i64 {
    let mut time = [0; 2];
    // SAFETY: two words are the room that the call fills.
    unsafe { clock_gettime(3, &mut time) };
    time[0] * 1_000_000_000 + time[1]
}

/// So many dependent operations that the head of the caller's loop has few samples on any
/// processor; and no function of the library is inlined here.
#[inline(always)]
fn step(mut value: u64) -> u64 {
    let mut left = 4;
    while left > 0 {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        left -= 1;
    }
    value
}

#[inline(never)]
fn larger(rounds: u64) -> u64 {
    let mut value = black_box(1);
    for _ in 0..rounds {
        value = step(value); // the line of `larger`
    }
    value
}

#[inline(never)]
fn smaller(rounds: u64) -> u64 {
    let mut value = black_box(7);
    for _ in 0..rounds {
        value = step(value); // the line of `smaller`
    }
    !value
}

/// Runs a function and prints what it took.
#[inline(never)]
fn timed(name: &str, work: fn(u64) -> u64, rounds: u64) {
    let before = thread_ns();
    black_box(work(black_box(rounds)));
    println!("{name} {}", thread_ns() - before);
}

fn main() {
    let rounds =
        std::env::args().nth(1).map_or(100, |text| text.parse().expect("a number of millions")) * 1_000_000 / 6;
    let thread = std::thread::Builder::new().name("second".into());
    let thread = thread.spawn(move || timed("larger", larger, rounds * 3)).expect("a thread starts");
    timed("smaller", smaller, rounds);
    thread.join().expect("the thread ends");
}
