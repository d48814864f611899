//! `metaspy grammar`: which productions of a grammar a set of inputs exercises, and why the others never matched.
//!
//! It runs the parser itself, because there is no program to record. With `demo` it is one of the two subcommands that
//! contain a domain.

mod command;
mod convert;
mod corpus;
mod merged;
mod run;
mod runs;

pub use command::run;
