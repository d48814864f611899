//! `metaspy grammar`: which productions of a grammar a set of inputs exercises, and why the others
//! never matched.
//!
//! It runs the parser itself, and records no program, because a grammar alone is no program. Front
//! ends and instrumenters share only recordings; `demo` and `grammar` are the two exceptions, each
//! behind a feature.

mod command;
mod convert;
mod corpus;
mod merged;
mod output;
mod run;
mod runs;

use std::io::Write;

use anyhow::Result;

use crate::exit::Ended;
use crate::metaspy::arguments;

/// Runs the inputs through the grammar, or merges the recordings of a test run.
pub fn run(options: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    match &options.merged {
        Some(arguments::Merged::Report(options)) => merged::run(options, out),
        None => command::run(options, out),
    }
}
