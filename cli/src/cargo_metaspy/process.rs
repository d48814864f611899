//! The process of cargo.

use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::cargo_metaspy::cargo::NO_CARGO;

/// Waits for the end of cargo. Ctrl-C ends the program, and this command reports the run until
/// then.
pub(crate) fn to_end(cargo: &mut Command) -> Result<ExitStatus> {
    // Programs do not inherit a handler. They would inherit that the signal is ignored.
    flag::register(SIGINT, Arc::new(AtomicBool::new(false))).context("cannot handle Ctrl-C")?;
    cargo.status().context(NO_CARGO)
}
