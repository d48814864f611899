#![forbid(unsafe_code)]
//! The `metaspy` command.

use std::process::ExitCode;

use metaspy_cli::metaspy::{self, arguments::Cli};
use metaspy_cli::{exit, outputs};
use metaspy_core::environment::UNASKED;
use metaspy_core::site::linkme;

/// `METASPY_RECORD` in the environment is for other programs.
#[linkme::distributed_slice(UNASKED)]
#[linkme(crate = linkme)]
static NOT_THIS: &str = env!("CARGO_BIN_NAME");

fn main() -> ExitCode {
    let (parsed, outputs) = match outputs::parse::<Cli>(std::env::args_os().collect()) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    match outputs.check().and_then(|()| metaspy::run(parsed)) {
        Ok(ended) => ended.into(),
        // The reader of the output has read enough.
        Err(error) if exit::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            exit::complain("metaspy", &format!("{error:#}"));
            ExitCode::from(exit::UNUSABLE)
        }
    }
}
