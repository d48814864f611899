//! Two functions that are inlined, and whose time is in inlined code of the standard library: four
//! fifths and one fifth.

use std::hint::black_box;

fn hot(rounds: u64) -> u64 {
    let mut sum = 0_u64;
    for step in 0..rounds {
        sum = black_box(sum.wrapping_add(step));
    }
    sum
}

fn cold(rounds: u64) -> u64 {
    let mut sum = 7_u64;
    for step in 0..rounds {
        sum = black_box(sum.wrapping_add(step));
    }
    sum
}

fn main() {
    let mut sum = 0;
    for _ in 0..black_box(3000) {
        sum ^= hot(black_box(400_000));
        sum ^= cold(black_box(100_000));
    }
    println!("{sum}");
}
