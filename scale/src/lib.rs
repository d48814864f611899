//! Recordings as tables, on engines that exist.
//!
//! `metaspy query` runs SQL on recordings in place, with DataFusion. `metaspy seal` writes them as Parquet.
//! `metaspy ship` does so as they end.

#![forbid(unsafe_code)]

pub mod recordings;

pub mod roots;

pub mod tables;

pub mod functions;

pub mod query;

pub mod seal;

pub mod ship;

pub mod arguments;

pub mod command;
