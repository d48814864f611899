//! `metaspy grammar`: which productions of a grammar a set of inputs exercises, and why the others never matched.
//!
//! It runs the parser itself, because there is no program to record. With `demo` it is one of the two subcommands that
//! contain a domain.

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

/// Runs the inputs through the grammar, or merges what the recordings of a test run contain.
pub fn run(options: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    match &options.merged {
        Some(arguments::Merged::Report(options)) => merged::run(options, out),
        None => command::run(options, out),
    }
}
