//! The story, live in the crawler.

use std::path::Path;

use anyhow::Result;
use metaspy_tui::crawler::{self, Crawler};

use super::child::Telling;
use super::story;
use crate::exit::Ended;

/// Starts the story in a process of its own and crawls it until the reader quits.
pub fn show(page: Option<&Path>) -> Result<Ended> {
    // What is wrong with the page is better said here than by a process that ends at once.
    story::open(page)?;
    let mut telling = Telling::start(page)?;
    let store = telling.recording()?;
    crawler::run(Crawler::new(store, "demo", (80, 24)))?;
    drop(telling);
    Ok(Ended::Fine)
}
