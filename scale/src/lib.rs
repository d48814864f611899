//! Recordings as tables, on engines that exist.
//!
//! `metaspy query` runs SQL on recordings in place, with DataFusion. `metaspy seal` writes them as Parquet,
//! and `metaspy restore` makes recordings of that again. `metaspy ship` seals them as they end. `metaspy serve` has them over HTTP.
//! `metaspy otlp` sends them to OpenTelemetry.

#![forbid(unsafe_code)]

pub mod recordings;

pub mod roots;

pub mod panics;

pub mod threads;

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
