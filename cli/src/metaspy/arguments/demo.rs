//! The arguments of `metaspy demo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use metaspy_core::recording::BUDGETS;
use metaspy_report::text::{parse_number, parse_size};

use super::parse_seconds;
use crate::outputs::{OutputPath, recording};

/// `metaspy demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// The page to lay out; by default one that is shipped
    pub page: Option<PathBuf>,
    /// Records into this file without a screen, and prints a summary
    #[arg(long, value_name = "FILE", value_parser = recording())]
    pub record: Option<OutputPath>,
    /// When to stop, and how much to keep
    #[command(flatten)]
    pub limits: Limits,
}

/// When a recording ends, and how much it keeps.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// With --record: stops after this many seconds [default: 5]
    #[arg(long, value_name = "N", requires = "record", conflicts_with = "events", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// With --record: stops after the frame that reaches this many events: 10M, 500k. The first
    /// frame lays out the whole page
    #[arg(long, value_name = "N", requires = "record", value_parser = parse_number)]
    pub events: Option<u64>,
    /// What happens when the budget is spent
    #[arg(long, value_enum, requires = "record", default_value = "newest")]
    pub policy: Policy,
    /// How much the recording may take: 1MiB to 1TiB [default: 256MiB; 64GiB with --policy grow]. A
    /// file takes an eighth of it at once, at most 40 MB and with --policy grow 60 MB, for tables
    /// that must never lack room; a short recording gives it back at the end
    #[arg(long, value_name = "SIZE", requires = "record", value_parser = parse_budget)]
    pub budget: Option<u64>,
}

/// What happens when the budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// The oldest events are folded into the tallies
    Newest,
    /// No more events are stored; calls are still counted, and the recording is marked
    Oldest,
    /// The file grows as far as the budget goes; then as with `oldest`
    Grow,
}

fn parse_budget(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    if BUDGETS.contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("a recording takes 1MiB to 1TiB, and this is {bytes} bytes"))
    }
}
