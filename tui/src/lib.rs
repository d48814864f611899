#![forbid(unsafe_code)]
//! The event crawler, and the `metaspy` command.

pub mod cli;
pub mod commands;
pub mod crawler;
pub mod demo;
pub mod exit;
#[cfg(feature = "grammar")]
pub mod grammar;
#[cfg(not(feature = "grammar"))]
#[path = "grammar/absent.rs"]
pub mod grammar;
pub mod live;
pub mod report;
mod source;
pub mod stream;
pub mod structure;
pub mod text;
pub mod verify;
