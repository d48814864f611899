//! `metaspy grammar`: which productions of a grammar a set of inputs exercises, and why the others never matched.
//!
//! The second front end that knows a domain, after `demo`: it drives the parser itself, as there is no program to record.

mod baseline;
mod command;
mod corpus;
mod exercise;
mod findings;
mod lcov;
mod left_out;
mod merged;
mod page;
mod people;
mod progress;
mod report;
mod runs;
mod table;
mod verdict;

pub use command::run;
