//! `cargo metaspy completions`: completions for a shell, of `cargo-metaspy` and of `cargo metaspy`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cargo_metaspy::arguments::Cli;

/// The name of the program. The completions of cargo for zsh look for a function `_cargo-metaspy` by themselves.
const PROGRAM: &str = "cargo-metaspy";

/// Writes them.
pub fn print(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = Cli::command().name(PROGRAM).bin_name(PROGRAM);
    clap_complete::generate(shell, &mut command, PROGRAM, &mut script);
    script.extend_from_slice(match shell {
        Shell::Bash => include_bytes!("completions/bash"),
        Shell::Fish => include_bytes!("completions/fish"),
        _ => b"",
    });
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
