//! The arguments of `metaspy findings`.

use std::path::PathBuf;

use clap::Args;
use metaspy_core::Selector;

use crate::options::JsonOption;

/// `metaspy findings`.
#[derive(Debug, Args)]
pub struct Findings {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for what comes on standard
    /// input, to its end; several are read as one
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// Looks for this kind only; any number of times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Also lists what costs less than 1 % of the time and of the events
    #[arg(long)]
    pub all: bool,
    /// The sites whose events are units of work, such as a frame or a request [default: the outermost causes that occur
    /// at least twenty times]
    #[arg(long, value_name = "SELECTOR")]
    pub unit: Option<Selector>,
    /// JSON, with all findings
    #[command(flatten)]
    pub json: JsonOption,
}
