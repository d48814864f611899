//! `metaspy grammar`: which productions of a grammar a set of inputs exercises, and why the others never matched.
//!
//! The second front end that knows a domain, after `demo`: it drives the parser itself, as there is no program to record.
//! Without the feature `grammar` its place is empty.

#[cfg(feature = "grammar")]
mod baseline;
#[cfg(feature = "grammar")]
mod command;
#[cfg(feature = "grammar")]
mod corpus;
#[cfg(feature = "grammar")]
mod exercise;
#[cfg(feature = "grammar")]
mod findings;
#[cfg(feature = "grammar")]
mod lcov;
#[cfg(feature = "grammar")]
mod left_out;
#[cfg(feature = "grammar")]
mod merged;
#[cfg(feature = "grammar")]
mod page;
#[cfg(feature = "grammar")]
mod people;
#[cfg(feature = "grammar")]
mod progress;
#[cfg(feature = "grammar")]
mod report;
#[cfg(feature = "grammar")]
mod table;
#[cfg(feature = "grammar")]
mod verdict;

#[cfg(feature = "grammar")]
pub use command::run;

#[cfg(not(feature = "grammar"))]
mod absent {
    use std::io::Write;

    use anyhow::Result;

    use crate::cli;
    use crate::exit::{Ended, say};

    /// There is no parser to run.
    pub fn run(_asked: &cli::Grammar, _out: &mut impl Write) -> Result<Ended> {
        Err(say("this metaspy was built without the feature `grammar`; `cargo install metaspy-tui` has it"))
    }
}

#[cfg(not(feature = "grammar"))]
pub use absent::run;
