//! `metaspy mcp` as clients meet it: a process, and messages over its standard input and output.

mod client;
mod counted;
#[path = "../../../tui/tests/fixture/mod.rs"]
mod fixture;
mod installed;
mod lost_values;
#[path = "../fixture/market.rs"]
mod market;
mod outcomes;
#[cfg(target_os = "linux")]
mod programs;
mod protocol;
mod python;
mod questions;
mod recordings;
mod schema;
mod sources;
mod tools;
