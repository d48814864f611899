//! The two benchmarks of *A detailed VM profiler for the Cog VM* (section 4), `benchFib` and
//! `benchmark`: in Rust, in bytecode with an interpreter, in WebAssembly under wasmtime, and by a
//! JIT with Cranelift. Each machine registers the source of its code, so that `metaspy sample --
//! metaspy-machines bytecode` shows ranges of bytecodes as the paper does.

mod interpreter;
mod jit;
mod native;
mod wasm;

use std::time::Duration;

/// `benchFib` of this number.
const FIB: i64 = 24;
/// Rounds of `benchmark`, a sieve.
const ROUNDS: i64 = 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let machine = arguments.next().unwrap_or_default();
    let time =
        Duration::from_millis(arguments.next().and_then(|ms| ms.parse().ok()).unwrap_or(500));
    match &*machine {
        "rust" => both(time, native::bench_fib, native::benchmark),
        "bytecode" => interpreter::run(|fib, sieve| both(time, fib, sieve)),
        "wasm" => wasm::run(false, |fib, sieve| both(time, fib, sieve)),
        "wasm-lines" => wasm::run(true, |fib, sieve| both(time, fib, sieve)),
        "jit" => jit::run(|fib, sieve| both(time, fib, sieve)),
        _ => {
            println!("usage: metaspy-machines rust|bytecode|wasm|wasm-lines|jit [MILLISECONDS]");
            std::process::exit(2);
        }
    }
}

/// Runs each until it has had this processor time, as the paper's benchmark does; prints how much
/// each one took.
fn both(time: Duration, fib: impl FnMut(i64) -> i64, sieve: impl FnMut(i64) -> i64) {
    let fib = repeat("benchFib", time, FIB, 150_049, fib);
    let sieve = repeat("benchmark", time, ROUNDS, 1899, sieve);
    println!("benchFib {} us, benchmark {} us", fib.as_micros(), sieve.as_micros());
}

/// Calls a function until it has had this processor time; returns how much it took.
fn repeat(
    name: &str,
    time: Duration,
    argument: i64,
    expected: i64,
    mut function: impl FnMut(i64) -> i64,
) -> Duration {
    let begin = processor_time();
    loop {
        assert_eq!(function(argument), expected, "{name}");
        let taken = processor_time() - begin;
        if taken >= time {
            return taken;
        }
    }
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
