//! The command `metaspy-scale`, which `metaspy query` starts.

use std::process::ExitCode;

use metaspy_core::environment::UNASKED;
use metaspy_core::site::linkme;

/// Name of this program, which does not record itself: `METASPY_RECORD` in the environment is for
/// other programs.
#[linkme::distributed_slice(UNASKED)]
#[linkme(crate = linkme)]
static NOT_THIS: &str = env!("CARGO_BIN_NAME");

fn main() -> ExitCode {
    metaspy_scale::command::run()
}
