//! Export for speedscope (<https://www.speedscope.app>): a sampled profile for each thread.

use std::collections::BTreeMap;
use std::io::{self, Write};

use metaspy_report::export::{Exporter, Speedscope, Written};
use serde::Serialize;

use crate::export::thread_name;
use crate::profile::Profile;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    shared: Shared<'a>,
    profiles: Vec<Thread>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<FrameOut<'a>>,
}

#[derive(Serialize)]
struct FrameOut<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
}

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
        let thread = |(number, samples): (u32, Vec<Vec<u32>>)| Thread {
            r#type: "sampled",
            name: thread_name(profile, number),
            unit: "nanoseconds",
            start_value: 0,
            end_value: samples.len() as u64 * period_ns,
            weights: vec![period_ns; samples.len()],
            samples,
        };
        let frames = profile.symbols.functions.iter();
        let document = Document {
            schema: "https://www.speedscope.app/file-format-schema.json",
            exporter: concat!("metaspy ", env!("CARGO_PKG_VERSION")),
            name: profile.run.target.join(" "),
            shared: Shared { frames: frames.map(|of| FrameOut { name: &of.name, file: of.file.as_deref() }).collect() },
            profiles: threads.into_iter().map(thread).collect(),
        };
        serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}
