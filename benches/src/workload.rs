//! The loop around a measured call: one method on one of many objects, in pseudo-random order.

use std::hint::black_box;

use crate::clock::Took;

/// Calls of a batch. What a peer needs from time to time (a frame, a root span) it does once a
/// batch.
pub const BATCH: u64 = 1_000;

/// A pseudo-random order that can be replayed.
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Another order for each seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// One of `count` numbers, and a word that is as good as random.
    #[inline(always)]
    pub fn roll(&mut self, count: usize) -> (usize, u64) {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((((self.0 >> 32) * count as u64) >> 32) as usize, self.0)
    }
}

/// Objects, and the order in which they are called.
#[derive(Debug)]
pub struct Workload<T> {
    things: Box<[T]>,
    dice: Dice,
    seed: u64,
    done: u64,
}

impl<T> Workload<T> {
    /// That many objects, called in the order of a seed.
    pub fn new(count: usize, seed: u64, make: fn(usize) -> T) -> Workload<T> {
        Workload { things: (0..count).map(make).collect(), dice: Dice::new(seed), seed, done: 0 }
    }

    /// Calls `one` on `calls` objects, rounded up to whole batches, `around` each batch; how long
    /// it took.
    #[inline(never)]
    pub fn run(
        &mut self,
        calls: u64,
        mut around: impl FnMut(&mut dyn FnMut()),
        one: impl Fn(&mut T, u64) -> u64,
    ) -> Took {
        let batches = calls.div_ceil(BATCH);
        let (took, ()) = Took::by(|| {
            for _ in 0..batches {
                around(&mut || {
                    let things = &mut *self.things;
                    let mut dice = self.dice;
                    let mut sum = 0_u64;
                    for _ in 0..BATCH {
                        let (at, by) = dice.roll(things.len());
                        sum = sum.wrapping_add(one(&mut things[at], by));
                    }
                    self.dice = dice;
                    black_box(sum);
                });
            }
        });
        self.done += batches * BATCH;
        took
    }

    /// Calls made so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// How often each object was called so far.
    pub fn replay(&self) -> Vec<u64> {
        let mut counts = vec![0; self.things.len()];
        let mut dice = Dice::new(self.seed);
        for _ in 0..self.done {
            counts[dice.roll(self.things.len()).0] += 1;
        }
        counts
    }

    /// The objects.
    pub fn things(&self) -> &[T] {
        &self.things
    }
}

/// Nothing around a batch.
pub fn nothing(run: &mut dyn FnMut()) {
    run();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_counts_what_was_called() {
        let mut workload = Workload::new(10, 7, |_| 0_u64);
        workload.run(2_500, nothing, |thing, _| {
            *thing += 1;
            *thing
        });
        assert_eq!(workload.done(), 3_000);
        assert_eq!(workload.replay(), workload.things());
    }
}
