//! Recordings as tables, on engines that exist.
//!
//! `metaspy query` runs SQL on recordings in place, with DataFusion. `metaspy seal` writes them as
//! Parquet, and `metaspy restore` makes recordings of the Parquet files again. `metaspy ship` seals
//! them as they end. `metaspy serve` serves them over HTTP. `metaspy otlp` sends them to
//! OpenTelemetry.
//!
//! The package is a workspace of its own, and `metaspy query` starts its program. It is not a
//! feature of `cli`, because the engines take long to build, and the crawler does not need them.
//! Its checks run if its sources or the recording's format changed.

#![forbid(unsafe_code)]

pub mod recordings;

pub mod roots;

pub mod borders;

pub mod crossings;

pub mod panics;

pub mod threads;

pub mod stdout;

pub mod interrupt;

pub mod tables;

pub mod functions;

pub mod query;

pub mod seal;

pub mod restore;

pub mod ship;

pub mod metrics;

pub mod serve;

pub mod otlp;

#[cfg(feature = "cluster")]
pub mod cluster;

pub mod arguments;

pub mod command;
