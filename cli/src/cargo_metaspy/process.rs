//! Cargo, as long as it runs.

use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::cargo_metaspy::cargo::NO_CARGO;

/// Runs it to its end. Ctrl-C is meant for the program: this command outlives it, and tells what it did until then.
pub fn to_end(cargo: &mut Command) -> Result<ExitStatus> {
    // Programs that are started do not inherit it, as they would if the signal were ignored.
    flag::register(SIGINT, Arc::new(AtomicBool::new(false))).context("Ctrl-C cannot be waited for")?;
    cargo.status().context(NO_CARGO)
}
