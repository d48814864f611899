//! The option `--filter`.

use anyhow::Result;
use metaspy_core::Store;
use metaspy_reader::{Filter, FilterError};

use crate::exit::{complain, say};

/// Parses the option, before a recording is opened. Without it, every event passes.
pub fn parse(text: Option<&str>) -> Result<Filter> {
    match text {
        Some(text) => text.parse().map_err(|error| say(format!("--filter: {error}"))),
        None => Ok(Filter::all()),
    }
}

/// Fails if a selector matches no site. An unknown kind is only reported: kinds are known when a
/// subject of theirs is met, and sites before the program begins.
pub fn check(filter: &Filter, store: &Store) -> Result<()> {
    match filter.check(store) {
        Err(error @ FilterError::NoSuchKind { .. }) => {
            complain("metaspy", &format!("--filter: {error}"))
        }
        checked => checked.map_err(|error| say(format!("--filter: {error}")))?,
    }
    Ok(())
}
