#![forbid(unsafe_code)]
//! The server of metaspy for coding agents: recordings, findings and causes over the Model Context
//! Protocol.
//!
//! Each tool is one view of the report or one question about events, so an agent gets the numbers
//! that a person sees, and the command that shows them. The modules, in the order of a call:
//!
//! - `server`: the protocol. A call runs on a thread of its own, with `watch` for progress and
//!   cancellation.
//! - `tools`: one file for each group of tools; `arguments` parses the arguments that they share.
//! - `session`: the state that the tools share.
//! - `library`: the recordings that may be read, and those that are open.
//! - `child`: programs that run for a call.
//! - `answer`: structured content and text that fit into a size, with a cursor for the rest.
//! - `shell`: commands for people, and patterns of commands that may run.
//! - [`install`]: entries in the files of clients.
//!
//! Names of a recording are data. They pass one function that removes control characters, and stand
//! in JSON strings, also in the text of an answer. The instructions of the server say so.

mod answer;
mod arguments;
mod child;
pub mod install;
mod library;
mod prompt;
mod server;
mod session;
mod shell;
mod tools;
mod watch;

pub use server::{Options, serve};
pub use shell::Pattern;
