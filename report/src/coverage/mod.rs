//! Coverage: what of a program ran, how well, and what a cache could save.

mod constants;
mod patterns;
pub mod text;

pub use constants::{Constants, LEAST, constants};
pub use patterns::{Example, Found, Pattern, patterns};

use crate::program::Program;

/// One or more processes that ran a program, as reports print them.
#[derive(Debug, Default)]
pub struct Run {
    /// The program, with the numbers of all processes.
    pub program: Program,
    /// The processes that recorded; `None` if the program was built and not run.
    pub processes: Option<usize>,
    /// The measures that profilers added.
    pub measured: Measured,
    /// What profilers reported when a process ended.
    pub reports: Vec<ProcessReport>,
    /// Reasons why numbers may be too low, as sentences.
    pub doubts: Vec<String>,
}

/// The measures of metaspy's own profilers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Receivers, tests and returned values.
    pub coverage: bool,
    /// Times, callers and callees.
    pub calls: bool,
}

/// The report of a profiler at the end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    /// The profiler.
    pub profile: String,
    /// The program.
    pub program: String,
    /// The process.
    pub pid: u32,
    /// The text of the report.
    pub text: String,
}

impl Run {
    /// True if every number is exact.
    pub fn is_exact(&self) -> bool {
        self.doubts.is_empty() && self.program.exact
    }
}
