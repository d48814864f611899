//! Counted samples of a run: by owner of the code, by function and range, by method with its
//! callers, and by recorded event.

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

/// Run with named addresses and counted samples.
#[derive(Debug)]
pub struct Profile {
    /// Sampled run, with its raw samples.
    pub run: Run,
    /// Names of the run's addresses.
    pub symbols: Symbols,
    /// Number of samples for each stack, in the order of the run's stacks.
    pub counts: Vec<u64>,
    /// Processor time of each stack, in ns.
    pub cpu_ns: Vec<u64>,
    /// Time that each sample stands for, in ns.
    pub sample_ns: u64,
}

/// Numbers of samples with incomplete stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Samples whose outermost frames are beyond the copied part of the stack.
    pub cut: u64,
    /// Samples with a frame whose caller was not found.
    pub broken: u64,
    /// Samples whose innermost frame is at an address without known code.
    pub unplaced: u64,
}

impl Profile {
    /// Names the addresses of a run and counts its samples.
    pub fn new(run: Run) -> Profile {
        let symbols = Symbols::read(&run);
        let mut counts = vec![0; run.samples.stacks.len()];
        let mut cpu_ns = vec![0; counts.len()];
        let sample_ns = run.sample_ns();
        for sample in &run.samples.samples {
            counts[sample.stack as usize] += 1;
            // Samples of the kernel have no measured times.
            let ns = if sample.wall_ns == 0 { sample_ns } else { sample.cpu_ns.into() };
            cpu_ns[sample.stack as usize] += ns;
        }
        Profile { run, symbols, counts, cpu_ns, sample_ns }
    }

    /// Returns the number of all samples.
    pub fn total(&self) -> u64 {
        self.run.samples.samples.len() as u64
    }

    /// Converts a number of samples to ns of the sampled clock.
    pub fn ns(&self, samples: u64) -> u64 {
        samples.saturating_mul(self.sample_ns)
    }

    /// Returns the functions of a stack, innermost first, with inlined functions.
    pub fn methods_of(&self, stack: u32) -> impl Iterator<Item = FunctionId> {
        let frames = self.run.samples.stacks[stack as usize].frames.iter();
        frames.flat_map(|&at| {
            self.symbols.addresses[at as usize].frames.iter().map(|frame| frame.function)
        })
    }

    /// Returns the functions of a stack, outermost first. The last one is the function whose self
    /// time its samples are.
    pub(crate) fn own_stack(&self, stack: usize) -> impl Iterator<Item = FunctionId> {
        let frames = self.run.samples.stacks[stack].frames.iter().enumerate().rev();
        frames.flat_map(|(above, &at)| {
            let frames = &self.symbols.addresses[at as usize].frames;
            let own = if above == 0 { self.own(frames).unwrap_or(0) } else { 0 };
            frames[own..].iter().rev().map(|frame| frame.function)
        })
    }

    /// Counts the samples with incomplete stacks.
    pub fn doubts(&self) -> Doubts {
        let mut doubts = Doubts::default();
        for (stack, &count) in self.run.samples.stacks.iter().zip(&self.counts) {
            match stack.end {
                StackEnd::Whole => {}
                StackEnd::Cut => doubts.cut += count,
                StackEnd::Broken => doubts.broken += count,
            }
            let place = stack.frames.first().map(|&at| self.run.samples.addresses[at as usize]);
            if place.is_none_or(|place| place == crate::samples::CodeLocation::Nowhere) {
                doubts.unplaced += count;
            }
        }
        doubts
    }
}
