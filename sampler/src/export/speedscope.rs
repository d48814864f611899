//! Export for speedscope (<https://www.speedscope.app>): a sampled profile for each thread.

use std::collections::BTreeMap;
use std::io::{self, Write};

use metaspy_report::export::speedscope::{self, Document, Frame};
use metaspy_report::export::{Exporter, Speedscope, Written};

use crate::export::thread_name;
use crate::profile::Profile;

impl Exporter<Profile> for Speedscope {
    /// Writes the samples in the order of time.
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        let mut threads: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
        for sample in &profile.run.samples.samples {
            let mut stack: Vec<u32> = profile.methods_of(sample.stack).collect();
            stack.reverse();
            threads.entry(sample.thread).or_default().push(stack);
        }
        let period_ns = profile.sample_ns;
        let thread = |(number, samples): (u32, Vec<Vec<u32>>)| {
            let weights = vec![period_ns; samples.len()];
            speedscope::Profile::new(thread_name(profile, number), "nanoseconds", samples, weights)
        };
        let functions = profile.symbols.functions.iter();
        let frames = functions
            .map(|of| Frame { name: &of.name, file: of.file.as_deref(), line: None })
            .collect();
        let name = profile.run.target.join(" ");
        Document::new(&name, frames, threads.into_iter().map(thread).collect()).write(out)?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}
