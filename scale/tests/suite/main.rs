//! The commands of `metaspy-scale` on recordings of a small domain.

#[cfg(feature = "cluster")]
mod cluster;
mod consistency;
mod engines;
mod findings;
mod fixture;
mod killed;
mod live;
mod otlp;
mod query;
#[allow(dead_code, reason = "the tests of the commands use the rest")]
#[path = "../../../cli/tests/consistency/reference.rs"]
mod reference;
mod refusals;
mod restore;
mod seal;
mod serve;
mod services;
mod ship;
mod soak;
mod unreliable;
