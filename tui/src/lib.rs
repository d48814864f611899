#![forbid(unsafe_code)]
//! The event crawler: a terminal browser of a recording.
//!
//! [`crawler::run`] shows a [`Crawler`](crawler::state::Crawler), which is made from an open recording. The command
//! `metaspy` starts it for `open`, `attach` and `demo`.

pub mod crawler;
