//! The arguments of `metaspy import`.

use std::path::PathBuf;

use clap::Args;
use metaspy_report::text::parse_duration_ns;

use crate::outputs::{OutputPath, recording};

/// `metaspy import`.
#[derive(Debug, Args)]
pub struct Import {
    /// A profile: collapsed stacks, the text of `perf script`, pprof, the Firefox Profiler's JSON
    /// or callgrind's output, compressed by gzip or not
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Writes this recording
    #[arg(short, long, value_name = "FILE.spy", value_parser = recording())]
    pub output: OutputPath,
    /// The time of a sample in collapsed stacks, which do not state it: 1ms at 1,000 Hz, 1ns if
    /// their numbers are nanoseconds
    #[arg(long, value_name = "DURATION", value_parser = period)]
    pub period: Option<u64>,
}

/// Parses a duration that is not 0, in nanoseconds.
fn period(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text)? {
        0 => Err("a sample has a time: 1ms at 1,000 Hz".to_owned()),
        ns => Ok(ns),
    }
}
