//! A run, counted: by owner of the code, by function and its ranges, and by method with its callers.

mod functions;
mod methods;

use crate::run::Run;
use crate::samples::StackEnd;
use crate::symbols::{FunctionId, Symbols};

pub use functions::{FunctionRow, InlinedRow, RangeRow, Section, Span};
pub use methods::{Edge, Method};

/// A run with the names of its addresses, counted.
#[derive(Debug)]
pub struct Profile {
    /// The run.
    pub run: Run,
    /// What its addresses mean.
    pub symbols: Symbols,
    /// Samples of each stack.
    pub counts: Vec<u64>,
}

/// Samples in whose stack something is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// The outermost frames are beyond the copied part.
    pub cut: u64,
    /// The caller of a frame was not found.
    pub broken: u64,
    /// The innermost frame is where no code is known.
    pub unplaced: u64,
}

impl Profile {
    /// Counts a run.
    pub fn new(run: Run) -> Profile {
        let symbols = Symbols::read(&run);
        let mut counts = vec![0; run.samples.stacks.len()];
        for sample in &run.samples.samples {
            counts[sample.stack as usize] += 1;
        }
        Profile { run, symbols, counts }
    }

    /// All samples.
    pub fn total(&self) -> u64 {
        self.run.samples.samples.len() as u64
    }

    /// Processor time of this number of samples, in ns.
    pub fn ns(&self, samples: u64) -> u64 {
        samples.saturating_mul(self.run.options.period_ns())
    }

    /// The functions of a stack, innermost first, inlined ones included.
    pub fn methods_of(&self, stack: u32) -> impl Iterator<Item = FunctionId> {
        let frames = self.run.samples.stacks[stack as usize].frames.iter();
        frames.flat_map(|&at| self.symbols.addresses[at as usize].frames.iter().map(|frame| frame.function))
    }

    /// Samples with incomplete stacks.
    pub fn doubts(&self) -> Doubts {
        let mut doubts = Doubts::default();
        for (stack, &count) in self.run.samples.stacks.iter().zip(&self.counts) {
            match stack.end {
                StackEnd::Whole => {}
                StackEnd::Cut => doubts.cut += count,
                StackEnd::Broken => doubts.broken += count,
            }
            let place = stack.frames.first().map(|&at| self.run.samples.addresses[at as usize]);
            if place.is_none_or(|place| place == crate::samples::Place::Nowhere) {
                doubts.unplaced += count;
            }
        }
        doubts
    }
}

/// The half width of the interval around `part` of `whole` samples that holds the true share with 95 % probability, in
/// percent of the whole: 1.96 standard deviations of a binomial share, with Wilson's centre, so that 0 samples have an
/// error, too.
pub fn error_percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 100.0;
    }
    let (z, n) = (1.96_f64, whole as f64);
    let share = part as f64 / n;
    let spread = (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    100.0 * z * spread / (1.0 + z * z / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_falls_with_the_root_of_the_samples() {
        assert!((error_percent(500, 1_000) - 3.1).abs() < 0.05);
        assert!((error_percent(50_000, 100_000) - 0.31).abs() < 0.005);
        assert!(error_percent(0, 1_000) > 0.1 && error_percent(1_000, 1_000) > 0.1);
        assert_eq!(error_percent(0, 0), 100.0);
    }
}
