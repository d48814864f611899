//! The two benchmarks of *A detailed VM profiler for the Cog VM* (section 4), `benchFib` and `benchmark`: in Rust, in bytecode
//! with an interpreter, and in WebAssembly under wasmtime. Each machine registers what its code was made from, so that
//! `metaspy sample -- metaspy-machines bytecode` shows ranges of bytecodes as the paper does.

mod interpreter;
mod native;
mod wasm;

/// `benchFib` of this number.
const FIB: i64 = 30;
/// Rounds of `benchmark`, a sieve.
const ROUNDS: i64 = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let machine = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    for _ in 0..times {
        let (fib, primes) = match &*machine {
            "rust" => (native::bench_fib(FIB), native::benchmark(ROUNDS)),
            "bytecode" => (interpreter::bench_fib(FIB), interpreter::benchmark(ROUNDS)),
            "wasm" => wasm::run(FIB, ROUNDS),
            _ => {
                println!("usage: metaspy-machines rust|bytecode|wasm [TIMES]");
                std::process::exit(2);
            }
        };
        println!("benchFib {fib}, benchmark {primes}");
    }
}
