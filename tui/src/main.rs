#![forbid(unsafe_code)]
//! The `metaspy` command.

use std::process::ExitCode;

use clap::Parser;
use metaspy_tui::{cli::Cli, commands, exit};

fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(ended) => ended.into(),
        // Whoever reads the other end has seen enough.
        Err(error) if exit::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("metaspy: {error:#}");
            ExitCode::from(exit::UNUSABLE)
        }
    }
}
