//! Samples of numbers: a bounded, evenly spaced part of all of them.

use crate::median::median;

/// Maximum number of samples that are kept.
const CAPACITY: usize = 256;

/// Numbers of which every n-th is kept, where n doubles whenever there are too many.
#[derive(Clone, Debug)]
pub(super) struct Samples<T> {
    kept: Vec<T>,
    /// A power of two.
    stride: u64,
    seen: u64,
}

impl<T> Default for Samples<T> {
    fn default() -> Self {
        Samples { kept: Vec::new(), stride: 1, seen: 0 }
    }
}

impl<T: Copy> Samples<T> {
    /// Adds a number.
    pub(super) fn add(&mut self, sample: T) {
        // As `is_multiple_of`, without a division for every event.
        if self.seen & (self.stride - 1) == 0 {
            self.kept.push(sample);
            if self.kept.len() == CAPACITY {
                let mut at = 0;
                self.kept.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride *= 2;
            }
        }
        self.seen += 1;
    }

    /// Returns the kept sample at the fraction `part / of` of the way from the first to the last.
    pub(super) fn kept(&self, part: usize, of: usize) -> Option<T> {
        self.kept.get(self.kept.len() * part / of).copied()
    }

    /// Iterates over the kept samples.
    pub(super) fn iter(&self) -> impl Iterator<Item = T> {
        self.kept.iter().copied()
    }

    /// Returns the number of all samples, kept or not.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the median of `number` over the kept samples; 0 if there are none.
    pub(super) fn median_by(&self, number: impl Fn(T) -> u64) -> u64 {
        median(self.kept.iter().map(|&sample| number(sample)))
    }
}

impl Samples<u64> {
    /// Returns the median of the kept samples; 0 if there are none.
    pub(super) fn median(&self) -> u64 {
        self.median_by(|sample| sample)
    }
}
