//! The arguments of `metaspy sample`.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use metaspy_report::text::parse_size;
use metaspy_sampler::Stacks;
use metaspy_sampler::environment::parse_rate;
use metaspy_sampler::options::Clock;

use super::parse_seconds;
use crate::options::{JsonOption, TopOption};
use crate::outputs::{OutputPath, document};

/// `metaspy sample`.
#[derive(Debug, Args)]
#[command(
    override_usage = "metaspy sample [OPTIONS] -- CMD...\n       metaspy sample [OPTIONS] --pid PROCESS"
)]
pub struct Sample {
    /// The program and its arguments
    #[arg(
        last = true,
        value_name = "CMD",
        required_unless_present = "pid",
        conflicts_with = "pid"
    )]
    pub command: Vec<OsString>,
    /// A process that runs already, until it ends, or until Ctrl-C
    #[arg(long, value_name = "PROCESS")]
    pub pid: Option<u32>,
    /// Stops after this many seconds
    #[arg(long, value_name = "N", conflicts_with = "command", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Samples a second of processor time of each thread: 1 to 10k
    #[arg(long, value_name = "HZ", default_value = "1000", value_parser = parse_rate)]
    pub rate: u32,
    /// Which time is sampled
    #[arg(long, default_value = "cpu", value_parser = parse_clock())]
    pub clock: Clock,
    /// Signals in the program take the samples, not perf; for programs with metaspy's feature
    /// `sample`
    #[arg(long, conflicts_with = "pid")]
    pub timer: bool,
    /// How callers are found
    #[arg(long, default_value = "dwarf", value_parser = parse_stacks())]
    pub stacks: Stacks,
    /// Bytes of each stack that are copied: up to 64k [default: 16k, or 8k where the system gives
    /// little room]
    #[arg(long, value_name = "SIZE", value_parser = parse_stack_size)]
    pub stack_size: Option<u32>,
    /// Shows the last ten seconds, once a second, while the program runs
    #[arg(long, conflicts_with = "json")]
    pub live: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// Shows the callers and the callees of each method
    #[arg(long)]
    pub callers: bool,
    /// Shows each instance of a generic function as a function of its own
    #[arg(long)]
    pub split_generics: bool,
    /// Writes a flame graph: one page for a browser, also by subject if the program records
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub html: Option<OutputPath>,
    /// Writes the stacks for other tools: a line for each stack
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub collapsed: Option<OutputPath>,
    /// Writes the samples for speedscope
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub speedscope: Option<OutputPath>,
    /// Writes the samples for the Firefox Profiler
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub firefox: Option<OutputPath>,
    /// Writes the stacks for pprof, with labels for threads and recorded events
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub pprof: Option<OutputPath>,
    /// JSON; the program then writes to standard error
    #[command(flatten)]
    pub json: JsonOption,
}

fn parse_clock() -> impl TypedValueParser<Value = Clock> {
    let values = Clock::ALL.map(|clock| PossibleValue::new(clock.name()).help(clock.description()));
    let find = |name: String| Clock::ALL.into_iter().find(|clock| clock.name() == name);
    PossibleValuesParser::new(values)
        .map(move |name| find(name).expect("the parser accepts only these names"))
}

fn parse_stacks() -> impl TypedValueParser<Value = Stacks> {
    let values =
        Stacks::ALL.map(|stacks| PossibleValue::new(stacks.name()).help(stacks.description()));
    let find = |name: String| Stacks::ALL.into_iter().find(|stacks| stacks.name() == name);
    PossibleValuesParser::new(values)
        .map(move |name| find(name).expect("the parser accepts only these names"))
}

/// A multiple of 8 that fits into a record of the kernel beside the rest of a sample.
fn parse_stack_size(text: &str) -> Result<u32, String> {
    match parse_size(text)? {
        bytes @ 1024..=0x1_0000 => Ok((bytes as u32).min(0xF000).next_multiple_of(8)),
        _ => Err("write a size from 1k to 64k; --stacks none copies nothing".into()),
    }
}
