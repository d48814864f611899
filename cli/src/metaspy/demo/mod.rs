//! `metaspy demo`: the layout story, in a process of its own and live in the crawler; or recorded without a screen.
//!
//! The story is the only domain in the command. Without the feature `demo` its place is empty.

#[cfg(feature = "demo")]
mod child;
#[cfg(feature = "demo")]
mod live;
#[cfg(feature = "demo")]
mod record;
#[cfg(feature = "demo")]
mod story;

#[cfg(feature = "demo")]
pub use {live::show, record::record, story::attended};

#[cfg(not(feature = "demo"))]
mod absent {
    //! The demo without its feature: every command is an error that names it.

    use std::io::Write;
    use std::path::Path;

    use anyhow::Result;

    use crate::exit::{Ended, say};
    use crate::metaspy::arguments::Limits;

    const WHY: &str = "this metaspy was built without the feature `demo`; `cargo install metaspy-cli` has it";

    /// There is no story to show.
    pub fn show(_page: Option<&Path>) -> Result<Ended> {
        Err(say(WHY))
    }

    /// There is no story to record.
    pub fn record(_page: Option<&Path>, _file: &Path, _limits: &Limits, _out: &mut impl Write) -> Result<Ended> {
        Err(say(WHY))
    }

    /// There is no story to run.
    pub fn attended(_page: Option<&Path>) -> Result<Ended> {
        Err(say(WHY))
    }
}

#[cfg(not(feature = "demo"))]
pub use absent::{attended, record, show};
