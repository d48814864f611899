//! The arguments of `metaspy findings`.

use std::path::PathBuf;

use clap::Args;
use metaspy_core::Selector;

use crate::options::JsonOption;
use crate::outputs::{OutputPath, document};

/// `metaspy findings`.
#[derive(Debug, Args)]
pub struct Findings {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for
    /// what comes on standard input, to its end; several are read as one
    #[arg(required_unless_present = "explain", value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// Looks for this kind only; any number of times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Explains a kind: what it states, why it matters, what to do, when it is wrong, and what to
    /// record
    #[arg(long, value_name = "KIND", conflicts_with_all = ["sources", "kind", "fail_on", "sarif", "json"])]
    pub explain: Option<String>,
    /// Also lists what costs less than 1 % of the time and of the events
    #[arg(long)]
    pub all: bool,
    /// The sites whose events are units of work, such as a frame or a request [default: the
    /// outermost causes that occur at least twenty times]
    #[arg(long, value_name = "SELECTOR")]
    pub unit: Option<Selector>,
    /// Ends with 1 if findings of a kind cost more, as in 'repeated > 5 %' or 'any', and with 2 if
    /// the recording cannot show them; any number of times
    #[arg(long, value_name = "KIND[ > N %]")]
    pub fail_on: Vec<String>,
    /// Lists and checks only findings that this file lacks, which --json=FILE wrote earlier
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Writes SARIF 2.1.0, which GitHub, GitLab and editors show at the lines
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub sarif: Option<OutputPath>,
    /// Reads thresholds, accepted findings and own kinds from this file [default: metaspy.toml here
    /// or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// JSON, with all findings
    #[command(flatten)]
    pub json: JsonOption,
}
