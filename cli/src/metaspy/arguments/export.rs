//! The arguments of `metaspy export`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use metaspy_report::export::Format;

use crate::outputs::{OutputPath, recording};

/// `metaspy export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for
    /// what comes on standard input, to its end; several are read as one
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// The format
    #[arg(long, alias = "format", value_parser = parse_format())]
    pub to: Format,
    /// Only events that pass: 'site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Writes into this file [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = recording())]
    pub output: Option<OutputPath>,
}

fn parse_format() -> impl TypedValueParser<Value = Format> {
    let values =
        Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.description()));
    PossibleValuesParser::new(values)
        .map(|name| Format::from_name(&name).expect("the parser accepts only these names"))
}
