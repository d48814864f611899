#![forbid(unsafe_code)]
//! The event crawler: a terminal browser of a recording.
//!
//! [`crawler::run`] shows a [`Crawler`](crawler::Crawler), which is made from an open recording. The command
//! `metaspy` starts it for `open`, `attach` and `demo`.
//!
//! ```no_run
//! use metaspy_core::Store;
//! use metaspy_tui::crawler::{self, Crawler};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::open("run.spy".as_ref())?;
//! crawler::run(Crawler::new(store, "run.spy", (80, 24)))?;
//! # Ok(())
//! # }
//! ```

pub mod crawler;
