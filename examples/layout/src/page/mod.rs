//! The page: an HTML document, read within limits and made into a tree of boxes.

mod boxes;
mod defaults;
mod dom;
mod limits;
mod sink;
mod style;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use limits::{Limits, PageError};

use crate::tree::Scene;
use dom::Dom;

/// A parsed page.
#[derive(Debug)]
pub struct Page {
    name: String,
    dom: Dom,
}

impl Page {
    /// The page that the story ships with: The Rust Unstable Book, all chapters on one page (see
    /// `pages/SOURCE.md`).
    pub fn shipped() -> Page {
        let html = include_bytes!("../../pages/unstable-book.html");
        Page::parse("The Rust Unstable Book", html, Limits::default())
            .expect("the shipped page is within the limits")
    }

    /// Reads the page in the file at `path`.
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Page, PageError> {
        let path = path.as_ref();
        let unreadable = |error| PageError::Unreadable { path: path.to_owned(), error };
        let file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        if bytes > limits.bytes {
            return Err(PageError::TooLarge { bytes, limit: limits.bytes });
        }
        // A pipe or a growing file may contain more than its size.
        let mut html = Vec::new();
        file.take(limits.bytes + 1).read_to_end(&mut html).map_err(unreadable)?;
        Page::parse(&path.display().to_string(), &html, limits)
    }

    /// Reads a page from memory. The name is for people only.
    pub fn parse(name: &str, html: &[u8], limits: Limits) -> Result<Page, PageError> {
        limits.check_bytes(html)?;
        let dom = sink::parse(html, limits)?;
        if dom.is_bare() && !limits::declares_html(html) {
            return Err(PageError::NotHtml);
        }
        if !boxes::shows_something(&dom) {
            return Err(PageError::Blank);
        }
        Ok(Page { name: name.to_owned(), dom })
    }

    /// Returns the name of the page.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The elements in the page.
    pub fn elements(&self) -> usize {
        self.dom.elements()
    }

    /// A tree of boxes for this page, nothing laid out yet. Every call makes a new one, with nodes
    /// of its own.
    pub fn scene(&self) -> Scene {
        boxes::build(&self.dom)
    }
}

#[cfg(test)]
mod tests;
