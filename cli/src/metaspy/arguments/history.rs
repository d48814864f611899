//! The arguments of `metaspy history`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::outputs::{OutputPath, document};

/// `metaspy history`.
#[derive(Debug, Subcommand)]
pub enum History {
    /// Builds and records each revision in a worktree of its own
    #[command(
        before_help = "Examples:\n  metaspy history run HEAD~5..HEAD -- cargo metaspy run --release --weave 'taffy::**'\n  \
        metaspy history run v1.0..v2.0 --runs 5 --html history.html -- cargo bench --bench layout",
        after_help = "The command runs in the worktree of each revision, with METASPY_RECORD and METASPY_PROFILE=calls."
    )]
    Run(HistoryRun),
}

/// `metaspy history run`.
#[derive(Debug, Args)]
pub struct HistoryRun {
    /// The revisions: the first one, and all from there to the last
    #[arg(value_name = "REV..REV")]
    pub revisions: String,
    /// Runs of each revision, in turns
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Counts the instructions of each method, too, in one more run of each under valgrind: what
    /// changed is compared by these
    #[arg(long)]
    pub instructions: bool,
    /// Where recordings and worktrees are kept; what is there is not recorded again
    #[arg(long, value_name = "DIRECTORY", default_value = "target/metaspy/history")]
    pub dir: PathBuf,
    /// Draws what changed from revision to revision
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub html: Option<OutputPath>,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
