//! Result of a sampling run: its target, options, statistics and samples.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use metaspy_reader::Store;

use crate::options::{Clock, Options};
use crate::samples::{Sample, Samples};
use crate::statistics::Statistics;

/// Name of the back end that uses perf events.
pub const PERF: &str = "perf cpu-clock";

/// Finished run.
#[derive(Debug)]
pub struct Run {
    /// Program and arguments of the target.
    pub target: Vec<String>,
    /// Number of the target's process.
    pub pid: u32,
    /// Start of the run, by the wall clock.
    pub started_at: SystemTime,
    /// Duration of the run.
    pub elapsed: Duration,
    /// Processor time of the target in ns, as the kernel counted it.
    pub processor_ns: u64,
    /// Name of the back end that took the samples.
    pub back_end: &'static str,
    /// Reason for not using perf, with the remedy; `None` if perf took the samples or was not asked
    /// for.
    pub refused: Option<String>,
    /// Number of threads that could not be sampled.
    pub untimed: u64,
    /// False if the kernel's own code was not sampled, because the system does not permit it.
    pub with_kernel: bool,
    /// Options in force, which may differ from the requested options.
    pub options: Options,
    /// State of the target at the end of the run.
    pub ended: Ended,
    /// System statistics about the target.
    pub statistics: Statistics,
    /// Collected samples.
    pub samples: Samples,
    /// Recordings that the sampled processes wrote, each with its file.
    pub recordings: Vec<(PathBuf, Store)>,
}

/// State of a target at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The sampler started the program, and it has ended with this status.
    Exited(ExitStatus),
    /// The process still runs.
    Runs,
    /// The process has ended, but only its parent knows the status.
    Unknown,
}

impl Run {
    /// Returns the samples that were taken or lost per second of the sampled clock, or 0 if no time
    /// passed.
    ///
    /// The time is the processor time of the target, or the wall time of its threads.
    pub fn achieved_hz(&self) -> f64 {
        let taken = self.samples.samples.len() as u64 + self.samples.counts.lost;
        let ns = match self.options.clock {
            Clock::Processor => self.processor_ns,
            Clock::Wall => {
                self.samples.samples.iter().map(|sample| u64::from(sample.wall_ns)).sum()
            }
        };
        if ns == 0 { 0.0 } else { taken as f64 * 1e9 / ns as f64 }
    }

    /// Returns the time that a sample stands for, in ns: the period for samples of the kernel, the
    /// mean for samples of signals.
    pub(crate) fn sample_ns(&self) -> u64 {
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
