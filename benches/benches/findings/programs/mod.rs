//! Programs of many domains, with a planted fault or without any.
//!
//! A program with a fault takes `fault`; without it, it does the same work correctly. Each function
//! states in one sentence what is planted. None of them was changed for the sake of a detector: the
//! table of what must be found is in [`planted`](crate::planted).

pub mod audio;
pub mod build;
pub mod chess;
pub mod clinic;
pub mod compiler;
pub mod crawler;
pub mod editor;
pub mod game;
pub mod library;
pub mod mail;
pub mod maps;
pub mod network;
pub mod photos;
pub mod printer;
pub mod restaurant;
pub mod sensors;
pub mod theatre;
pub mod transit;
pub mod weather;

use std::hint::black_box;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Computes for about so many microseconds; the number of steps is the same on each machine.
pub fn compute(microseconds: u64) -> u64 {
    (0..microseconds * 600)
        .fold(1, |sum: u64, step| black_box(sum.wrapping_mul(6_364_136_223_846_793_005) ^ step))
}

/// Numbers that look random and are the same in each run.
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// The next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)) >> 16) % end
    }
}

/// A runtime with one thread, as a user interface has.
pub fn one_thread() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime needs no more than memory")
}

/// A runtime with two threads, as a service has.
pub fn two_threads() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("two threads can be started")
}

/// Waits for a device or a server: a task gives way meanwhile.
pub async fn answer_after(microseconds: u64) {
    tokio::time::sleep(Duration::from_micros(microseconds)).await;
}

/// Waits for a device or a server: a thread sleeps meanwhile.
pub fn pause(microseconds: u64) {
    std::thread::sleep(Duration::from_micros(microseconds));
}
