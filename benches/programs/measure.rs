//! What the drivers have in common.

use std::hint::black_box;
use std::time::Instant;

/// Runs the work as often as the second argument says, after a tenth of that to warm up. Prints the
/// nanoseconds by the clock on the wall, the processor time, and a sum of the results.
pub fn measure(mut work: impl FnMut(u64) -> u64) {
    let times: u64 = std::env::args().nth(2).and_then(|times| times.parse().ok()).unwrap_or(1);
    (0..times.div_ceil(10)).for_each(|at| _ = black_box(work(at)));
    let (wall, cpu) = (Instant::now(), cpu_ns());
    let sum = (0..times).fold(0_u64, |sum, at| sum.wrapping_add(black_box(work(black_box(at)))));
    println!("{} {} {sum}", wall.elapsed().as_nanos(), cpu_ns() - cpu);
}

fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the time of this thread into a place that is there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A document of some sections with lists, emphasis, links, tables and code.
pub fn markdown() -> String {
    let section = |at: usize| {
        format!(
            "# Section {at}\n\nSome *emphasised* and **strong** text with a [link](https://example.org/{at}) and `code`.\n\n\
             - one\n- two\n  - nested {at}\n\n> A quote with a <b>tag</b>.\n\n```rust\nfn f{at}() {{}}\n```\n\n\
             | a | b |\n|---|---|\n| {at} | 2 |\n\n"
        )
    };
    (0..20).map(section).collect()
}
