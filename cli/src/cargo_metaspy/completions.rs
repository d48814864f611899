//! `cargo metaspy completions`: completions for a shell, of `cargo-metaspy` and of `cargo metaspy`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cargo_metaspy::arguments::Cli;

/// The name of the program. The completions of cargo for zsh look for a function `_cargo-metaspy`
/// by themselves.
const PROGRAM: &str = "cargo-metaspy";
/// Its name in the functions for bash: with a `-` in it, clap_complete gives its commands two
/// different names.
const IN_BASH: &str = "cargo_metaspy";

/// Writes them.
pub fn print(shell: Shell) -> Result<ExitCode> {
    let (name, of_cargo) = match shell {
        Shell::Bash => (IN_BASH, include_str!("completions/bash")),
        Shell::Fish => (PROGRAM, include_str!("completions/fish")),
        _ => (PROGRAM, ""),
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command().name(name), name, &mut script);
    script.extend_from_slice(of_cargo.as_bytes());
    let mut out = io::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
