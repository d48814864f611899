//! The story, live in the crawler.

use std::path::Path;

use anyhow::Result;
use metaspy_tui::crawler::{self, Crawler};

use super::child::StoryProcess;
use super::{guide, story};
use crate::exit::Ended;

/// Starts the story in a process of its own and crawls it until the reader quits.
pub fn show(page: Option<&Path>) -> Result<Ended> {
    // Errors in the page are reported here, and not by a process that ends at once.
    story::open(page)?;
    let mut process = StoryProcess::start(page)?;
    let store = process.recording()?;
    let mut crawler = Crawler::new(store, "demo", (80, 24));
    // The finding is one of the shipped page.
    if page.is_none() {
        crawler.guide(guide::cards());
    }
    crawler::run(crawler)?;
    drop(process);
    Ok(Ended::Fine)
}
