//! A run, counted: by owner of the code, by function and its ranges, by method with its callers, and by recorded event.

mod events;
mod functions;
mod lines;
mod methods;

use crate::run::Run;
use crate::samples::StackEnd;
use crate::symbols::{FunctionId, Symbols};

pub use events::{EventRow, Events};
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
    /// Processor time of each stack, in ns.
    pub cpu_ns: Vec<u64>,
    /// The time that a sample stands for, in ns.
    pub sample_ns: u64,
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
        let mut cpu_ns = vec![0; counts.len()];
        let sample_ns = run.sample_ns();
        for sample in &run.samples.samples {
            counts[sample.stack as usize] += 1;
            // The kernel's samples have no times of their own.
            let ns = if sample.wall_ns == 0 { sample_ns } else { sample.cpu_ns.into() };
            cpu_ns[sample.stack as usize] += ns;
        }
        Profile { run, symbols, counts, cpu_ns, sample_ns }
    }

    /// All samples.
    pub fn total(&self) -> u64 {
        self.run.samples.samples.len() as u64
    }

    /// The time of this number of samples, in ns: processor time, or wall time if that was sampled.
    pub fn ns(&self, samples: u64) -> u64 {
        samples.saturating_mul(self.sample_ns)
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
