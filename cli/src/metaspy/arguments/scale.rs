//! Arguments of the commands that `metaspy-scale` has, and of those whose feature is off.

use std::ffi::OsString;

use clap::Args;

/// Arguments that are passed on.
#[derive(Args, Debug)]
pub struct Scale {
    /// The arguments of the command; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}
