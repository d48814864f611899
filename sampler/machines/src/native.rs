//! The benchmarks in Rust.

use std::hint::black_box;

/// Calls of `benchFib`, as Smalltalk counts them.
#[inline(never)]
pub fn bench_fib(n: i64) -> i64 {
    if n < 2 { 1 } else { bench_fib(n - 1) + bench_fib(n - 2) + 1 }
}

/// The sieve of Eratosthenes below 8,190; returns the primes of the last round.
#[inline(never)]
pub fn benchmark(rounds: i64) -> i64 {
    const SIZE: usize = 8190;
    let mut count = 0;
    for _ in 0..rounds {
        let mut flags = black_box([true; SIZE]);
        count = 0;
        for i in 0..SIZE {
            if flags[i] {
                let prime = i + i + 3;
                let mut k = i + prime;
                while k < SIZE {
                    flags[k] = false;
                    k += prime;
                }
                count += 1;
            }
        }
    }
    count
}
