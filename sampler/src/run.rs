//! A finished run: what was sampled, how, and with what result.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use metaspy_reader::Store;

use crate::options::Options;
use crate::samples::Samples;
use crate::statistics::Statistics;

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
    /// Samples a second of processor time that were taken or lost; 0 if there was no processor time.
    pub fn achieved_hz(&self) -> f64 {
        let taken = self.samples.samples.len() as u64 + self.samples.counts.lost;
        match self.processor_ns {
            0 => 0.0,
            ns => taken as f64 * 1e9 / ns as f64,
        }
    }

    /// The name of what took the samples.
    pub fn back_end(&self) -> &'static str {
        "perf cpu-clock"
    }
}
