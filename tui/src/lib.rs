#![forbid(unsafe_code)]
//! The event crawler, and the `metaspy` command.

pub mod cli;
pub mod commands;
pub mod crawler;
pub mod demo;
pub mod exit;
pub mod grammar;
pub mod live;
pub mod report;
mod source;
pub mod text;
pub mod verify;
