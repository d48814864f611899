//! The arguments of `metaspy instructions`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::options::JsonOption;

/// `metaspy instructions`.
#[derive(Debug, Args)]
pub struct Instructions {
    /// A recording, or a directory of them, whose processes have ended
    #[arg(value_name = "FILE")]
    pub recording: PathBuf,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// What to run: the recorded program, or the cargo command that runs it
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
