//! A finished run: what was sampled, how, and with what result.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use metaspy_reader::Store;

use crate::options::{Clock, Options};
use crate::samples::{Sample, Samples};
use crate::statistics::Statistics;

/// The name of the back end of perf events.
pub const PERF: &str = "perf cpu-clock";

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// The program and its arguments.
    pub target: Vec<String>,
    /// The process.
    pub pid: u32,
    /// When it began, by the wall clock.
    pub started_at: SystemTime,
    /// How long it took.
    pub elapsed: Duration,
    /// Processor time of the target in ns, as the kernel counted it.
    pub processor_ns: u64,
    /// The name of what took the samples.
    pub back_end: &'static str,
    /// Why perf did not take them, with the remedy.
    pub refused: Option<String>,
    /// Threads that could not be sampled.
    pub untimed: u64,
    /// False if the kernel's own code was not sampled, because the system does not permit it.
    pub with_kernel: bool,
    /// The options that were in force.
    pub options: Options,
    /// What became of the target.
    pub ended: Ended,
    /// Statistics of the system about the target.
    pub statistics: Statistics,
    /// The samples.
    pub samples: Samples,
    /// The recordings of metaspy that the processes wrote, each with its file.
    pub recordings: Vec<(PathBuf, Store)>,
}

/// What became of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was started by the sampler and has ended.
    Exited(ExitStatus),
    /// It runs.
    Runs,
    /// It has ended; only its parent has the status.
    Unknown,
}

impl Run {
    /// Samples a second of processor time that were taken or lost; of the wall clock's time of each thread, if that was
    /// sampled. 0 if there was no time.
    pub fn achieved_hz(&self) -> f64 {
        let taken = self.samples.samples.len() as u64 + self.samples.counts.lost;
        let ns = match self.options.clock {
            Clock::Processor => self.processor_ns,
            Clock::Wall => self.samples.samples.iter().map(|sample| u64::from(sample.wall_ns)).sum(),
        };
        if ns == 0 { 0.0 } else { taken as f64 * 1e9 / ns as f64 }
    }

    /// The time that a sample stands for, in ns: the period of the kernel's samples, the mean of those that signals took.
    pub fn sample_ns(&self) -> u64 {
        let of = |sample: &Sample| match self.options.clock {
            Clock::Processor => u64::from(sample.cpu_ns),
            Clock::Wall => u64::from(sample.wall_ns),
        };
        let samples = &self.samples.samples;
        match samples.iter().map(of).sum() {
            0 => self.options.period_ns(),
            sum => sum / samples.len() as u64,
        }
    }
}
