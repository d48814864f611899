//! The arguments of `metaspy grammar`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use metaspy_report::text::{parse_number, parse_size};

use crate::options::{FailUnderOption, JsonOption, TopOption};
use crate::outputs::{OutputPath, document, recording};

/// Steps of the parser for an input at most, if `--steps` does not set them.
const STEPS: &str = "100M";

/// `metaspy grammar`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Grammar {
    /// What test runs recorded
    #[command(subcommand)]
    pub merged: Option<Merged>,
    /// The grammar, in the language of pest
    #[arg(value_name = "FILE.pest", required = true)]
    pub grammar: Option<PathBuf>,
    /// The rule that an input is parsed by
    #[arg(long, value_name = "RULE", required = true)]
    pub rule: Option<String>,
    /// Inputs: files, directories with all that is in them, or `-` for the lines of standard input
    /// [default: `-`]
    #[arg(value_name = "CORPUS")]
    pub corpus: Vec<PathBuf>,
    /// A further file of the grammar
    #[arg(long, value_name = "FILE.pest")]
    pub with: Vec<PathBuf>,
    /// Only such files of directories: '*.toml', 'valid/**'
    #[arg(long, value_name = "GLOB")]
    pub glob: Vec<String>,
    /// Takes the time of each production
    #[arg(long)]
    pub timed: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// Writes the coverage into this file, for editors and coverage services
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub lcov: Option<OutputPath>,
    /// The least coverage
    #[command(flatten)]
    pub least: FailUnderOption,
    /// Compares with what --json wrote earlier; ends with 1 if a production that matched there
    /// matches no more, or an input that was accepted is rejected
    #[arg(long, value_name = "OLD.json")]
    pub baseline: Option<PathBuf>,
    /// Records each activation of a production as an event into this file; `metaspy open` walks the
    /// parses
    #[arg(long, value_name = "FILE", value_parser = recording())]
    pub record: Option<OutputPath>,
    /// Draws the productions as a graph into this page for a browser
    #[arg(long, value_name = "FILE.html", value_parser = document())]
    pub blueprint: Option<OutputPath>,
    /// Steps of the parser for an input at most.
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_steps,
        default_value = STEPS,
        hide_default_value = true,
        help = format!("Stops the parse of an input after so many steps of the parser: {STEPS}"),
    )]
    pub steps: u64,
    /// Stops the parse of an input that nests deeper than this stack allows: 64MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub stack: Option<u64>,
}

/// What is done with recordings of productions.
#[derive(Debug, Subcommand)]
pub enum Merged {
    /// Merges what the processes of a test run recorded of their productions
    #[command(
        before_help = "Example:\n  METASPY_RECORD=live METASPY_DIR=parts METASPY_BUDGET=4000000 cargo test\n  \
        metaspy grammar report parts"
    )]
    Report(GrammarReport),
}

/// `metaspy grammar report`.
#[derive(Debug, Args)]
pub struct GrammarReport {
    /// The directory of the recordings
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The run, where there are several [default: the newest]
    #[arg(long, value_name = "NAME")]
    pub run: Option<String>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// The least coverage
    #[command(flatten)]
    pub least: FailUnderOption,
}

fn parse_steps(text: &str) -> Result<u64, String> {
    match parse_number(text)? {
        0 => Err("a parse takes at least one step".into()),
        steps => Ok(steps),
    }
}
