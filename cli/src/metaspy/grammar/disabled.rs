//! `metaspy grammar` of a command that was built without it.

use std::io::Write;

use anyhow::Result;

use crate::exit::{Ended, say};
use crate::metaspy::arguments;

/// There is no parser to run.
pub fn run(_asked: &arguments::Grammar, _out: &mut impl Write) -> Result<Ended> {
    Err(say("this metaspy was built without the feature `grammar`; `cargo install metaspy-cli` has it"))
}
