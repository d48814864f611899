#![forbid(unsafe_code)]
//! The event crawler: a terminal browser of a recording.
//!
//! [`crawler::run`] shows a [`Crawler`](crawler::Crawler), which is made from an open recording.
//! The command `metaspy` starts it for `open`, `attach` and `demo`.
//!
//! ```no_run
//! use metaspy_reader::Store;
//! use metaspy_tui::crawler::{self, Crawler};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::open("run.spy".as_ref())?;
//! crawler::run(Crawler::new(store, "run.spy", (80, 24)))?;
//! # Ok(())
//! # }
//! ```
//!
//! A program opens it on its own profile with [`crawl`], while it runs or at its end:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let profiler = metaspy_core::Profiler::new("layout").install()?;
//! // … the program works …
//! let profile = profiler.uninstall();
//! metaspy_tui::crawl(profile.store(), &profile.view().name)?;
//! # Ok(())
//! # }
//! ```
//!
//! A program with its own screen draws single [panels](Panel) of it: the events, the selected
//! event, its causes, its effects, and the tables of subjects and sites.

pub mod crawler;

pub use crawler::{Panel, Panels, crawl};
